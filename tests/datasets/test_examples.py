"""The datasets that need no files."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from comitia.datasets import load_seven_segment, make_joint


def test_seven_segment_lights_each_digit_as_a_display_does() -> None:
    dataset = load_seven_segment()
    assert dataset.X.shape == (1797, 64)
    assert len(np.unique(dataset.Y, axis=0)) == 10
    segments = dict(zip(load_digits().target, dataset.Y.tolist(), strict=True))
    assert segments[8] == [1] * 7
    assert segments[0] == [1, 1, 1, 1, 1, 1, 0]
    assert segments[1] == [0, 1, 1, 0, 0, 0, 0]
    assert segments[4] == [0, 1, 1, 0, 0, 1, 1]
    assert [sum(segments[digit]) for digit in range(10)] == [6, 2, 5, 5, 4, 5, 6, 3, 7, 6]


def test_a_forest_loses_about_half_its_subset_errors_on_seven_segment_by_voting_for_labelsets() -> None:
    dataset = load_seven_segment()
    train = np.arange(dataset.n_instances) % 2 == 0
    truth = dataset.Y[~train]
    marginal, mode = [], []
    for seed in range(3):
        forest = RandomForestClassifier(50, random_state=seed).fit(dataset.X[train], dataset.Y[train])
        votes = np.stack([tree.predict(dataset.X[~train]) for tree in forest.estimators_]).astype(np.int64)
        marginal.append(((votes.mean(axis=0) > 0.5) != truth).any(axis=1).mean())
        codes = votes @ (1 << np.arange(7))
        winners = np.array([np.bincount(column).argmax() for column in codes.T])
        mode.append((winners != truth @ (1 << np.arange(7))).mean())
    assert np.mean(mode) < 0.7 * np.mean(marginal)


@pytest.mark.parametrize("dependence", [0.0, 0.4, 1.0])
def test_the_joint_has_the_logistic_marginals_whatever_the_dependence(dependence: float) -> None:
    dataset, labelings, probabilities = make_joint(200, 4, 5, dependence, random_state=3)
    independent = make_joint(200, 4, 5, 0.0, random_state=3)
    assert labelings.shape == (32, 5)
    assert probabilities.shape == (200, 32)
    assert dataset.X.shape == (200, 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert probabilities.min() >= 0
    np.testing.assert_array_equal(dataset.X, independent.dataset.X)
    np.testing.assert_allclose(probabilities @ labelings, independent.probabilities @ labelings, atol=1e-12)


@pytest.mark.parametrize(("signal", "prevalence"), [(2.0, 0.3), (0.5, 0.9), (0.0, 0.5)])
def test_logits_have_the_signal_for_their_spread_and_the_prevalence_in_their_middle(
    signal: float, prevalence: float
) -> None:
    dataset, labelings, probabilities = make_joint(60, 4, 3, 0.5, signal=signal, prevalence=prevalence, random_state=2)
    p = probabilities @ labelings
    design = np.column_stack([dataset.X, np.ones(60)])
    found, *_ = np.linalg.lstsq(design, np.log(p / (1 - p)), rcond=None)
    np.testing.assert_allclose(design @ found, np.log(p / (1 - p)), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(found[:4], axis=0), signal, atol=1e-9)
    np.testing.assert_allclose(found[4], np.log(prevalence / (1 - prevalence)), atol=1e-9)
    assert (dataset.feature_names, dataset.label_names) == (("x0", "x1", "x2", "x3"), ("y0", "y1", "y2"))


def test_without_dependence_the_joint_is_the_product_of_its_marginals() -> None:
    _, labelings, probabilities = make_joint(50, 3, 4, 0.0, random_state=0)
    p = probabilities @ labelings
    product = np.where(labelings[None] == 1, p[:, None], 1 - p[:, None]).prod(axis=2)
    np.testing.assert_allclose(probabilities, product, atol=1e-12)


def test_with_full_dependence_labels_follow_one_number() -> None:
    _, labelings, probabilities = make_joint(50, 3, 6, 1.0, random_state=0)
    p = probabilities @ labelings
    draws = (np.arange(20_000) + 0.5) / 20_000
    for i in range(5):
        followed = np.stack([draws < p[i, k] if k % 2 == 0 else 1 - draws < p[i, k] for k in range(6)], axis=1)
        counts = np.bincount(followed @ (1 << np.arange(6)), minlength=64) / len(draws)
        np.testing.assert_allclose(probabilities[i], counts, atol=1e-3)
    assert ((probabilities > 0).sum(axis=1) <= 7).all()


def test_labels_are_drawn_from_the_joint() -> None:
    dataset, labelings, probabilities = make_joint(40_000, 2, 3, 0.5, random_state=1)
    codes = dataset.Y @ (1 << np.arange(3))
    found = np.bincount(codes, minlength=8) / len(codes)
    np.testing.assert_allclose(found, probabilities.mean(axis=0), atol=0.01)
    upper = probabilities[:, 7] > np.median(probabilities[:, 7])
    np.testing.assert_allclose((codes[upper] == 7).mean(), probabilities[upper, 7].mean(), atol=0.01)
    assert (labelings @ (1 << np.arange(3)) == np.arange(8)).all()


def test_the_same_seed_gives_the_same_data() -> None:
    first, second = (make_joint(30, 3, 4, 0.7, random_state=9) for _ in range(2))
    np.testing.assert_array_equal(first.dataset.Y, second.dataset.Y)
    assert (first.dataset.Y != make_joint(30, 3, 4, 0.7, random_state=8).dataset.Y).any()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 0}, "n must be an integer, at least 1"),
        ({"n_features": 0}, "n_features must be an integer, at least 1"),
        ({"n_labels": 17}, "n_labels must be an integer, at least 1 and at most 16; got 17"),
        ({"n_labels": 0}, "n_labels"),
        ({"dependence": 1.5}, "dependence must lie in \\[0, 1\\]; got 1.5"),
        ({"dependence": float("nan")}, "dependence"),
        ({"signal": -1}, "signal"),
        ({"prevalence": 0}, "prevalence"),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, float], message: str) -> None:
    parameters: dict[str, float] = {"n": 5, "n_features": 2, "n_labels": 2, "dependence": 0.5} | wrong
    with pytest.raises(ValueError, match=message):
        make_joint(**parameters)  # type: ignore[arg-type]
