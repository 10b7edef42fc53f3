"""Beliefs: what they say of the labels, and what they refuse."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from comitia._errors import ComitiaError
from comitia.losses import FLoss, SubsetZeroOne
from comitia.relevance import LabelSets, Marginals, NonEmpty, Observed, Seen, Shared, _kernels, votes
from comitia.relevance._base import Memory


def test_label_sets_marginals_are_the_weighted_sums_of_their_labelings():
    rng = np.random.default_rng(0)
    table = np.unique(rng.integers(0, 2, (30, 70)), axis=0).astype(np.int8)
    weights = rng.dirichlet(np.ones(len(table)), 9)
    np.testing.assert_allclose(LabelSets(table, weights).marginals(), weights @ table, rtol=1e-13)


def test_votes_count_labelings_as_numpy_unique_does():
    rng = np.random.default_rng(1)
    for n_labels in (1, 8, 63, 64, 65, 130):
        centre = rng.random((1, 12, n_labels)) < 0.3
        cast = (centre ^ (rng.random((15, 12, n_labels)) < 0.5 / n_labels)).astype(np.int8)
        ballot = votes(cast)
        assert ballot.total == 15
        dense = ballot.weights.toarray()
        for i in range(12):
            distinct, counts = np.unique(cast[:, i], axis=0, return_counts=True)
            expected = dict(zip(map(tuple, distinct), counts, strict=True))
            found = {tuple(ballot.table[u]): dense[i, u] for u in np.flatnonzero(dense[i])}
            assert found == expected


def test_votes_keep_the_order_in_which_labelings_were_cast():
    ballot = votes([[[0, 1], [1, 1]], [[1, 1], [0, 1]], [[0, 1], [0, 1]]])
    order = [ballot.table[ballot.weights.indices[ballot.weights.indptr[i]]].tolist() for i in range(2)]
    assert order == [[0, 1], [1, 1]]


@pytest.mark.parametrize("each", [False, True])
def test_votes_of_members_of_no_weight_are_passed_over_wherever_they_stand(each):
    rng = np.random.default_rng(2)
    cast = rng.integers(0, 2, (9, 20, 2))
    weights = rng.integers(0, 3, (9, 20) if each else 9).astype(float)
    ballot = votes(cast, weights)
    mass = np.broadcast_to(weights if each else weights[:, None], (9, 20))
    expected = [[mass[(cast[:, i] == row).all(axis=1), i].sum() for row in ballot.table] for i in range(20)]
    np.testing.assert_array_equal(ballot.weights.toarray(), expected)
    np.testing.assert_array_equal(np.broadcast_to(ballot.total, 20), mass.sum(axis=0))
    assert (ballot.weights.data > 0).all()


def test_weighted_votes_add_member_weights_and_pass_over_members_of_no_weight():
    ballot = votes([[[0, 1]], [[1, 1]], [[0, 1]], [[0, 0]]], weights=[0.5, 2, 1, 0])
    assert ballot.total == 3.5
    assert dict(zip(map(tuple, ballot.table.tolist()), ballot.weights.toarray()[0], strict=True)) == {
        (0, 1): 1.5,
        (1, 1): 2.0,
    }


def test_rows_of_label_sets_may_repeat_a_labeling():
    belief = LabelSets.from_rows([([[1, 0], [1, 0], [0, 0]], [0.2, 0.3, 0.5]), ([[0, 0]], [1.0])])
    np.testing.assert_allclose(belief.weights.toarray(), [[0.5, 0.5], [0, 1]])


def test_distinct_distributions_rebuild_the_whole():
    rng = np.random.default_rng(2)
    cast = rng.integers(0, 2, (3, 200, 2)).astype(np.int8)
    ballot = votes(cast)
    few, place = ballot.distinct()
    assert few.n_instances < 70
    np.testing.assert_array_equal(few.take(place).weights.toarray(), ballot.weights.toarray())


def test_taking_instances_keeps_their_beliefs_and_totals():
    belief = LabelSets([[1, 0], [0, 1]], csr_array([[1.0, 2.0], [4.0, 0.0]]), total=[3.0, 4.0])
    np.testing.assert_allclose(belief.take(np.array([1, 0, 1])).marginals(), [[1, 0], [1 / 3, 2 / 3], [1, 0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Marginals([[0.5, 1.5]]), r"in \[0, 1\]; got 1.5 for instance 0, label 1"),
        (lambda: Marginals([[0.5, np.nan]]), "got nan for instance 0, label 1"),
        (lambda: Marginals([[-0.1]]), "got -0.1"),
        (lambda: Marginals([0.5]), r"shape \(n, K\) with K ≥ 1; got shape \(1,\)"),
        (lambda: Marginals(np.empty((3, 0))), "K ≥ 1"),
        (lambda: Marginals([["a"]]), "real numbers"),
        (lambda: LabelSets([[1, 0], [0, 1]], [[0.5, 0.4]]), "instance 0 sum to 0.9"),
        (lambda: LabelSets([[1, 0], [0, 1]], [[1.5, -0.5]]), "not negative"),
        (lambda: LabelSets([[1, 0], [0, 1]], [[np.nan, 1]]), "finite"),
        (lambda: LabelSets([[1, 0], [1, 0]], [[0.5, 0.5]]), "each labeling once"),
        (lambda: LabelSets([[1, 2]], [[1.0]]), "0 and 1 only; got 2 in row 0, column 1"),
        (lambda: LabelSets([[1, 0]], [[0.5, 0.5]]), "a column for each of the 1 rows"),
        (lambda: LabelSets([[1, 0]], [[2.0]], total=[2.0, 3.0]), "one for each of 1 instances"),
        (lambda: LabelSets([[1, 0]], [[2.0]], total=0), "positive"),
        (lambda: LabelSets(np.empty((1, 0)), [[1.0]]), "K ≥ 1"),
        (lambda: LabelSets.from_rows([]), "rows is empty"),
        (lambda: LabelSets.from_rows([([[1, 0]], [0.5, 0.5])]), "instance 0 has 1 labelings"),
        (lambda: LabelSets.from_rows([([[1, 0]], [1]), ([[1]], [1])]), "instance 1 has 1 labels"),
        (lambda: votes(np.zeros((2, 3))), r"shape \(M, n, K\)"),
        (lambda: votes([[[0, 1]], [[0, 3]]]), "labelings of member 1 must hold 0 and 1 only; got 3"),
        (lambda: votes([[[0, 1]], [[0]]]), "member 1 has labelings of shape"),
        (lambda: votes([]), "no votes"),
        (lambda: votes([[[0, 1]]], weights=[0]), "not all zero"),
        (lambda: Shared(Marginals([[0.5]]), [1]), r"index must lie in 0..0"),
        (lambda: Shared(Marginals([[0.5]]), [0.5]), "integers"),
    ],
)
def test_what_is_no_belief_is_refused_with_the_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("wrong", [-0.1, 1.5, np.nan])
def test_what_is_no_probability_is_found_wherever_it_stands(wrong):
    p = np.random.default_rng(0).random((9000, 100))
    Marginals(p)
    p[8765, 43] = wrong
    with pytest.raises(ComitiaError, match=rf"got {wrong} for instance 8765, label 43"):
        Marginals(p)


def test_votes_with_weights_of_each_instance_are_counted_as_if_it_stood_alone():
    rng = np.random.default_rng(4)
    cast = rng.integers(0, 2, (6, 5, 3))
    w = rng.integers(0, 2, (6, 5)) + np.eye(6, 5)
    ballot = votes(cast, w)
    for i in range(5):
        alone = votes(cast[:, [i]], w[:, i])
        np.testing.assert_allclose(ballot.take(np.array([i])).marginals(), alone.marginals())


def test_the_inside_of_a_sparse_matrix_is_not_trusted():
    damaged = csr_array((np.array([1.0]), np.array([5]), np.array([0, 1])), shape=(1, 2))
    with pytest.raises(ValueError, match="weights must be a whole CSR matrix"):
        LabelSets([[0, 1], [1, 0]], damaged)
    repeated = csr_array((np.array([0.3, 0.4, 0.3]), np.array([0, 1, 0]), np.array([0, 3])), shape=(1, 2))
    belief = LabelSets([[0, 1], [1, 0]], repeated)
    assert SubsetZeroOne().minimise(belief).tolist() == [[0, 1]], "three tenths twice are more than four"


def test_distributions_whose_fingerprints_agree_are_compared(monkeypatch):
    belief = LabelSets([[0, 1], [1, 0]], [[0.9, 0.1], [0.1, 0.9], [0.9, 0.1]])
    assert belief.distinct()[0].n_instances == 2
    monkeypatch.setattr(_kernels, "fingerprint_rows", lambda *arrays: arrays[-1].fill(7))
    few, place = belief.distinct()
    np.testing.assert_array_equal(few.take(place).weights.toarray(), belief.weights.toarray())


def test_weights_that_have_no_sum_are_refused():
    with pytest.raises(ValueError, match="finite, also in sum"):
        votes([[[0, 1]], [[1, 1]]], weights=[1e308, 1e308])


def test_what_is_known_of_instances_goes_with_beliefs_that_are_shared():
    known = Observed(np.array([[1, 0], [0, 1]], np.int8), np.array([3.0, 2.0]), np.array([0, 1, 1]), np.ones(3))
    shared = Shared(Marginals([[0.6, 0.7], [0.2, 0.9]]), np.array([1, 0, 1]), about=known)
    some = shared.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.index, [1, 1])
    np.testing.assert_array_equal(some.about.own, [1, 0])
    assert some.memory is shared.memory
    assert shared.spelled_out().observed is known
    for reading in (Seen(), NonEmpty()):
        alone = reading(Marginals(shared.marginals(), known))
        np.testing.assert_allclose(reading(shared).marginals(), alone.marginals(), atol=1e-12)
        np.testing.assert_array_equal(
            SubsetZeroOne().minimise(reading(shared)), SubsetZeroOne().minimise(alone), strict=True
        )
    plain = Shared(shared.of, shared.index)
    assert plain.take(np.array([1])).about is None
    np.testing.assert_allclose(NonEmpty()(plain).of.marginals(), NonEmpty()(shared.of).marginals(), atol=1e-12)


def test_labelsets_of_no_weight_are_left_out():
    sets = LabelSets([[1, 0], [0, 1]], csr_array(([0.0, 1.0, 1.0], [0, 1, 0], [0, 2, 3]), shape=(2, 2)))
    np.testing.assert_array_equal(sets.weights.indices, [1, 0])
    np.testing.assert_array_equal(sets.weights.data, [1.0, 1.0])


def test_rows_are_alike_if_they_have_the_same_entries_and_the_same_scale():
    rows = [([1, 2], [0.5, 0.5]), ([1, 2], [0.5, 0.5]), ([], []), ([3], [1.0]), ([1, 2], [0.5, 0.5]), ([3], [1.0])]
    scale = np.ones(6)

    def alike(other, rows=rows, scale=scale):
        indptr = np.cumsum([0, *(len(columns) for columns, _ in rows)])
        indices, data = (np.concatenate([row[part] for row in rows]) for part in (0, 1))
        return _kernels.rows_are_alike(indptr, indices.astype(np.int32), data.astype(float), scale, np.array(other))

    assert alike([0, 0, 2, 3, 0, 3])
    assert alike([4, 1, 2, 5, 1, 5])
    for i in range(6):
        for j in range(6):
            other = np.arange(6)
            other[i] = j
            assert alike(other) == (rows[i] == rows[j])
    assert not alike([0, 0, 2, 3, 0, 3], scale=np.array([1, 2, 1, 1, 1, 1.0]))
    assert not alike([0, 0, 2, 3, 0, 3], [*rows[:5], ([3], [1.5])])


def test_what_is_remembered_of_losses_is_that_of_the_last_eight():
    memory = Memory()
    kept = [memory.of_loss(FLoss(beta=beta), (2, 3)) for beta in range(1, 9)]
    assert len(memory) == 8
    assert all(memory.of_loss(FLoss(beta=beta), (2, 3)) is kept[beta - 1] for beta in range(1, 9))
    memory.of_loss(FLoss(beta=9), (2, 3))
    assert len(memory) == 8
    assert memory.of_loss(FLoss(beta=2), (2, 3)) is kept[1]
    assert memory.of_loss(FLoss(beta=1), (2, 3)) is not kept[0], "the one that was used first is forgotten"
