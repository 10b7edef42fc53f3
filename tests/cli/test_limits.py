"""Limits on answers as options of `comitia train` and `comitia predict`."""

import numpy as np
import pandas as pd
import pytest

from comitia import Constraints, EMODTClassifier
from comitia.model_file import Model
from tests.cli.conftest import comitia

LABELS = ["day, bright", "night", "sea:side", "water"]


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Labels whose names have commas and colons, all of them likely at once."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    for label in LABELS:
        frame[label] = (frame["a"] + rng.normal(size=60) > -0.5).astype(int)
    path = tmp_path_factory.mktemp("data") / "photographs.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fit(photographs, tmp_path_factory):
    def fit(*options):
        path = tmp_path_factory.mktemp("models") / "model.skops"
        given = ("-l", '"day, bright",night,sea:side,water', "--ensemble", "emodt", "-m", 8, *options)
        return comitia("train", photographs, *given, "-o", path), path

    return fit


@pytest.fixture(scope="module")
def trained(fit):
    ended, path = fit()
    assert ended.code == 0, ended.said
    return path


GIVEN = ("--exclusive", '"day, bright",night', "--exclusive", "sea*,night", "--implies", '"sea:side":water')
MEANT = Constraints(exclusive=((0, 1), (1, 2)), implies=((2, 3),))


def forest(photographs, **parameters):
    frame = pd.read_csv(photographs, dtype=str).map(float)  # to the last digit, which pandas 2 does not read by itself
    return EMODTClassifier(8, random_state=0, **parameters).fit(
        frame[["a", "b", "c"]].to_numpy(), frame[LABELS].astype(int)
    ), frame


@pytest.mark.parametrize("loss", ["hamming", "subset01", "f1"])
def test_predictions_keep_groups_and_implications_named_with_commas_and_colons(loss, trained, photographs, tmp_path):
    out = tmp_path / "out.csv"
    ended = comitia("predict", trained, photographs, *GIVEN, "--at-least", 1, "--loss", loss, "-o", out)
    assert ended.code == 0, ended.said
    found = pd.read_csv(out)[LABELS].to_numpy()
    free, frame = forest(photographs)
    free.set_params(loss=loss, constraints=Constraints(1, None, MEANT.exclusive, MEANT.implies))
    assert (found == free.predict(frame[["a", "b", "c"]].to_numpy())).all()
    assert Constraints(1, None, MEANT.exclusive, MEANT.implies).allows(found).all()
    assert not MEANT.allows(free.set_params(constraints=None).predict(frame[["a", "b", "c"]].to_numpy())).all()


def test_limits_of_training_stay_in_the_model_until_others_are_given(fit, photographs, tmp_path):
    ended, path = fit(*GIVEN, "--at-most", 2, "--loss", "f1")
    assert ended.code == 0, ended.said
    kept = Model.open(path).ensemble.constraints
    assert kept.resolved(LABELS) == Constraints(0, 2, MEANT.exclusive, MEANT.implies)
    assert comitia("predict", path, photographs, "-o", tmp_path / "out.csv").code == 0
    assert kept.resolved(LABELS).allows(pd.read_csv(tmp_path / "out.csv")[LABELS].to_numpy()).all()
    assert comitia("predict", path, photographs, "--at-most", 1, "-o", tmp_path / "one.csv").code == 0
    found = pd.read_csv(tmp_path / "one.csv")[LABELS].to_numpy()
    assert found.sum(axis=1).max() == 1
    ended = comitia("predict", path, photographs, "--abstain-rate", 0.1, "-o", tmp_path / "open.csv")
    assert (ended.code, "limits on whole answers" in ended.said) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--exclusive", "nihgt,water"], "--exclusive: unknown label 'nihgt': did you mean 'night'?"),
        (["--exclusive", "night"], "two labels or more"),
        (["--exclusive", ""], "two labels or more"),
        (["--implies", "night:watr"], "--implies: unknown label 'watr': did you mean 'water'?"),
        (["--implies", "sea:side:water"], "expected CHILD:PARENT, a name with a colon in quotes"),
        (["--implies", "night"], "expected CHILD:PARENT"),
        (["--implies", ""], "expected CHILD:PARENT"),
        (["--implies", "night:water", "--implies", "water:night"], "must not lead from a label back to itself"),
        (["--at-least", 4, "--exclusive", "night,water"], "--at-least, --exclusive: the limits contradict each other"),
        (["--at-least", 2, "--at-most", 1], "--at-least, --at-most: the limits contradict each other"),
        (["--abstain-rate", 0.1, "--implies", "night:water"], "give no --implies"),
    ],
)
def test_limits_that_cannot_be_kept_are_refused_by_the_name_of_the_option(
    options, said, trained, photographs, tmp_path
):
    ended = comitia("predict", trained, photographs, *options, "-o", tmp_path / "out.csv")
    assert (ended.code, said in ended.said) == (2, True), ended.said
    assert not (tmp_path / "out.csv").exists()


def test_training_refuses_limits_before_it_fits(fit):
    ended, path = fit("--exclusive", "nihgt,water")
    assert (ended.code, "did you mean 'night'?" in ended.said, path.exists()) == (2, True, False)
