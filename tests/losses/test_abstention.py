"""Partial answers against all 3^K of them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from comitia import ComitiaError
from comitia.losses import FLoss, Hamming, JaccardLoss, SubsetZeroOne
from comitia.losses._abstention import Abstaining, rank_partially
from comitia.losses._counts import Matthews
from comitia.losses._coverage import cost_for_rate, risk_coverage
from comitia.relevance import LabelSets, Marginals, NonEmpty, Shared
from tests.losses.test_minimisers import label_sets, marginals, never_empty
from tests.oracle import distribution, labelings, loss_value

LOSSES = [
    Hamming(),
    Hamming(false_negative=3, false_positive=0.5),
    SubsetZeroOne(),
    FLoss(),
    FLoss(beta=2, zero_division=0),
    FLoss(beta=0.5),
    FLoss(beta=0.7310585),
    JaccardLoss(),
    JaccardLoss(zero_division=0),
]
COSTS = [0.0, 0.05, 0.3, 0.5, 1.0, 4.0]


def price(rule, left, K):
    return rule.cost * (left / K if rule.penalty == "linear" else 2 * left / (K + left))


def partial_value(rule, y, answer):
    """The loss of what is decided, from its definition, and the price of what is not."""
    decided = [k for k, a in enumerate(answer) if a >= 0]
    left = len(y) - len(decided)
    if not decided:
        loss = 1 - rule.loss.zero_division if isinstance(rule.loss, FLoss | JaccardLoss) else 0.0
    else:
        loss = loss_value(rule.loss, tuple(y[k] for k in decided), tuple(answer[k] for k in decided))
        if isinstance(rule.loss, Hamming):
            loss *= len(decided) / len(y)
    return loss + price(rule, left, len(y))


def partial_risks(rule, belief, i):
    K = belief.n_labels
    answers = list(product((-1, 0, 1), repeat=K))
    values = np.array([[partial_value(rule, y, answer) for answer in answers] for y in labelings(K)])
    return dict(zip(answers, (distribution(belief, i) @ values).tolist(), strict=True))


@pytest.mark.parametrize("penalty", ["linear", "concave"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@settings(max_examples=25, deadline=None)
@given(belief=st.one_of(marginals(4), never_empty(4)), cost=st.sampled_from(COSTS))
def test_a_partial_answer_from_marginals_is_the_best_of_all(loss, penalty, belief, cost):
    rule = Abstaining(loss, cost, penalty)
    chosen = rule.minimise(belief)
    assert chosen.dtype == np.int8
    reached = rule.risk(belief, chosen)
    for i, answer in enumerate(map(tuple, chosen[:2].tolist())):
        expected = partial_risks(rule, belief, i)
        assert expected[answer] <= min(expected.values()) + 1e-12
        assert reached[i] == pytest.approx(expected[answer], abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_six_labels_are_left_open_as_by_trying_all_answers(loss):
    rng = np.random.default_rng(0)
    K = 6
    p = np.concatenate([rng.random((6, K)), rng.random((4, K)) ** 4, rng.integers(0, 3, (3, K)) / 2])
    answers = np.array(list(product((-1, 0, 1), repeat=K)), np.int8)
    for cost, penalty in ((0.1, "linear"), (0.4, "concave"), (0.7, "linear")):
        rule = Abstaining(loss, cost, penalty)
        chosen = rule.risk(Marginals(p), rule.minimise(Marginals(p)))
        for i, row in enumerate(p):
            every = rule.risk(Marginals(np.tile(row, (len(answers), 1))), answers)
            assert chosen[i] <= every.min() + 1e-12


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@settings(max_examples=10, deadline=None)
@given(belief=label_sets(4), cost=st.sampled_from(COSTS))
def test_partial_answers_from_label_sets_are_never_worse_than_deciding_everything_or_nothing(loss, belief, cost):
    rule = Abstaining(loss, cost)
    chosen = rule.minimise(belief)
    reached = rule.risk(belief, chosen)
    assert (reached <= rule.risk(belief, loss.minimise(belief)) + 1e-12).all()
    assert (reached <= rule.risk(belief, np.full(chosen.shape, -1)) + 1e-12).all()
    expected = partial_risks(rule, belief, 0)
    assert reached[0] == pytest.approx(expected[tuple(chosen[0].tolist())], abs=1e-12)
    if isinstance(loss, Hamming):
        assert reached[0] <= min(expected.values()) + 1e-12


def prefixes(labeling, order):
    """A labeling of which only the first labels of an order are kept: none, one, ..., all."""
    kept = np.full((len(order) + 1, len(order)), -1)
    for d in range(len(order) + 1):
        kept[d, order[:d]] = labeling[order[:d]]
    return kept


def spans(order):
    """The first labels of an order relevant, the last ones not, and those between left open."""
    K = len(order)
    found = np.full(((K + 1) * (K + 2) // 2, K), -1)
    for answer, (top, last) in zip(found, ((a, b) for a in range(K + 1) for b in range(a, K + 1)), strict=True):
        answer[order[:top]], answer[order[last:]] = 1, 0
    return found


@pytest.mark.parametrize("penalty", ["linear", "concave"])
@pytest.mark.parametrize("loss", LOSSES[2:], ids=str)
def test_partial_answers_from_label_sets_are_the_best_in_the_order_of_what_is_likely(loss, penalty):
    rng = np.random.default_rng(7)
    K = 6
    sets = LabelSets.from_rows([(rng.random((5, K)) < 0.4, rng.dirichlet(np.ones(5))) for _ in range(12)])
    for cost in (0.02, 0.2, 0.5, 0.9):
        rule, p = Abstaining(loss, cost, penalty), sets.marginals()
        chosen, plain = rule.minimise(sets), loss.minimise(sets)
        for i in range(12):
            if isinstance(loss, SubsetZeroOne):
                modes = (plain[i], (p[i] > 0.5).astype(int))
                tried = np.concatenate(
                    [prefixes(mode, np.argsort(np.abs(mode - p[i]), kind="stable")) for mode in modes]
                )
            else:
                tried = np.concatenate([spans(np.argsort(-p[i], kind="stable")), plain[i : i + 1]])
            best = rule.risk(sets.take(np.full(len(tried), i)), tried).min()
            assert rule.risk(sets.take([i]), chosen[i : i + 1])[0] == pytest.approx(best, abs=1e-12)


def test_partial_answers_from_label_sets_are_rarely_worse_than_the_best(record_property):
    rng = np.random.default_rng(1)
    K, gaps = 5, []
    answers = np.array(list(product((-1, 0, 1), repeat=K)), np.int8)
    sets = LabelSets.from_rows([(rng.random((6, K)) < 0.4, rng.dirichlet(np.ones(6))) for _ in range(40)])
    for loss in (SubsetZeroOne(), FLoss(), JaccardLoss()):
        for cost in (0.2, 0.5):
            rule = Abstaining(loss, cost)
            reached = rule.risk(sets, rule.minimise(sets))
            for i in range(40):
                one = sets.take(np.full(len(answers), i))
                gaps.append(reached[i] - rule.risk(one, answers).min())
    record_property("mean_gap_to_the_optimum", float(np.mean(gaps)))
    assert min(gaps) >= -1e-12
    assert np.mean(gaps) < 0.02


def test_a_price_above_every_error_leaves_nothing_open_and_no_price_leaves_all_doubt_open():
    rng = np.random.default_rng(2)
    p = Marginals(rng.random((50, 7)) ** 2)
    for belief, loss in product((p, NonEmpty()(p)), LOSSES):
        decided = Abstaining(loss, 100.0).minimise(belief)
        assert (decided >= 0).all()
        np.testing.assert_allclose(loss.risk(belief, decided), loss.risk(belief, loss.minimise(belief)), atol=1e-12)
    assert (Abstaining(Hamming(), 0.0).minimise(p) == -1).all()


def test_shared_beliefs_are_decided_as_if_spelled_out():
    rng = np.random.default_rng(3)
    shared = Shared(Marginals(rng.random((3, 5))), np.array([2, 0, 0, 1]))
    for loss in LOSSES:
        rule = Abstaining(loss, 0.3)
        chosen = rule.minimise(shared)
        np.testing.assert_array_equal(chosen, rule.minimise(shared.spelled_out()))
        np.testing.assert_array_equal(rule.risk(shared, chosen), rule.risk(shared.spelled_out(), chosen))


@pytest.mark.parametrize("penalty", ["linear", "concave"])
@pytest.mark.parametrize("loss", [Hamming(), SubsetZeroOne(), FLoss(), JaccardLoss()], ids=str)
def test_a_rate_is_nearly_reached_and_never_passed(loss, penalty):
    rng = np.random.default_rng(4)
    belief = Marginals(rng.random((300, 8)))
    for rate in (0.0, 0.1, 0.35, 1.0):
        cost = cost_for_rate(belief, loss, rate, penalty)
        left = (Abstaining(loss, cost, penalty).minimise(belief) < 0).mean()
        assert left <= rate + 1e-12
        if penalty == "linear" and rate < 1:
            assert left > rate - 0.1


def test_the_loss_falls_as_more_is_left_open():
    rng = np.random.default_rng(5)
    p = rng.random((2000, 6))
    y = (rng.random(p.shape) < p).astype(int)
    for loss in (Hamming(), FLoss(), JaccardLoss(), SubsetZeroOne()):
        curve = risk_coverage(Marginals(p), y, loss, rates=[0, 0.2, 0.4])
        assert curve.coverage[0] == 1
        assert (np.diff(curve.coverage) < 0).all()
        assert (np.diff(curve.loss) < 0).all()
        assert curve.loss[0] == pytest.approx(loss.value(y, loss.minimise(Marginals(p))).mean())


def wrong_pairs(p, ranks):
    ranked = np.flatnonzero(ranks >= 0)
    return sum((1 - p[i]) * p[j] for i in ranked for j in ranked if ranks[i] < ranks[j])


@pytest.mark.parametrize("penalty", ["linear", "concave"])
def test_partial_orders_are_the_best_of_all_subsets(penalty):
    rng = np.random.default_rng(6)
    K = 6
    for p in (*rng.random((40, K)), *(rng.integers(0, 5, (30, K)) / 4), *rng.random((20, K)) ** 5):
        for cost in (0.0, 0.1, 0.3, 0.6, 3.0):
            scale = [cost * a * (1 if penalty == "linear" else 2 * K / (K + a)) for a in range(K + 1)]
            ranks = rank_partially(Marginals(p[None]), cost, penalty)[0]
            kept = ranks[ranks >= 0]
            assert sorted(kept) == list(range(len(kept)))
            best = np.inf
            order = np.argsort(-p, kind="stable")
            for keep in product((False, True), repeat=K):
                subset = [k for k in order if keep[k]]
                pairs = sum((1 - p[a]) * p[b] for x, a in enumerate(subset) for b in subset[x + 1 :])
                best = min(best, pairs + scale[K - len(subset)])
            assert wrong_pairs(p, ranks) + scale[K - len(kept)] <= best + 1e-12


def test_what_is_wrong_is_said():
    with pytest.raises(ComitiaError, match="can be left open for"):
        Abstaining(Matthews(), 0.1)
    with pytest.raises(ComitiaError, match="cost must be from 0"):
        Abstaining("f1", -1)
    with pytest.raises(ComitiaError, match="penalty must be"):
        Abstaining("f1", 1, "convex")
    with pytest.raises(ComitiaError, match="1, 0 and -1 only"):
        Abstaining("f1", 1).value([[1]], [[2]])
    with pytest.raises(ComitiaError, match="one shape"):
        Abstaining("f1", 1).value([[1]], [[0, 1]])
    with pytest.raises(ComitiaError, match="rate must lie"):
        cost_for_rate(Marginals([[0.1]]), "f1", 2)
