"""Measures of a set against scikit-learn and against exhaustive search."""

import tracemalloc
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, fbeta_score, jaccard_score

from comitia import ComitiaError, Marginals
from comitia.losses import Hamming
from comitia.measures import (
    MEASURES,
    BalancedAccuracy,
    CountMeasure,
    MacroF,
    MacroJaccard,
    MicroF,
    decide_together,
    get_measure,
)
from comitia.measures import _averages as averages_module
from comitia.relevance import fit_calibration


def g_mean(tp, fp, fn, tn):
    recall = np.where(tp + fn > 0, tp / np.maximum(tp + fn, 1e-12), 1.0)
    return np.sqrt(recall * np.where(tn + fp > 0, tn / np.maximum(tn + fp, 1e-12), 1.0))


def odd(tp, fp, fn, tn):
    """Falls when a miss becomes a hit."""
    return fp - tp


VARIANTS = [
    *(make() for make in MEASURES.values()),
    MacroF(beta=2, zero_division=1),
    MicroF(beta=0.5, zero_division=1),
    MacroJaccard(zero_division=0.5),
    CountMeasure(g_mean),
    CountMeasure(g_mean, average="micro"),
]
IDS = [str(measure).split(" at ")[0] for measure in VARIANTS]


def beliefs(n, K, rng):
    yield rng.random((n, K))
    yield rng.random((n, K)) ** 4
    yield rng.integers(0, 3, (n, K)) / 2
    yield np.full((n, K), 0.3)
    yield np.zeros((n, K))


