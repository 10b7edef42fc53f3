"""A plan can name the base learner of EBR and ECC, and have its parameters chosen."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression

from comitia import EBRClassifier, EMODTClassifier, FLoss, Marginals, SubsetZeroOne, votes
from comitia.datasets import make_joint
from comitia.experiments._cell import compute_cell
from comitia.experiments._choose import choose
from comitia.experiments._plan import EnsembleSetting, PlanError
from comitia.experiments._plan_file import paper_plans, parse_plan, read_plan, write_plan
from comitia.experiments._run import run_plan
from comitia.experiments._store import Store
from comitia.learners import _device, _logistic
from comitia.learners._device import Device
from tests.experiments.conftest import small_plan

PLAN = """
name = "learners"
datasets = ["seven-segment"]
[[ensembles]]
kind = "ebr"
estimator = { C = 0.5, fit_intercept = false }
"""


def test_a_table_stands_for_a_logistic_regression_and_survives_writing():
    plan = parse_plan(PLAN)
    for read in (plan, parse_plan(write_plan(plan))):
        estimator = read.ensembles[0].build().estimator
        assert isinstance(estimator, LogisticRegression)
        assert (estimator.C, estimator.fit_intercept) == (0.5, False)


def test_an_unknown_parameter_of_the_learner_is_refused():
    with pytest.raises(PlanError, match="'c'"):
        parse_plan(PLAN.replace("C = 0.5", "c = 0.5"))


@pytest.mark.parametrize("members", ["0", "-3", "2.5", '"5"'])
def test_an_ensemble_without_members_is_refused(members):
    with pytest.raises(PlanError, match=r"n_estimators of 'ebr' must be a positive number"):
        parse_plan(PLAN + f"n_estimators = {members}\n")


def test_the_papers_plans_ship_and_name_fifty_and_a_hundred_members():
    plans = {name: read_plan(name) for name in paper_plans()}
    members = {name: {setting.n_members for setting in plan.ensembles} for name, plan in plans.items()}
    assert members == {"table2": {50}, "figure2": {100}}


CHOICE = PLAN + "choose = { estimator__C = [0.001, 1.0] }\n"


def test_what_to_choose_survives_writing_and_is_part_of_the_plan():
    plan = parse_plan(CHOICE)
    assert parse_plan(write_plan(plan)) == plan
    assert plan.digest() != parse_plan(PLAN).digest()
    assert plan.digest() != parse_plan(CHOICE.replace("0.001", "0.01")).digest()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("choose = { estimator__c = [1.0] }", "'estimator__c'.*estimator__C"),
        ("choose = { random_state = [1, 2] }", "'random_state' cannot be chosen"),
        ("choose = { n_estimators = [10, 50] }", "'n_estimators' cannot be chosen"),
        ("choose = { loss = ['f1'] }", "'loss' cannot be chosen"),
        ("choose = { estimator__C = [] }", r"estimator__C must have a list of candidates; got \[\]"),
        ("choose = { estimator__C = 1.0 }", "estimator__C must have a list of candidates; got 1.0"),
        ('choose = { estimator__C = "1.0" }', "estimator__C must have a list of candidates; got '1.0'"),
        ("bootstrap = false\nchoose = { estimator__C = [1.0] }", "'ebr' has no out-of-bag losses to choose by"),
        ("choose = [1.0]", r"choose must be a table"),
    ],
)
def test_a_mistake_in_what_to_choose_is_named(given, message):
    with pytest.raises(PlanError, match=message):
        parse_plan(PLAN + given)


def by_hand(ensemble, X, Y, weight, loss):
    """For each instance what ten members' most frequent labeling loses, each voting where it was left out."""
    ensemble = clone(ensemble).set_params(n_estimators=10, oob_score=True).fit(X, Y, sample_weight=weight)
    cast = np.stack([loss.minimise(Marginals(member.marginals())) for member in ensemble.predict_members(X)])
    judged = np.flatnonzero((weight > 0) & ensemble.oob_mask_.any(axis=0))
    modes = [SubsetZeroOne().minimise(votes(cast[ensemble.oob_mask_[:, i], i][:, None]))[0] for i in judged]
    return np.repeat(loss.value(Y[judged], np.array(modes)), weight[judged])


