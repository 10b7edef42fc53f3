import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from comitia._errors import ComitiaError
from comitia.relevance import Marginals
from comitia.relevance._calibration import (
    KINDS,
    Calibration,
    _dealt,
    _log_loss,
    cross_fitted,
    fit_calibration,
)


def distorted(rng, n, K, slope, shift):
    """Labels of known probability, and beliefs whose log odds are off by slope and shift."""
    truth = expit(2 * rng.normal(size=(n, K)))
    Y = (rng.random((n, K)) < truth).astype(np.int8)
    return truth, Y, expit((logit(truth) - shift) / slope)


def test_a_sigmoid_finds_slope_and_shift_of_distorted_log_odds():
    truth, Y, p = distorted(np.random.default_rng(0), 40_000, 3, [2.5, 1.0, 0.5], [1.0, 0.0, -1.5])
    fit = fit_calibration(p, Y, kind="sigmoid")
    assert fit.slope == pytest.approx([2.5, 1.0, 0.5], rel=0.05)
    assert fit.shift == pytest.approx([1.0, 0.0, -1.5], abs=0.05)
    assert np.abs(fit.apply(p) - truth).mean() < 0.01


def test_a_sigmoid_is_logistic_regression_on_log_odds():
    rng = np.random.default_rng(1)
    _, Y, p = distorted(rng, 20_000, 2, 2.0, 0.5)
    weight = rng.integers(0, 3, len(Y)).astype(float)
    fit = fit_calibration(p, Y, weight, kind="sigmoid")
    for k in range(2):
        peer = LogisticRegression(C=1e9, tol=1e-10).fit(logit(p[:, [k]]), Y[:, k], sample_weight=weight)
        # Platt's targets differ from 0 and 1 by one part in some ten thousand.
        assert fit.slope[k] == pytest.approx(peer.coef_[0, 0], rel=2e-3)
        assert fit.shift[k] == pytest.approx(peer.intercept_[0], abs=2e-3)


