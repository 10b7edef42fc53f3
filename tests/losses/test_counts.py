"""Losses of counts against exhaustive search."""

import re
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import matthews_corrcoef, precision_score, recall_score

from comitia import ComitiaError, decide
from comitia.losses import FLoss, JaccardLoss
from comitia.losses._counts import (
    CountLoss,
    FowlkesMallows,
    Informedness,
    LossOfCounts,
    Matthews,
    Precision,
    Recall,
    tables_of,
)
from comitia.relevance import LabelSets, Marginals, Relevance
from tests.losses.test_minimisers import label_sets, marginals, never_empty
from tests.oracle import distribution, labelings


def f1(tp, fp, fn, tn):
    return 1 - np.where(tp + fp + fn > 0, 2 * tp / np.maximum(2 * tp + fp + fn, 1), 1.0)


def jaccard(tp, fp, fn, tn):
    return 1 - np.where(tp + fp + fn > 0, tp / np.maximum(tp + fp + fn, 1), 1.0)


def steep(tp, fp, fn, tn):
    """Neither linear in hits nor in [0, 1]."""
    return (fn + 1.0) ** 2 + fp * np.sqrt(fp) - 0.1 * tn


VARIANTS = [
    Precision(),
    Precision(recall_floor=0.6, zero_division=0.5),
    Recall(),
    Recall(precision_floor=0.5),
    Recall(zero_division=0),
    Informedness(),
    Matthews(),
    Matthews(zero_division=1),
    FowlkesMallows(),
    FowlkesMallows(zero_division=0),
    CountLoss(f1),
    CountLoss(jaccard),
    CountLoss(steep),
]
IDS = [re.sub(r"<function (\w+) at \w+>", r"\1", str(loss)) for loss in VARIANTS]


def counted_risks(loss: LossOfCounts, relevance: Relevance, i: int) -> dict[tuple[int, ...], float]:
    """The expected loss of every labeling for instance i, from counts taken label by label."""
    values = loss.of_counts(*cells(relevance.n_labels))
    return dict(zip(labelings(relevance.n_labels), (distribution(relevance, i) @ values).tolist(), strict=True))


@lru_cache
def cells(n_labels: int) -> list[np.ndarray]:
    """True and false positives, false and true negatives of every pair of labelings."""
    every = labelings(n_labels)
    return [
        np.array([[sum((a, b) == cell for a, b in zip(y, h, strict=True)) for h in every] for y in every], float)
        for cell in ((1, 1), (0, 1), (1, 0), (0, 0))
    ]