@pytest.mark.filterwarnings("ignore:.*no out-of-bag decision")
@pytest.mark.parametrize(
    ("sample", "candidates", "beaten"),
    [
        ({"bootstrap": True}, [1e-4, 0.3, 3.0, 1e4], True),
        ({"bootstrap": False, "max_samples": 0.67}, [1e-4, 0.3, 3.0, 1e4], True),
        ({"bootstrap": True}, [0.1, 0.3, 1.0, 3.0], False),
    ],
)
def test_the_best_out_of_bag_is_chosen_where_it_beats_the_first_by_a_standard_error(sample, candidates, beaten):
    X, Y = make_multilabel_classification(120, 6, n_classes=4, random_state=0)
    weight = np.arange(120) % 2
    ensemble = EBRClassifier(LogisticRegression(), n_estimators=7, loss="f1", random_state=3, **sample)
    chosen = choose(ensemble, {"estimator__C": candidates}, X, Y, sample_weight=weight)["estimator__C"]
    assert (ensemble.n_estimators, ensemble.loss, ensemble.estimator.C) == (7, "f1", 1.0)
    wrong, f1 = (
        np.array([by_hand(clone(ensemble).set_params(estimator__C=C), X, Y, weight, loss) for C in candidates])
        for loss in (SubsetZeroOne(), FLoss())
    )
    best = min(range(len(candidates)), key=lambda at: (wrong[at].sum(), f1[at].sum()))
    gain = wrong[0] - wrong[best]
    assert gain.mean() > 0
    assert (gain.mean() > gain.std() / np.sqrt(len(gain))) == beaten
    assert chosen == candidates[best if beaten else 0]


