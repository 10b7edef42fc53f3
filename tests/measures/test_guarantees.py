"""Promised recall is kept, and no cut that keeps it is larger."""

import numpy as np
import pytest

from comitia import ComitiaError
from comitia.measures._guarantees import RecallAtLeast, TwoCuts, recall_threshold
from comitia.relevance import Marginals


def missed(p, y, cut):
    return (((p < cut) & (y == 1)).sum(axis=1) / np.maximum(y.sum(axis=1), 1)).sum()


def test_the_cut_is_the_largest_that_conformal_risk_control_allows():
    rng = np.random.default_rng(0)
    for n in (5, 20, 101):
        for make in (rng.random, lambda shape: rng.integers(0, 5, shape) / 4):
            for guarantee in (0.5, 0.8, 0.95):
                p = make((n, 4))
                y = (rng.random((n, 4)) < p).astype(int)
                cut = recall_threshold(p, y, guarantee)
                allowed = [
                    c for c in [0.0, *np.unique(p), 1.0] if (missed(p, y, c) + 1) / (n + 1) <= 1 - guarantee + 1e-9
                ]
                assert cut == (max(allowed) if allowed else 0.0)
                assert (RecallAtLeast(guarantee).resolve(p, y).minimise(Marginals(p)) == (p >= cut)).all()


def test_the_promise_is_kept_on_average_over_new_instances():
    rng = np.random.default_rng(1)
    for guarantee in (0.7, 0.9):
        kept, kept_partly = [], []
        for _ in range(300):
            hidden = rng.random((80, 5)) ** 2
            y = (rng.random(hidden.shape) < hidden).astype(int)
            p = np.clip(hidden + rng.normal(0, 0.2, hidden.shape), 0, 1)  # badly calibrated
            promise = RecallAtLeast(guarantee)
            kept.append(promise.value(y[60:], promise.resolve(p[:60], y[:60]).minimise(Marginals(p[60:]))))
            rule = promise.resolve_partial(p[:60], y[:60])
            kept_partly.append(promise.value(y[60:], rule.minimise(Marginals(p[60:]))))
        error = np.std(kept) / np.sqrt(len(kept))
        assert np.mean(kept) >= guarantee - 3 * error
        assert np.mean(kept) <= guarantee + 0.06
        assert np.mean(kept_partly) >= guarantee - 3 * error


def test_too_few_instances_promise_all_labels():
    assert recall_threshold([[0.9]], [[1]], 0.9) == 0.0
    assert recall_threshold([[0.3, 0.2]] * 40, [[0, 0]] * 40, 0.9) == 1.0


def test_two_cuts_leave_what_is_between():
    assert TwoCuts(0.2).minimise(Marginals([[0.1, 0.2, 0.5, 0.6]])).tolist() == [[0, -1, -1, 1]]
    assert TwoCuts(0.8).minimise(Marginals([[0.1, 0.5, 0.6, 0.9]])).tolist() == [[0, 0, 1, 1]]


def test_what_is_wrong_is_said():
    with pytest.raises(ComitiaError, match="guarantee must lie between"):
        RecallAtLeast(1.0)
    with pytest.raises(ComitiaError, match="guarantee must lie between"):
        recall_threshold([[0.1]], [[1]], 0)
    with pytest.raises(ComitiaError, match="one shape"):
        recall_threshold([[0.1]], [[1, 0]], 0.5)
    with pytest.raises(ComitiaError, match="lower and upper"):
        TwoCuts(-0.1)
