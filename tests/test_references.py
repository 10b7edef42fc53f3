"""Every compiled loop beside a plain version of itself."""

import numpy as np
import pytest
from benchmarks.decisions import f1_of_row, f1_of_votes, mode_of_row

from comitia import FLoss, JaccardLoss, LabelSets, Marginals, SubsetZeroOne, votes
from comitia._labels import distinct_rows, pack, unpack
from comitia.losses import _independent
from comitia.relevance import _kernels
from comitia.relevance._labelsets import merge_rows

RNG = np.random.default_rng(0)


def poisson_binomial(p):
    counts = np.ones(1)
    for q in p:
        counts = np.convolve(counts, [1 - q, q])
    return counts


@pytest.mark.parametrize("shape", [(200, 3), (100, 40), (20, 300)])
@pytest.mark.parametrize("skew", [1, 4, 30])
def test_f1_from_marginals_equals_the_recurrence_in_numpy(shape, skew):
    p = RNG.random(shape) ** skew
    expected = np.stack([f1_of_row(row) for row in p])
    chosen = FLoss().minimise(Marginals(p))
    differ = (chosen != expected).any(axis=1)
    same_risk = FLoss().risk(Marginals(p), chosen) - FLoss().risk(Marginals(p), expected)
    assert np.abs(same_risk).max() < 1e-13
    assert differ.mean() < 0.05, "only rounding may tell them apart"


def test_jaccard_from_marginals_equals_the_factorised_expectation_in_numpy():
    p = RNG.random((60, 25)) ** 3
    for row, chosen in zip(p, JaccardLoss().minimise(Marginals(p)), strict=True):
        q = np.sort(row)[::-1]
        values = [np.prod(1 - q)]
        for k in range(1, len(q) + 1):
            rest = poisson_binomial(q[k:])
            values.append(q[:k].sum() * (rest / (k + np.arange(len(rest)))).sum())
        assert chosen.sum() == np.argmax(values)


def test_f1_over_votes_equals_numpy_row_by_row():
    cast = (RNG.random((15, 80, 12)) < RNG.random((80, 12)) ** 2).astype(np.int8)
    ballot = votes(cast)
    chosen = FLoss().minimise(ballot)
    expected = np.stack([f1_of_votes(cast[:, i], np.full(15, 1 / 15)) for i in range(80)])
    np.testing.assert_allclose(FLoss().risk(ballot, chosen), FLoss().risk(ballot, expected), atol=1e-14)


def test_modes_equal_numpy_unique_row_by_row():
    cast = (RNG.random((15, 200, 4)) < RNG.random((200, 4))).astype(np.int8)
    chosen = SubsetZeroOne().minimise(votes(cast))
    for i in range(200):
        expected = mode_of_row(cast[:, i])
        count, score = ((cast[:, i] == labeling).all(axis=1).sum() for labeling in (chosen[i], expected))
        assert count == score
        assert (cast[:, i] == chosen[i]).sum() == (cast[:, i] == expected).sum()


@pytest.mark.parametrize("K", [1, 7, 8, 9, 63, 64, 65, 200])
def test_packing_is_undone_by_unpacking_and_sees_every_label(K):
    labels = RNG.integers(0, 2, (50, K)).astype(np.int8)
    words = pack(labels)
    assert words.shape == (50, -(-K // 64))
    np.testing.assert_array_equal(unpack(words, K), labels)
    labels[17, K - 1] = 3
    with pytest.raises(ValueError, match=f"got 3 in row 17, column {K - 1}"):
        pack(labels)


def test_distinct_rows_are_those_of_numpy_in_the_order_of_their_first_occurrence():
    labels = RNG.integers(0, 2, (300, 6)).astype(np.int8)
    table, place = distinct_rows(labels)
    np.testing.assert_array_equal(table[place], labels)
    _, first = np.unique(labels, axis=0, return_index=True)
    np.testing.assert_array_equal(table, labels[np.sort(first)])


def test_merging_adds_repeated_columns_where_they_first_stood():
    merged = merge_rows(np.array([0, 4, 4, 6]), np.array([2, 0, 2, 1, 1, 1], np.int32), np.arange(1.0, 7.0), 3)
    assert merged.indptr.tolist() == [0, 3, 3, 4]
    assert merged.indices.tolist() == [2, 0, 1, 1]
    assert merged.data.tolist() == [4.0, 2.0, 4.0, 11.0]


def test_label_set_sums_equal_a_matrix_product():
    table = RNG.integers(0, 2, (9, 5)).astype(np.int8)
    sets = LabelSets.unchecked(table=table, weights=votes(RNG.integers(0, 2, (4, 30, 3))).weights, total=4.0)
    out = np.zeros((30, 5))
    _kernels.add_labelsets(sets.weights.indptr, sets.weights.indices, sets.weights.data, table, out)
    np.testing.assert_allclose(out, sets.weights.toarray() @ table[: sets.weights.shape[1]])


def test_fingerprints_differ_where_rows_do_and_agree_where_they_do():
    ballot = votes(RNG.integers(0, 2, (3, 500, 2)))
    _, place = ballot.distinct()
    dense = ballot.weights.toarray()
    order = [
        tuple(ballot.weights.indices[a:b])
        for a, b in zip(ballot.weights.indptr, ballot.weights.indptr[1:], strict=False)
    ]
    keys = [(tuple(row), stored) for row, stored in zip(dense, order, strict=True)]
    assert len(set(keys)) == place.max() + 1
    assert len(set(zip(keys, place.tolist(), strict=True))) == len(set(keys))


def test_counts_of_relevant_labels_are_poisson_binomial():
    p = RNG.random(30)
    a, b = np.empty(32), np.empty(32)
    a[0], low, high = 1.0, 0, 0
    for q in p:
        low, high = _independent.add_label(a, low, high, q, 0.0, b)
        a, b = b, a
    np.testing.assert_allclose(a[low : high + 1], poisson_binomial(p)[low : high + 1], rtol=1e-12)


@pytest.mark.parametrize(("gain", "on_hit", "on_miss"), [(2.0, 1.0, 1.0), (1.25, 0.25, 0.25), (1.0, 0.0, 1.0)])
def test_expected_overlap_equals_the_double_sum_in_numpy(gain, on_hit, on_miss):
    p = RNG.random((20, 9))
    h = (RNG.random((20, 9)) < 0.4).astype(np.int8)
    found = np.empty(20)
    _independent.expected_overlap(p, h, gain, on_hit, on_miss, 1.0, 0, 20, found)
    for row, labeling, value in zip(p, h, found, strict=True):
        hits, misses = poisson_binomial(row[labeling == 1]), poisson_binomial(row[labeling == 0])
        if not labeling.any():
            assert value == pytest.approx(misses[0])
            continue
        j, m = np.arange(len(hits))[:, None], np.arange(len(misses))
        assert value == pytest.approx(
            (hits[:, None] * misses * gain * j / (labeling.sum() + on_hit * j + on_miss * m)).sum()
        )
