import numba
import numpy as np
import pytest

from comitia._errors import ComitiaError
from comitia._label_trie import LabelTrie
from comitia._labels import distinct_rows
from comitia.losses import FLoss
from comitia.relevance import LabelSets
from comitia.relevance._seen import seen_label_sets
from tests.oracle import labelings


def plain(p, table, counts, a, own=None, own_weight=None):
    """P(y) ∝ count(y)^a Π p_k^{y_k} (1 − p_k)^{1 − y_k}, written out row by row."""
    out = np.zeros((len(p), len(table)))
    for i, q in enumerate(p):
        count = np.array(counts, float)
        if own is not None and own[i] >= 0:
            count[own[i]] -= 1 if own_weight is None else own_weight[i]
        factor = np.where(count > 1e-9, np.maximum(count, 1e-9) ** a, 0)
        out[i] = factor * np.where(table == 1, q, 1 - q).prod(axis=1)
        out[i] /= out[i].sum()
    return out


def skewed(rng, n, K, U, most=4):
    """Marginals and distinct label sets of skewed frequencies."""
    frequency = np.sort(rng.beta(0.5, 2, K))[::-1]
    table, place = distinct_rows((rng.random((U, K)) < frequency).astype(np.int8))
    p = np.clip(rng.beta(0.4, 0.4 * (1 - frequency) / frequency, (n, K)), 1e-12, 1 - 1e-12)
    return p, table, np.bincount(place).astype(float)


@pytest.mark.parametrize("K", [1, 3, 8])
def test_with_all_labelings_seen_alike_it_is_the_independent_distribution(K):
    p = np.random.default_rng(K).random((20, K))
    table = np.array(labelings(K), np.int8)
    seen = seen_label_sets(p, table, np.full(len(table), 7.0), missing=0)
    np.testing.assert_allclose(
        seen.toarray(), np.where(table == 1, p[:, None], 1 - p[:, None]).prod(axis=2), atol=1e-12
    )


@pytest.mark.parametrize("a", [0, 0.3, 1, 2.5])
@pytest.mark.parametrize(("K", "U"), [(6, 20), (30, 200), (130, 300)])
def test_with_fewer_seen_it_is_that_conditioned_and_weighed_by_their_counts(K, U, a):
    p, table, counts = skewed(np.random.default_rng(U), 15, K, U)
    np.testing.assert_allclose(
        seen_label_sets(p, table, counts, a, missing=0).toarray(), plain(p, table, counts, a), atol=1e-12
    )


@pytest.mark.parametrize("missing", [1e-9, 1e-4, 1e-2, 0.3])
def test_no_more_than_the_stated_mass_is_missing_and_the_rest_keeps_its_proportions(missing):
    p, table, counts = skewed(np.random.default_rng(3), 60, 40, 2000)
    exact = plain(p, table, counts, 0.5)
    seen = seen_label_sets(p, table, counts, 0.5, missing=missing).toarray()
    kept = (exact * (seen > 0)).sum(axis=1)
    assert (kept >= 1 - missing).all()
    assert (seen > 0).mean() < 1
    np.testing.assert_allclose(seen * kept[:, None], np.where(seen > 0, exact, 0), atol=1e-12)


def test_a_decision_loses_no_more_than_what_is_missing():
    p, table, counts = skewed(np.random.default_rng(4), 40, 25, 400)
    exact = LabelSets(table, seen_label_sets(p, table, counts, missing=0))
    best = FLoss().risk(exact, FLoss().minimise(exact))
    for missing in (0.01, 0.2):
        short = LabelSets(table, seen_label_sets(p, table, counts, missing=missing))
        assert (FLoss().risk(exact, FLoss().minimise(short)) <= best + missing).all()


def test_at_most_so_many_sets_are_kept_and_the_heaviest_among_them():
    p, table, counts = skewed(np.random.default_rng(5), 40, 25, 400)
    exact = plain(p, table, counts, 0)
    for at_most in (1, 7, 50):
        seen = seen_label_sets(p, table, counts, missing=0, at_most=at_most)
        assert (np.diff(seen.indptr) <= at_most).all()
        assert (np.diff(seen.indptr) >= 1).all()
        # Weights within a quarter power of two count as alike.
        assert all(exact[i, seen[[i]].indices].max() >= exact[i].max() * 2**-0.26 for i in range(len(p)))


def test_certain_labels_rule_label_sets_out():
    table = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]], np.int8)
    p = np.array([[1, 0.25, 0], [0, 0.25, 0.4], [1, 1, 0.3], [0, 0.5, 0]])
    np.testing.assert_allclose(
        seen_label_sets(p, table, np.ones(4)).toarray(),
        [[0.75, 0.25, 0, 0], [0, 0, 0.4, 0.6], [0, 1, 0, 0], [0, 0, 0, 1]],
        atol=1e-15,
    )


