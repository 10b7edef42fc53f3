"""Every compiled loop beside a plain version of itself."""

import numpy as np
import pytest
from benchmarks.decisions import f1_of_row, f1_of_votes, mode_of_row
from scipy.sparse import csr_array

from comitia import FLoss, JaccardLoss, LabelSets, Marginals, SubsetZeroOne, votes
from comitia._labels import LabelRows, distinct_rows, pack, unpack
from comitia.ensembles._fingerprints import fingerprints
from comitia.losses import _independent, _spans
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


BITS = 2**64 - 1


def mixed(place, word):
    """What a word at a place adds to the two halves of a fingerprint: the finaliser of SplitMix64, twice."""
    if word << 1 & BITS == 0:
        return np.zeros(2, object)
    x, halves = place * 0x9E3779B97F4A7C15 & BITS ^ word, []
    for _ in range(2):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
            x = (x ^ x >> shift) * factor & BITS
        halves.append(x)
        x = x + 0x243F6A8885A308D3 & BITS
    return np.array(halves, object)


def test_fingerprints_of_instances_add_up_words_of_features_and_labels_at_their_places():
    X = RNG.random((20, 5)) * (RNG.random((20, 5)) < 0.5)
    X[0], X[1, 0] = 0.0, -0.0
    Y = (RNG.random((20, 130)) < 0.05).astype(np.int8)
    expected = [
        sum(mixed(-1 - k, word) for k, word in enumerate(words)) + sum(mixed(k, word) for k, word in enumerate(bits))
        for words, bits in zip(pack(Y).tolist(), X.view(np.uint64).tolist(), strict=True)
    ]
    expected = np.array([row & BITS for row in expected]).astype(np.uint64)
    for features in (X, csr_array(X), np.asfortranarray(X)):
        for labels in (Y, LabelRows.of(csr_array(Y), "Y")):
            np.testing.assert_array_equal(fingerprints(features, labels), expected)


def test_fingerprints_of_distributions_are_two_chains_over_their_entries():
    indptr, indices = np.array([0, 2, 2, 5]), np.array([3, 0, 1, 2, 7], np.int32)
    data, scale, found = RNG.random(5), RNG.random(3), np.empty((3, 2), np.uint64)
    _kernels.fingerprint_rows(indptr, indices, data, scale, found)
    words, scales = data.view(np.uint64).tolist(), scale.view(np.uint64).tolist()
    for i in range(3):
        a, b = 0x243F6A8885A308D3 ^ scales[i], 0x13198A2E03707344
        for e in range(indptr[i], indptr[i + 1]):
            a = (a ^ int(indices[e])) * 0x9E3779B97F4A7C15 & BITS
            a ^= a >> 32
            a = (a ^ words[e]) * 0xBF58476D1CE4E5B9 & BITS
            a ^= a >> 29
            b = (b + words[e]) * 0x94D049BB133111EB & BITS
            b ^= b >> 31
            b = (b + int(indices[e])) * 0xD6E8FEB86659FD93 & BITS
            b ^= b >> 32
        assert found[i].tolist() == [a, b]


SKEWED = [np.sort(RNG.random(K) ** skew)[::-1] for K in (1, 2, 9, 40) for skew in (0.3, 1, 6)] + [np.full(60, 1e-13)]


@pytest.mark.parametrize("beta2", [0.25, 1.0, 4.0])
def test_the_sizes_that_may_be_best_are_those_whose_upper_bound_reaches_the_best_lower_one(beta2):
    for p in SKEWED:
        for empty in (-1.0, 0.0, np.prod(1 - p)):
            for smallest, largest in ((1, len(p)), ((len(p) + 1) // 2, len(p))):
                k = np.arange(smallest, largest + 1)
                first, second = (np.concatenate([[0], np.cumsum(p**power)])[k] for power in (1, 2))
                c, mean, variance = k + beta2, p.sum(), (p * (1 - p)).sum()
                A, B = c + beta2 * mean, c + beta2 * mean - beta2 * p.max()
                lower = (1 + beta2) * (first + beta2 * second / A) / A
                upper = (first + beta2 * second / B) / A + first * beta2**2 * variance / (B**2 * c)
                upper = (1 + beta2) * np.minimum(upper, first / c)
                worth = k[upper >= (1 - 1e-9) * max(empty, lower.max())]
                expected = (worth[0], worth[-1]) if len(worth) else (smallest, largest) if empty < 0 else (0, 0)
                found = _independent.sizes_worth_a_look(
                    p, beta2, empty, smallest, largest, np.empty(len(p) + 1), np.empty(len(p) + 1)
                )
                assert found == expected


def test_counts_of_labels_leave_out_at_their_ends_what_is_negligible():
    for p in SKEWED:
        exact, mean = np.ones(1), 0.0
        rows, left, right = _independent._prefix_counts(p, 1, len(p))
        for k, q in enumerate(p):
            exact, mean = np.convolve(exact, [1 - q, q]), mean + q
            low, high = left[k], right[k]
            np.testing.assert_allclose(rows[k, low : high + 1], exact[low : high + 1], rtol=1e-9, atol=1e-23)
            assert exact[:low].sum() < (k + 1) * 1e-24
            assert exact[high + 1 :].sum() < (k + 1) * 1e-24 * mean
            assert exact[low] >= 1e-24 or low == high
            assert exact[high] >= 1e-24 * mean or low == high
        counts, _, low, high = _independent._suffix_counts(p, 0, len(p))
        np.testing.assert_allclose(counts[low : high + 1], exact[low : high + 1], rtol=1e-9, atol=1e-23)
        assert exact[:low].sum() + exact[high + 1 :].sum() < 2 * len(p) * 1e-24


def test_bounds_on_partial_answers_are_the_formulas_and_hold():
    for p in SKEWED[:9]:
        K = len(p)
        sums = np.stack([np.concatenate([[0], np.cumsum(term)]) for term in (p, p * p, p * (1 - p))])
        penalty = 0.3 * np.arange(K + 1) / K
        for beta2 in (0.25, 1.0, 4.0):
            sure, most = [], []
            for r in range(K + 1):
                for top in range(1, K - r + 1):
                    missed, kept = sums[:, K] - sums[:, K - r], sums[:, top]
                    c = top + beta2
                    A = c + beta2 * (kept[0] + missed[0])
                    B = A - beta2 * p[0]
                    sure.append((1 + beta2) * (kept[0] + beta2 * kept[1] / A) / A - penalty[K - top - r])
                    upper = (kept[0] + beta2 * kept[1] / B) / A
                    upper += kept[0] * beta2**2 * (kept[2] + missed[2]) / (B * B * c)
                    most.append((1 + beta2) * min(upper, kept[0] / c))
                    assert _spans._at_most(p, sums, beta2, top, r) == pytest.approx(most[-1], rel=1e-12)
                    hits, misses = poisson_binomial(p[:top]), poisson_binomial(p[K - r :])
                    j, m = np.arange(top + 1)[:, None], np.arange(r + 1)
                    exact = (1 + beta2) * hits @ (j / (top + beta2 * (j + m))) @ misses
                    assert exact <= most[-1] * (1 + 1e-12)
                    assert exact - penalty[K - top - r] >= sure[-1] - 1e-12
            reach = max(sure)
            assert _spans._within_reach(p, sums, beta2, penalty) == pytest.approx(reach - 1e-9 * abs(reach), rel=1e-13)
