"""The k best labels and the best orders against all labelings and all orders."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import dcg_score, label_ranking_loss, ndcg_score

from comitia import ComitiaError, decide
from comitia.losses._constraints import Constraints, minimise_within
from comitia.losses._topk import PropensityScored, TopK, propensities, rank_by
from comitia.relevance import LabelSets, Marginals, Shared
from tests.losses.test_counts import counted_risks
from tests.losses.test_minimisers import label_sets, marginals, never_empty
from tests.oracle import distribution, labelings


@pytest.mark.parametrize("weight", ["precision", "recall", "ndcg"])
@pytest.mark.parametrize("k", [1, 2, 4])
@settings(max_examples=20, deadline=None)
@given(relevance=st.one_of(marginals(5), never_empty(5), label_sets(5)))
def test_the_labels_shown_are_the_best_of_all_labelings(weight, k, relevance):
    for loss in (TopK(k, weight), TopK(k, weight, exactly=False, zero_division=0)):
        chosen = loss.minimise(relevance)
        sizes = chosen.sum(axis=1)
        assert (sizes == min(k, relevance.n_labels)).all() if loss.exactly else (sizes <= k).all()
        reached = loss.risk(relevance, chosen)
        for i, labeling in enumerate(map(tuple, chosen.tolist())):
            expected = counted_risks(loss, relevance, i)
            assert expected[labeling] <= min(expected.values()) + 1e-11
            assert reached[i] == pytest.approx(expected[labeling], abs=1e-11)


@settings(max_examples=20, deadline=None)
@given(relevance=st.one_of(marginals(5), never_empty(5), label_sets(5)), k=st.integers(1, 3))
def test_propensity_scored_precision_is_best_of_all_labelings(relevance, k):
    K = relevance.n_labels
    loss = PropensityScored(k, tuple(np.linspace(0.2, 1, K)))
    every = labelings(K)
    values = np.array([loss.value([y] * len(every), every) for y in every])
    chosen = loss.minimise(relevance)
    np.testing.assert_allclose(
        loss.risk(relevance, chosen),
        [(distribution(relevance, i) @ values).min() for i in range(3)],
        rtol=1e-11,
        atol=1e-11,
    )


def order_value(measure, k, y, order):
    """What an order of labels costs where y is true, by scikit-learn or by hand."""
    K = len(y)
    score = np.empty(K)
    score[list(order)] = -np.arange(K)
    if measure == "rank":
        return sum(y[i] > y[j] and score[i] < score[j] for i in range(K) for j in range(K))
    if measure == "label-ranking":
        return label_ranking_loss([y], [score])
    if measure == "recall":
        return 1 - sum(y[j] for j in order[:k]) / max(sum(y), 1)
    if measure == "ndcg":
        return 1 - ndcg_score([y], [score], k=k)
    return -dcg_score([y], [score], k=k)


@pytest.mark.parametrize("measure", ["rank", "label-ranking", "dcg", "recall", "ndcg"])
def test_the_order_is_the_best_of_all_orders(measure):
    rng = np.random.default_rng(0)
    K, k = 4, 2
    every, orders = labelings(K), list(permutations(range(K)))
    costs = np.array([[order_value(measure, k, y, order) for order in orders] for y in every])
    sets = LabelSets.from_rows([(rng.random((5, K)) < 0.5, rng.dirichlet(np.ones(5))) for _ in range(40)])
    p = np.concatenate([rng.random((30, K)), rng.integers(0, 3, (10, K)) / 2])
    for belief in (sets, Marginals(p)):
        for i, order in enumerate(rank_by(belief, measure, k).tolist()):
            expected = distribution(belief, i) @ costs
            assert expected[orders.index(tuple(order))] <= expected.min() + 1e-12


def test_shared_beliefs_are_ranked_as_if_spelled_out():
    rng = np.random.default_rng(1)
    shared = Shared(
        LabelSets.from_rows([(np.eye(4, dtype=int), rng.dirichlet(np.ones(4))) for _ in range(3)]), [2, 0, 2]
    )
    np.testing.assert_array_equal(rank_by(shared, "recall"), rank_by(shared.spelled_out(), "recall"))


def test_a_budget_works_with_aggregations_and_limits():
    rng = np.random.default_rng(2)
    members = [Marginals(rng.random((20, 5))) for _ in range(4)]
    for aggregation in ("ctp", "ptc-mbr", "ptc-mode"):
        assert (decide(members, TopK(2), aggregation).sum(axis=1) == 2).all()
    limits = Constraints(exclusive=((0, 1, 2),))
    assert limits.allows(minimise_within(TopK(2, "recall"), members[0], limits)).all()


def test_what_is_wrong_is_said():
    with pytest.raises(ComitiaError, match="k must be a positive number"):
        TopK(0)
    with pytest.raises(ComitiaError, match="weight must be"):
        TopK(1, "map")
    with pytest.raises(ComitiaError, match="measure must be"):
        rank_by(Marginals([[0.1]]), "map")
    with pytest.raises(ComitiaError, match="2 numbers for 3 labels"):
        PropensityScored(1, (0.5, 0.5)).minimise(Marginals([[0.1, 0.2, 0.3]]))
    with pytest.raises(ComitiaError, match=r"in \(0, 1\]"):
        PropensityScored(1, (0.0, 0.5))
    with pytest.raises(ComitiaError, match="three instances"):
        propensities([[1]])