@pytest.mark.parametrize("loss", VARIANTS, ids=IDS)
@settings(max_examples=25, deadline=None)
@given(relevance=st.one_of(marginals(5), never_empty(5), label_sets(5)), data=st.data())
def test_minimise_reaches_the_smallest_risk_of_all_labelings_and_risk_is_the_expectation(loss, relevance, data):
    chosen = loss.minimise(relevance)
    other = [data.draw(st.sampled_from(labelings(relevance.n_labels))) for _ in range(3)]
    reached, elsewhere = loss.risk(relevance, chosen), loss.risk(relevance, other)
    for i in range(3):
        expected = counted_risks(loss, relevance, i)
        assert expected[tuple(chosen[i].tolist())] <= min(expected.values()) + 1e-11
        np.testing.assert_allclose(reached[i], expected[tuple(chosen[i].tolist())], rtol=1e-11, atol=1e-11)
        np.testing.assert_allclose(elsewhere[i], expected[other[i]], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("K", [7, 40, 150])
def test_the_f_measure_and_the_jaccard_index_are_minimised_as_by_their_own_algorithms(K):
    rng = np.random.default_rng(K)
    belief = Marginals(np.concatenate([rng.random((20, K)), rng.random((20, K)) ** 5, rng.integers(0, 3, (9, K)) / 2]))
    for counted, own in ((CountLoss(f1), FLoss()), (CountLoss(jaccard), JaccardLoss())):
        np.testing.assert_allclose(
            own.risk(belief, counted.minimise(belief)), own.risk(belief, own.minimise(belief)), rtol=1e-10, atol=1e-10
        )
        h = (rng.random((49, K)) < 0.4).astype(np.int8)
        np.testing.assert_allclose(counted.risk(belief, h), own.risk(belief, h), rtol=1e-10, atol=1e-10)


def test_label_sets_of_many_labels_are_minimised_for_f1_as_by_its_own_algorithm():
    rng = np.random.default_rng(0)
    belief = LabelSets.from_rows(
        [(rng.random((15, 40)) < rng.random(40) ** 2, rng.dirichlet(np.ones(15))) for _ in range(30)]
    )
    own = FLoss()
    np.testing.assert_allclose(
        own.risk(belief, CountLoss(f1).minimise(belief)), own.risk(belief, own.minimise(belief)), rtol=1e-11
    )


def test_a_search_among_many_labels_is_never_worse_than_what_the_belief_names_or_the_top_sets():
    rng = np.random.default_rng(1)
    loss, K = Recall(precision_floor=0.5), 12
    belief = LabelSets.from_rows([(rng.random((9, K)) < 0.4, rng.dirichlet(np.ones(9))) for _ in range(12)])
    reached = loss.risk(belief, loss.minimise(belief))
    order = np.argsort(-belief.marginals(), axis=1, kind="stable")
    for k in range(K + 1):
        top = np.zeros((12, K), np.int8)
        np.put_along_axis(top, order[:, :k], 1, axis=1)
        assert (reached <= loss.risk(belief, top) + 1e-12).all()
    for i in range(12):
        for row in belief.table[belief.take(np.array([i])).weights.indices]:
            assert reached[i] <= loss.risk(belief, np.tile(row, (12, 1)))[i] + 1e-12


def test_tables_know_which_losses_are_linear_in_the_hits():
    linear = {type(loss).__name__: tables_of(loss, 9).linear for loss in (Precision(), Recall(), Informedness())}
    assert linear == {"Precision": True, "Recall": True, "Informedness": True}
    assert tables_of(Matthews(), 9).linear
    assert tables_of(FowlkesMallows(), 250).linear
    assert not tables_of(CountLoss(jaccard), 9).linear
    assert not tables_of(Recall(precision_floor=0.5), 9).linear


def test_values_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    y, h = rng.integers(0, 2, (2, 30, 6))
    np.testing.assert_allclose(
        Precision().value(y, h).mean(), 1 - precision_score(y, h, average="samples", zero_division=0)
    )
    np.testing.assert_allclose(Recall().value(y, h).mean(), 1 - recall_score(y, h, average="samples", zero_division=1))
    mcc = [matthews_corrcoef(a, b) for a, b in zip(y, h, strict=True)]
    np.testing.assert_allclose(Matthews().value(y, h), (1 - np.array(mcc)) / 2, atol=1e-12)


def test_every_aggregation_decides_for_a_loss_of_counts():
    rng = np.random.default_rng(3)
    members = [Marginals(rng.random((20, 5))) for _ in range(4)]
    for aggregation in ("gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr"):
        assert decide(members, Matthews(), aggregation).shape == (20, 5)


def test_what_cannot_be_minimised_exactly_is_refused_with_what_to_do():
    with pytest.raises(ComitiaError, match="Use a CustomLoss"):
        CountLoss(lambda tp, fp, fn, tn: tp).minimise(Marginals([[0.4, 0.5]]))
    with pytest.raises(ComitiaError, match="takes up to 200 labels; got 300"):
        CountLoss(jaccard).minimise(Marginals(np.full((1, 300), 0.5)))
    with pytest.raises(ComitiaError, match="must return finite losses; for tp=0"), np.errstate(all="ignore"):
        CountLoss(lambda tp, fp, fn, tn: fn / tp).minimise(Marginals([[0.4, 0.5]]))
    with pytest.raises(ComitiaError, match="recall_floor must lie in"):
        Precision(recall_floor=2)


def test_of_sizes_that_tie_the_smallest_is_taken():
    assert Precision().minimise(Marginals(np.full((1, 300), 0.3))).sum() == 1
    assert Precision(recall_floor=0.0).minimise(Marginals(np.ones((1, 50)))).sum() == 1
