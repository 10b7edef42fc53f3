"""What settings of a plan say of themselves."""

import pytest

from comitia import CommitteeClassifier, ECCClassifier, EMODTClassifier, _titles
from comitia.experiments import EnsembleSetting, LossSetting
from comitia.experiments._losses import read_loss
from comitia.losses import CustomLoss, FLoss, Hamming
from tests.experiments.own_code import urgent


@pytest.mark.parametrize(
    ("setting", "members"),
    [
        (EnsembleSetting("emodt", {"n_estimators": 7}), 7),
        (EnsembleSetting("tests.experiments.own_code.Stump"), 1),
        (
            EnsembleSetting(
                "voting",
                {
                    "estimators": [
                        {"kind": "emodt", "name": "trees", "n_estimators": 5},
                        {"class": "tests.experiments.own_code.Stump"},
                    ]
                },
            ),
            6,
        ),
    ],
    ids=["own", "class", "voting"],
)
def test_members_are_those_of_all_voters(setting, members):
    assert setting.n_members == members


def test_only_what_every_fold_has_is_offered():
    """Chains choose in a fit whether they have joint beliefs; rows of some folds would be no mean of all."""
    assert EnsembleSetting("emodt").offers("ctp-joint")
    assert EnsembleSetting("ecc", {"chain_method": "joint"}).offers("ctp-joint")
    assert not EnsembleSetting("ecc").offers("ctp-joint")
    assert EnsembleSetting("ecc").offers("ctp")
    trees, chains = ("trees", EMODTClassifier()), ("chains", ECCClassifier())
    assert EnsembleSetting(name="mine", estimator=CommitteeClassifier(members=[trees])).offers("ctp-joint")
    assert not EnsembleSetting(name="mine", estimator=CommitteeClassifier(members=[trees, chains])).offers("ctp-joint")


def named(loss):
    LossSetting(name="mine", loss=loss).target()
    return _titles.OWN_LOSSES["mine"]


def test_a_loss_of_ones_own_is_written_as_it_can_be_pasted_or_not_at_all():
    assert named(CustomLoss(urgent)) == ("urgent", "from tests.experiments.own_code import urgent", "")
    assert named(urgent) == ("urgent", "from tests.experiments.own_code import urgent", "")
    assert named(CustomLoss(urgent, candidates="all")) == ("", "", "")
    assert named(CustomLoss(lambda truth, labeling: (truth != labeling).mean(axis=1))) == ("", "", "")
    assert named(FLoss(beta=2)) == ("FLoss(beta=2)", "from comitia.losses import FLoss", "f1(beta=2)")
    costs = Hamming(false_negative=(1.0, 3.0))
    assert read_loss(named(costs).option).target() == costs


def test_the_same_loss_has_the_same_name_however_it_is_given():
    assert LossSetting("f1", {"beta": 2}).name == LossSetting(loss=FLoss(beta=2)).name == "f1(beta=2)"
    assert LossSetting(loss=FLoss()).name == "FLoss"