def test_of_equally_good_candidates_the_first_is_chosen_and_no_warning_is_shown():
    X, Y = make_multilabel_classification(300, 5, n_classes=3, random_state=0)
    ensemble = EMODTClassifier(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = choose(ensemble, {"min_samples_split": [3, 2], "max_depth": [1, 2]}, X, np.ones_like(Y))
    assert found == {"min_samples_split": 3, "max_depth": 1}


def test_of_candidates_with_as_many_wrong_the_one_of_the_larger_f_measure_is_chosen(monkeypatch):
    wrong = {C: np.ones(300) for C in (1.0, 10.0, 100.0, 1000.0)}
    f1 = {1.0: np.full(300, 0.1), 10.0: np.full(300, 0.6), 100.0: np.full(300, 0.5), 1000.0: np.full(300, 0.55)}
    for C, right in ((10.0, slice(0, 150)), (100.0, slice(100, 250)), (1000.0, slice(1, 300, 2))):
        wrong[C][right] = 0.0
    tried = lambda trial, parameters, *given: [wrong[parameters["estimator__C"]], f1[parameters["estimator__C"]]]  # noqa: E731
    monkeypatch.setattr("comitia.experiments._choose._tried", tried)
    ensemble = EBRClassifier(LogisticRegression(), random_state=0)
    assert choose(ensemble, {"estimator__C": list(wrong)}, None, None) == {"estimator__C": 100.0}


def test_without_a_seed_candidates_draw_the_same_samples_all_the_same():
    data = make_joint(300, 4, 3, dependence=0.8, random_state=0).dataset
    found = [choose(EMODTClassifier(), {"min_samples_leaf": [100, 5]}, data.X, data.Y) for _ in range(3)]
    assert found == [{"min_samples_leaf": 5}] * 3


def test_nothing_to_choose_fits_nothing():
    assert choose(EMODTClassifier(), {}, None, None) == {}


def test_a_run_uses_what_it_chose_and_says_so(tmp_path, joint_csv):
    setting = EnsembleSetting("ebr", {"n_estimators": 5, "estimator": {"C": 1.0}}, choose={"estimator__C": [1e-6, 1.0]})
    fixed = EnsembleSetting("ebr", {"n_estimators": 5, "estimator": {"C": 1.0}})
    rows = {}
    for name, ensemble in (("chosen", setting), ("fixed", fixed)):
        plan = small_plan(joint_csv, ensembles=(ensemble,))
        run_plan(plan, tmp_path / name, n_jobs=1)
        store = Store.read(tmp_path / name)
        rows[name] = store.rows()
        chosen = [store.cell_provenance(cell)["chosen"] for cell in plan.cells()]
        assert chosen == [{"estimator__C": 1.0} if name == "chosen" else {}] * len(chosen)
    assert rows["chosen"] == rows["fixed"]


def test_an_ensemble_that_leaves_nobody_out_has_no_choice_out_of_bag(tmp_path, joint_csv):
    settings = EnsembleSetting("ecc", {"n_estimators": 5, "bootstrap": False}), EnsembleSetting("ebr")
    plan = small_plan(joint_csv, ensembles=settings, losses=("f1",), aggregations=("ctp", "oob"), folds=2)
    run_plan(plan, tmp_path, n_jobs=1)
    found = {(row["ensemble"], row["aggregation"]) for row in Store.read(tmp_path).rows()}
    assert found == {("ecc", "ctp"), ("ebr", "ctp"), ("ebr", "oob")}
    with pytest.raises(PlanError, match="'ecc' has no out-of-bag losses to choose by: set bootstrap = true"):
        small_plan(joint_csv, ensembles=settings, aggregations=("oob",))
    neither = r"'ecc' has no joint distributions for 'ctp-joint'.*, and no out-of-bag losses"
    with pytest.raises(PlanError, match=neither):
        small_plan(joint_csv, ensembles=settings, aggregations=("ctp-joint", "oob"))


@pytest.mark.parametrize(("kind", "products", "there"), [("ebr", 0, True), ("ebr", 10**9, False), ("emodt", 0, False)])
def test_a_plan_sends_large_fits_of_logistic_regressions_to_its_device(kind, products, there, monkeypatch):
    arrays = pytest.importorskip("array_api_compat.numpy")
    asked = []
    monkeypatch.setattr(_device, "_PRODUCTS", products)
    monkeypatch.setattr(_logistic, "get_device", lambda name: asked.append(name) or Device(arrays, "cpu", "cpu"))
    plan = replace(parse_plan(PLAN.replace('"ebr"', f'"{kind}"').partition("estimator")[0]), device="cuda:1", folds=2)
    computed = compute_cell(plan, 1, next(plan.cells()), make_joint(80, 4, 3, 0.5, random_state=0).dataset)
    assert computed.rows
    assert ("cuda:1" in asked) is there
    assert computed.provenance.get("device", "cpu") == ("cuda:1" if there else "cpu")


def test_zeros_of_sparse_features_are_no_work_for_a_device(monkeypatch):
    arrays = pytest.importorskip("array_api_compat.numpy")
    monkeypatch.setattr(_logistic, "get_device", lambda name: Device(arrays, "cpu", "cpu"))
    plan = replace(parse_plan(PLAN.partition("estimator")[0]), device="cuda", folds=2)
    whole = make_joint(80, 4, 3, 0.5, random_state=0).dataset
    monkeypatch.setattr(_device, "_PRODUCTS", 40 * 4 * 3 * 50)  # what half of the instances make of 50 members
    for X, there in ((whole.X, "cuda"), (csr_array(np.where(whole.X > 0, whole.X, 0)), "cpu")):
        computed = compute_cell(plan, 1, next(plan.cells()), replace(whole, X=X))
        assert computed.provenance.get("device", "cpu") == there