def test_values_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for n in (1, 3, 40):
        y, h = (rng.random((2, n, 4)) < 0.3).astype(int)
        weight = rng.random(n) + 0.1
        for zero in (0, 1):
            expected = {
                MacroF(zero_division=zero): f1_score(y, h, average="macro", zero_division=zero, sample_weight=weight),
                MacroF(beta=2, zero_division=zero): fbeta_score(
                    y, h, beta=2, average="macro", zero_division=zero, sample_weight=weight
                ),
                MicroF(zero_division=zero): f1_score(y, h, average="micro", zero_division=zero, sample_weight=weight),
                MacroJaccard(zero_division=zero): jaccard_score(
                    y, h, average="macro", zero_division=zero, sample_weight=weight
                ),
            }
            for measure, value in expected.items():
                assert measure.value(y, h, weight) == pytest.approx(value, abs=1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            balanced = [balanced_accuracy_score(y[:, k], h[:, k], sample_weight=weight) for k in range(4)]
        assert BalancedAccuracy().value(y, h, weight) == pytest.approx(np.mean(balanced), abs=1e-12)


@pytest.mark.parametrize("measure", VARIANTS, ids=IDS)
@pytest.mark.parametrize("shape", [(4, 1), (2, 2), (1, 3)], ids=str)
def test_a_batch_is_decided_best_of_all_labelings(measure, shape):
    rng = np.random.default_rng(1)
    every = [np.reshape(cells, shape) for cells in product((0, 1), repeat=shape[0] * shape[1])]
    values = np.array([[measure.value(y, h) for h in every] for y in every])
    for p in (p for _ in range(4) for p in beliefs(*shape, rng)):
        probability = np.array([np.where(y, p, 1 - p).prod() for y in every])
        expected = probability @ values
        chosen = measure.maximise(p)
        assert chosen.dtype == np.int8
        reached = expected[next(i for i, h in enumerate(every) if (h == chosen).all())]
        assert reached >= expected.max() - 1e-11


@pytest.mark.parametrize("measure", VARIANTS, ids=IDS)
@pytest.mark.parametrize("estimate", ["empirical", "expected"])
def test_resolved_cuts_reach_the_best_value_of_all_cuts(measure, estimate):
    rng = np.random.default_rng(2)
    parameters = {**vars(measure), "estimate": estimate}
    tuned = type(measure)(**parameters)
    for n in (1, 6, 25):
        for p in (p for _ in range(4) for p in beliefs(n, 3, rng)):
            y = (rng.random((n, 3)) < p).astype(np.int8)
            y[0] = 1  # a label that never occurs is cut at one half
            weight = rng.random(n) + 0.1
            target = y if estimate == "empirical" else p
            chosen = tuned.resolve(p, y, weight).minimise(Marginals(p))
            pooled = tuned._pools_labels()
            for k in [None] if pooled else range(3):
                column = slice(None) if pooled else slice(k, k + 1)
                reached = soft_value(tuned, target[:, column], chosen[:, column], weight)
                for cut in [-0.0, *np.unique(p[:, column])]:
                    assert reached >= soft_value(tuned, target[:, column], p[:, column] > cut, weight) - 1e-12


@pytest.mark.parametrize("measure", VARIANTS, ids=IDS)
def test_cuts_are_the_same_where_labels_are_swept_in_parts(measure, monkeypatch):
    rng = np.random.default_rng(11)
    for p in beliefs(40, 3, rng):
        y, weight = (rng.random(p.shape) < p).astype(np.int8), rng.random(40)
        for mass in (weight, np.ones(40)):
            whole = [replace(measure, estimate=e).resolve(p, y, mass) for e in ("empirical", "expected", "smoothed")]
            monkeypatch.setattr("comitia.measures._cuts._CELLS", 7)
            parts = [replace(measure, estimate=e).resolve(p, y, mass) for e in ("empirical", "expected", "smoothed")]
            monkeypatch.undo()
            assert parts == whole


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_cuts_take_a_few_times_what_the_beliefs_take(measure):
    p = np.random.default_rng(12).beta(0.2, 8.0, (30_000, 60))
    y = (p > 0.05).astype(np.int8)
    for estimate, most in (("expected", 6), ("empirical", 8)):
        tuned = measure(estimate=estimate)
        tuned.resolve(p[:9], y[:9])
        tracemalloc.start()
        tuned.resolve(p, y)
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert taken <= most * p.nbytes, f"{taken / p.nbytes:.1f} of the beliefs"


def soft_value(measure, target, h, weight):
    w = np.broadcast_to(weight[:, None], target.shape)
    tp, fp = (w * target * h).sum(), (w * (1 - target) * h).sum()
    fn, tn = (w * target * (1 - h)).sum(), (w * (1 - target) * (1 - h)).sum()
    return measure._of_counts(*np.array([[tp], [fp], [fn], [tn]]))[0]


def test_calibrated_beliefs_are_cut_at_half_the_best_f1_and_at_the_prevalence():
    rng = np.random.default_rng(3)
    p = rng.random((400, 2)) ** 3
    y = (rng.random(p.shape) < p).astype(int)
    cuts = np.array(MacroF(estimate="expected").resolve(p, y).false_positive)
    chosen = p > cuts
    best = 2 * (p * chosen).sum(axis=0) / (p.sum(axis=0) + chosen.sum(axis=0))
    np.testing.assert_allclose(cuts, best / 2)
    np.testing.assert_allclose(MacroJaccard(estimate="expected").resolve(p, y).false_positive, cuts)
    balanced = BalancedAccuracy(estimate="expected").resolve(p, y)
    np.testing.assert_allclose(balanced.false_positive, p.mean(axis=0), atol=0.01)
    assert isinstance(MicroF(estimate="expected").resolve(p, y).false_positive, float)


@pytest.mark.parametrize("measure", [MacroF(), MicroF(), MacroJaccard(), BalancedAccuracy()])
def test_beliefs_are_cut_where_calibrated_ones_would_be(measure):
    rng = np.random.default_rng(4)
    p = rng.random((600, 3)) ** 3
    y = (rng.random(p.shape) < p).astype(int)
    y[5:, 2] = 0  # too few to calibrate by
    timid = 0.3 + 0.3 * p
    answers = measure.resolve(timid, y).minimise(Marginals(timid))
    calibrated = fit_calibration(timid, y, kind="sigmoid").apply(timid)
    plain = replace(measure, estimate="expected")
    np.testing.assert_array_equal(answers, plain.resolve(calibrated, y).minimise(Marginals(calibrated)))
    if not isinstance(measure, BalancedAccuracy):  # whose cut, the mean, is right for timid beliefs as well
        assert measure.value(y, answers) > plain.value(y, plain.resolve(timid, y).minimise(Marginals(timid))) + 0.01


def test_a_label_that_none_has_is_cut_at_one_half():
    p, y = np.full((5, 2), 0.01), np.zeros((5, 2), int)
    y[0, 0] = 1
    for measure in MEASURES.values():
        loss = measure().resolve(p, y)
        assert np.broadcast_to(loss.false_positive, 2)[1] == 0.5 or measure is MicroF


def test_a_smoothed_estimate_lies_between_the_beliefs_and_the_labels():
    rng = np.random.default_rng(4)
    p = rng.random((2000, 1))
    y = (rng.random(p.shape) < p**2).astype(int)
    many = [float(MacroF(estimate=e).resolve(p, y).false_positive[0]) for e in ("expected", "smoothed", "empirical")]
    assert abs(many[1] - many[2]) < 0.05 < abs(many[0] - many[2])


def test_rare_labels_tuned_on_labels_promise_more_than_they_keep_and_cross_fitting_says_so():
    rng = np.random.default_rng(5)
    p = np.full((200, 60), 0.03) * rng.uniform(0.8, 1.2, (200, 60))
    y = (rng.random(p.shape) < p).astype(int)
    new = (rng.random(p.shape) < p).astype(int)
    greedy = MacroF(estimate="empirical")
    chosen = greedy.resolve(p, y).minimise(Marginals(p))
    promised, kept = greedy.value(y, chosen), greedy.value(new, chosen)
    assert promised > kept + 0.05
    assert abs(greedy.cross_fitted(p, y) - kept) < (promised - kept) / 2
    calm = MacroF()
    assert calm.value(new, calm.resolve(p, y).minimise(Marginals(p))) > kept


def test_macro_f1_of_new_instances_is_better_with_resolved_cuts_than_at_one_half():
    rng = np.random.default_rng(6)
    p = rng.random((600, 10)) ** rng.uniform(2, 8, 10)
    y = (rng.random(p.shape) < p).astype(int)
    for name, measure in MEASURES.items():
        target = measure()
        for estimate in ("expected", "smoothed", "empirical"):
            loss = type(target)(estimate=estimate).resolve(p[:300], y[:300])
            tuned = target.value(y[300:], loss.minimise(Marginals(p[300:])))
            plain = target.value(y[300:], Hamming().minimise(Marginals(p[300:])))
            assert tuned > plain + 0.005, (name, estimate)


def test_large_batches_are_decided_nearly_as_well_as_small_ones(monkeypatch):
    rng = np.random.default_rng(7)
    p = rng.random((120, 30)) ** 3
    for measure in (MicroF(), BalancedAccuracy()):
        exact = measure.maximise(p)
        monkeypatch.setattr(averages_module, "_EXACT_CELLS", 0)
        monkeypatch.setattr(averages_module, "_EXACT_INSTANCES", 0)
        quick = measure.maximise(p)
        monkeypatch.undo()
        assert (exact != quick).mean() < 0.02
    falling = CountMeasure(odd)
    assert falling.maximise(p).shape == p.shape


def test_members_are_pooled_before_a_batch_is_decided():
    rng = np.random.default_rng(8)
    members = [Marginals(rng.random((9, 3))) for _ in range(4)]
    pooled = np.mean([m.p for m in members], axis=0)
    expected = MacroF().maximise(pooled)
    for given in (members, iter(members), Marginals(pooled), pooled, pooled.tolist()):
        np.testing.assert_array_equal(decide_together(given, "macro-f1"), expected)


def test_what_is_wrong_is_said():
    p, y = [[0.5, 0.2]], [[1, 0]]
    with pytest.raises(ComitiaError, match="did you mean 'macro-f1'"):
        get_measure("macro-f")
    with pytest.raises(ComitiaError, match="one shape"):
        MacroF().resolve(p, [[1, 0, 1]])
    with pytest.raises(ComitiaError, match="estimate must be"):
        MacroF(estimate="oracle")
    with pytest.raises(ComitiaError, match="at least two instances"):
        MacroF().cross_fitted(p, y)
    with pytest.raises(ComitiaError, match="no instances"):
        MacroF().maximise(np.empty((0, 2)))
    with pytest.raises(ComitiaError, match="must hold probabilities"):
        MacroF().resolve([[np.nan, 0.2]], y)
    with pytest.raises(ComitiaError, match="finite values; for"), np.errstate(all="ignore"):
        CountMeasure(lambda tp, fp, fn, tn: tp / fp).value(y, y)
    with pytest.raises(ComitiaError, match="weight must hold"):
        MacroF().resolve(p, y, [-1.0])
    assert get_measure(g_mean) == CountMeasure(g_mean)