def test_an_isotonic_fit_is_that_of_scikit_learn_but_for_a_thousandth():
    _, Y, p = distorted(np.random.default_rng(2), 3_000, 2, 2.0, 0.5)
    fit = fit_calibration(p, Y, kind="isotonic")
    for k in range(2):
        peer = IsotonicRegression(out_of_bounds="clip").fit(p[:, k], Y[:, k]).predict(p[:, k])
        assert fit.apply(p)[:, k] == pytest.approx(peer, abs=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_maps_rise_strictly_and_stay_inside_the_unit_interval(kind):
    rng = np.random.default_rng(3)
    _, Y, p = distorted(rng, 300, 4, [3.0, 0.3, 1.0, 2.0], 0.5)
    p[:20, 0], p[20:40, 0] = 0, 1
    Y[:, 3] = p[:, 3] > 0.5  # separable: plain maximum likelihood has no solution
    fit = fit_calibration(p, Y, kind=kind)
    grid = np.linspace(0, 1, 501)
    calibrated = fit(Marginals(np.tile(grid[:, None], (1, 4)))).p
    assert (np.diff(calibrated, axis=0) > 0).all()
    touched = np.array(fit.kinds) != "none"
    assert (calibrated[:, touched] > 0).all()
    assert (calibrated[:, touched] < 1).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_label_with_few_positives_or_few_negatives_is_left_alone(kind):
    rng = np.random.default_rng(4)
    _, Y, p = distorted(rng, 400, 3, 3.0, 1.0)
    Y[:, 0], Y[:9, 0] = 0, 1
    Y[:, 1], Y[:9, 1] = 1, 0
    fit = fit_calibration(p, Y, kind=kind)
    assert fit.kinds[:2] == ("none", "none")
    assert fit.kinds[2] != "none"
    assert (fit.apply(p)[:, :2] == p[:, :2]).all()


def test_beliefs_that_point_the_wrong_way_are_not_turned_round():
    _, Y, p = distorted(np.random.default_rng(5), 2_000, 1, 1.0, 0.0)
    assert fit_calibration(1 - p, Y, kind="sigmoid").kinds == ("none",)


def test_out_of_bag_choice_leaves_calibrated_beliefs_alone_and_mends_others():
    rng = np.random.default_rng(6)
    truth, Y, p = distorted(rng, 3_000, 2, [1.0, 3.0], [0.0, 0.5])
    p = np.column_stack([p, truth[:, 0] ** 0.2])
    Y = np.column_stack([Y, Y[:, 0]])
    fit = fit_calibration(p, Y, kind="oob")
    assert fit.kinds[0] == "none"
    assert fit.kinds[1] == "sigmoid"
    assert fit.kinds[2] != "none"
    fresh = expit(2 * rng.normal(size=(5_000, 1)))
    new = (rng.random(fresh.shape) < fresh).astype(np.int8)
    beliefs = np.column_stack([fresh, expit((logit(fresh) - 0.5) / 3), fresh**0.2])
    before, after = _log_loss(beliefs, new), _log_loss(fit.apply(beliefs), new)
    assert (after[:, 1:].mean(axis=0) < before[:, 1:].mean(axis=0) - 0.02).all()


def test_out_of_bag_choice_rarely_touches_small_samples_that_are_calibrated():
    rng = np.random.default_rng(7)
    kinds = []
    for _ in range(10):
        _, Y, p = distorted(rng, 80, 10, 1.0, 0.0)
        kinds += fit_calibration(p, Y, kind="oob").kinds
    assert np.mean([kind != "none" for kind in kinds]) < 0.25


def test_a_weight_counts_as_copies_and_none_as_absence():
    rng = np.random.default_rng(8)
    _, Y, p = distorted(rng, 500, 2, 2.0, 0.5)
    weight = rng.integers(0, 3, 500)
    copies = np.repeat(np.arange(500), weight)
    for kind in ("sigmoid", "isotonic"):
        weighed = fit_calibration(p, Y, weight, kind=kind).apply(p)
        copied = fit_calibration(p[copies], Y[copies], kind=kind).apply(p)
        assert weighed == pytest.approx(copied, abs=5e-3)


def test_a_calibration_is_plain_arrays_and_survives_pickling():
    _, Y, p = distorted(np.random.default_rng(9), 300, 3, 2.0, 0.5)
    fit = fit_calibration(p, Y, kind="isotonic")
    again = pickle.loads(pickle.dumps(fit))
    assert (again.apply(p) == fit.apply(p)).all()
    assert {type(value) for value in vars(fit).values()} == {tuple, np.ndarray}


def test_bad_input_is_refused_with_its_reason():
    p, Y = np.full((4, 2), 0.5), np.zeros((4, 2), int)
    with pytest.raises(ComitiaError, match="one shape"):
        fit_calibration(p, Y[:3])
    with pytest.raises(ComitiaError, match="sigmod"):
        fit_calibration(p, Y, kind="sigmod")
    with pytest.raises(ComitiaError, match="weight must hold"):
        fit_calibration(p, Y, weight=[1, 2])
    with pytest.raises(ComitiaError, match=r"p must have shape \(n, 2\)"):
        fit_calibration(p, Y).apply(p[:, :1])


MAPS = {
    "kinds": ("isotonic", "none", "isotonic"),
    "slope": np.ones(3),
    "shift": np.zeros(3),
    "starts": np.array([0, 2, 2, 4]),
    "x": np.array([0.0, 1.0, 0.0, 1.0]),
    "y": np.array([0.1, 0.9, 0.2, 0.3]),
}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"kinds": ("isotonic", "none", "linear")}, "kinds must say what is done to each label"),
        ({"starts": np.array([0, 2, 4])}, "starts where its knots are"),
        ({"x": np.array([0.0, 1.0, 0.0, np.inf])}, "x must hold finite numbers"),
        ({"slope": np.ones(2)}, "slope and shift must hold a number for each of 3 labels"),
        ({"shift": np.zeros(4)}, "slope and shift must hold a number for each of 3 labels"),
        ({"slope": np.array([1.0, 0.0, 1.0])}, "no slope below zero"),
        ({"starts": np.array([1, 2, 2, 4])}, "starts must divide the knots"),
        ({"starts": np.array([0, 2, 2, 3])}, "starts must divide the knots"),
        ({"starts": np.array([0, 3, 2, 4])}, "starts must divide the knots"),
        ({"y": np.array([0.1, 0.9, 0.2])}, "starts must divide the knots"),
        ({"starts": np.array([0, 0, 2, 4])}, "label 0 must have knots"),
        ({"kinds": ("isotonic", "none", "sigmoid")}, "label 2 must have knots if it is calibrated by them, and none"),
        ({"x": np.array([0.0, 0.0, 0.0, 1.0])}, "knots of label 0 must rise"),
        ({"y": np.array([0.1, 0.9, 0.3, 0.2])}, "knots of label 2 must rise"),
        ({"y": np.array([-0.1, 0.9, 0.2, 0.3])}, "knots of label 0 must rise, between 0 and 1"),
        ({"y": np.array([0.1, 0.9, 0.2, 1.1])}, "knots of label 2 must rise, between 0 and 1"),
    ],
)
def test_maps_of_a_file_that_are_none_are_refused(changed, reason):
    np.testing.assert_allclose(Calibration(**MAPS).apply(np.full((1, 3), 0.5)), [[0.5, 0.5, 0.25]])
    with pytest.raises(ComitiaError, match=reason):
        Calibration(**MAPS | changed)