def test_where_all_are_ruled_out_the_answer_is_the_limit_of_nearly_certain_labels():
    rng = np.random.default_rng(6)
    p, table, counts = skewed(rng, 200, 7, 25)
    p = np.where(rng.random(p.shape) < 0.3, 0.0, np.where(rng.random(p.shape) < 0.3, 1.0, p))
    moved = plain(np.clip(p, 1e-14, 1 - 1e-14), table, counts, 0.3)
    assert (np.where(table == 1, p[:, None], 1 - p[:, None]).prod(axis=2).sum(axis=1) == 0).any()
    np.testing.assert_allclose(seen_label_sets(p, table, counts, 0.3, missing=0).toarray(), moved, atol=0.02)


def test_marginals_next_to_certainty_do_not_overflow():
    table = np.eye(3, dtype=np.int8)
    p = np.array([[1e-300, 1e-301, 1e-302], [1 - 1e-16, 1e-300, 0.5]])
    seen = seen_label_sets(p, table, np.ones(3), missing=0).toarray()
    np.testing.assert_allclose(seen[0], np.array([100, 10, 1]) / 111, rtol=1e-12)
    assert seen[1, 0] == pytest.approx(1)


@pytest.mark.parametrize("a", [0, 0.3, 1])
def test_an_instances_own_label_set_counts_only_if_another_has_it(a):
    rng = np.random.default_rng(7)
    p, table, counts = skewed(rng, 50, 12, 60)
    assert (counts == 1).any()
    own = rng.integers(-1, len(table), len(p))
    seen = seen_label_sets(p, table, counts, a, own=own, missing=0).toarray()
    np.testing.assert_allclose(seen, plain(p, table, counts, a, own), atol=1e-12)
    alone = (own >= 0) & (counts[own] == 1)
    assert alone.any()
    assert (seen[alone, own[alone]] == 0).all()


def test_an_instance_takes_away_what_it_weighs():
    rng = np.random.default_rng(8)
    p, table, _ = skewed(rng, 50, 6, 20)
    own, weight = rng.integers(len(table), size=50), rng.random(50)
    counts = np.bincount(own, weight, len(table)) + rng.random(len(table)) * (rng.random(len(table)) < 0.5)
    seen = seen_label_sets(p, table, counts, 0.7, own=own, own_weight=weight, missing=0)
    np.testing.assert_allclose(seen.toarray(), plain(p, table, counts, 0.7, own, weight), atol=1e-12)


def test_rows_have_the_same_bits_for_any_slices_and_threads():
    p, table, counts = skewed(np.random.default_rng(9), 600, 30, 200)
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = seen_label_sets(p, table, counts, 0.3)
    finally:
        numba.set_num_threads(before)
    many = seen_label_sets(p, table, counts, 0.3, trie=LabelTrie.frequent_first(table))
    part = seen_label_sets(p[100:200], table, counts, 0.3)
    assert (one != many).nnz == 0
    assert (one[100:200] != part).nnz == 0


def test_a_trie_holds_every_set_once_and_shares_what_they_have_in_common():
    _, table, _ = skewed(np.random.default_rng(10), 1, 70, 300)
    order = np.random.default_rng(0).permutation(70)
    trie = LabelTrie.of(table, order)
    assert sorted(trie.set_of[trie.set_of >= 0]) == list(range(len(table)))
    lists = [()]
    for node in range(1, len(trie.position)):
        lists.append((*lists[trie.parent[node]], int(trie.order[trie.position[node]])))
    place = np.argsort(order)
    for node, u in enumerate(trie.set_of):
        assert trie.depth[node] == len(lists[node])
        assert trie.parent[node] < node < trie.skip[node]
        if u >= 0:
            assert lists[node] == tuple(sorted(np.flatnonzero(table[u]), key=lambda k: place[k]))
    assert len(set(lists)) == len(lists)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"a": -1}, "a must be finite"),
        ({"counts": [1, 2, 3]}, "counts must hold one"),
        ({"counts": [1, -2]}, "counts must be finite"),
        ({"p": np.ones((2, 3))}, r"p must have shape \(n, 2\)"),
        ({"missing": 1}, "missing must lie"),
        ({"own": [0, 2]}, "own must lie"),
        ({"own": [0]}, "own must hold a row"),
        ({"at_most": 0}, "at_most must be positive"),
        ({"table": [[1, 0]], "counts": [1], "own": [0, 0]}, "instance 0 has no label set left"),
    ],
)
def test_bad_input_is_refused_with_its_reason(changed, reason):
    given = {"p": np.full((2, 2), 0.5), "table": [[1, 0], [0, 1]], "counts": [1, 2], "a": 0.0} | changed
    with pytest.raises(ComitiaError, match=reason):
        seen_label_sets(**given)
