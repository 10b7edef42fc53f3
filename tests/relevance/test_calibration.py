import pickle

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from comitia._errors import ComitiaError
from comitia.relevance import Marginals
from comitia.relevance._calibration import KINDS, Calibration, _log_loss, fit_calibration


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