def small(seed=0, n=41, K=3):
    rng = np.random.default_rng(seed)
    _, Y, p = distorted(rng, n, K, [2.5, 1.0, 0.4], [1.0, 0.0, -1.0])
    return Y, np.round(p, 2), rng.integers(0, 3, n) / 2


def test_a_sigmoid_of_few_instances_has_the_largest_likelihood_of_platts_targets():
    Y, p, weight = small()
    fit = fit_calibration(p, Y, weight, kind="sigmoid", min_positives=1)
    inner = 1e-6 + (1 - 2e-6) * p
    for k in range(3):
        positive, total = weight @ Y[:, k], weight.sum()
        target = np.where(Y[:, k], (positive + 1) / (positive + 2), 1 / (total - positive + 2))

        odds = logit(inner[:, k])

        def loss(at, odds=odds, target=target):
            score = at[0] * odds + at[1]
            return weight @ (np.logaddexp(0, score) - target * score)

        best = minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
        assert [fit.slope[k], fit.shift[k]] == pytest.approx(best.x, abs=1e-5)
        curve = expit(fit.slope[k] * odds + fit.shift[k])
        expected = (1 - 1e-6) * (1e-6 + (1 - 2e-6) * curve) + 1e-6 * p[:, k]
        np.testing.assert_allclose(fit.apply(p)[:, k], expected, rtol=1e-12)


def test_an_isotonic_fit_of_few_instances_is_drawn_in_and_tilted():
    Y, p, weight = small()
    fit = fit_calibration(p, Y, weight, kind="isotonic", min_positives=1)
    known = weight > 0
    inner = 1 / (known.sum() + 2)
    for k in range(3):
        steps = IsotonicRegression().fit(p[known, k], Y[known, k], weight[known]).predict(p[known, k])
        expected = 0.999 * (inner + (1 - 2 * inner) * steps) + 0.001 * p[known, k]
        np.testing.assert_allclose(fit.apply(p)[known, k], expected, atol=1e-12)
        x, y = fit._knots(k)
        assert (x[0], x[-1]) == (0, 1)
        assert y[0] >= 0.999 * inner
        assert y[-1] <= 0.999 * (1 - inner) + 0.001


@pytest.mark.parametrize("least", [3, 4])
def test_a_label_needs_so_many_instances_that_have_it_and_that_lack_it(least):
    Y, p = np.zeros((20, 2), np.int8), np.random.default_rng(0).random((20, 2))
    Y[:3, 0], Y[3:, 1] = 1, 1
    for kind in ("sigmoid", "isotonic"):
        kinds = fit_calibration(1 - np.sort(p, axis=0)[::-1] * (1 - Y / 2), Y, kind=kind, min_positives=least).kinds
        assert (kinds == ("none", "none")) == (least == 4)
    assert fit_calibration(p, np.zeros_like(Y), kind="isotonic", min_positives=0).kinds == ("none", "none")


def saved(p, Y, weight, fold, k, without, on):
    """Weights of the instances of a fold, and the log loss that each kind of fit without some folds saves them."""
    known, held = ~np.isin(fold, without), fold == on
    gains = {}
    for kind in ("sigmoid", "isotonic"):
        fit = fit_calibration(p[known], Y[known], weight[known], kind=kind)
        gains[kind] = (_log_loss(p[held], Y[held]) - _log_loss(fit.apply(p[held]), Y[held]))[:, k]
    return weight[held], gains


def plain_choice(p, Y, weight, fold, k, left_out):
    """The kind that saves most log loss on folds held out in turn, if that is more than its standard error."""
    parts = [saved(p, Y, weight, fold, k, [*left_out, f], f) for f in range(5) if f not in left_out]
    w = np.concatenate([mass for mass, _ in parts])
    best, most = "none", 0.0
    for kind in ("sigmoid", "isotonic"):
        gain = np.concatenate([gains[kind] for _, gains in parts])
        mean = w @ gain / w.sum()
        error = np.sqrt(np.sum((w * (gain - mean)) ** 2)) / w.sum()
        if mean > error and mean > most:
            best, most = kind, mean
    return best


def test_the_kind_of_a_calibration_is_that_of_the_best_log_loss_on_instances_held_out_in_turn():
    rng = np.random.default_rng(11)
    _, Y, p = distorted(rng, 240, 4, [3.0, 1.0, 0.5, 1.0], [0.5, 0.0, -0.7, 0.0])
    p[:, 3] = np.where(p[:, 3] > 0.5, 0.9, 0.05) + 0.01 * rng.random(240)
    weight = rng.integers(0, 3, 240).astype(float)
    fold, known = _dealt(p, Y, 0), weight > 0
    chosen = [plain_choice(p, Y, weight, fold, k, []) for k in range(4)]
    assert len(set(chosen)) > 1
    # What has no weight is left out before instances are dealt to folds.
    dealt = _dealt(p[known], Y[known], 0)
    assert fit_calibration(p, Y, weight).kinds == tuple(
        plain_choice(p[known], Y[known], weight[known], dealt, k, []) for k in range(4)
    )
    crossed = cross_fitted(p, Y, weight, "oob")
    for f in range(5):
        held = fold == f
        kinds = [plain_choice(p, Y, weight, fold, k, [f]) for k in range(4)]
        for k, kind in enumerate(kinds):
            expected = p[held, k]
            if kind != "none":
                expected = fit_calibration(p[~held], Y[~held], weight[~held], kind=kind).apply(p[held])[:, k]
            np.testing.assert_allclose(crossed[held, k], expected, atol=1e-9)


def test_instances_are_dealt_to_five_folds_as_even_as_can_be_and_copies_together():
    rng = np.random.default_rng(0)
    p, Y = rng.random((203, 2)).round(6), rng.integers(0, 2, (203, 2)).astype(np.int8)
    fold = _dealt(p, Y, 0)
    assert sorted(np.bincount(fold)) == [40, 40, 41, 41, 41]
    order = rng.permutation(203)
    np.testing.assert_array_equal(_dealt(p[order], Y[order], 0), fold[order])
    twice = np.repeat(np.arange(203), 2)
    np.testing.assert_array_equal(_dealt(p[twice], Y[twice], 0), fold[twice])
    np.testing.assert_array_equal(_dealt(p + 1e-11, Y, 0), fold)
    for other in (_dealt(p, Y, 1), _dealt(p, 1 - Y, 0), _dealt(p + 1e-8, Y, 0)):
        assert (other != fold).mean() > 0.5
