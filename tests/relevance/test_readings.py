"""Readings: what marginals say of whole labelings."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq

from comitia.relevance import Independent, LabelSets, Marginals, NonEmpty, Observed, Seen, Shared, get_reading
from tests.oracle import distribution, labelings

probabilities = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 1e-9, 1 - 1e-9, 1e-300]))


@given(arrays(float, (4, 5), elements=probabilities))
@example(np.repeat([[0.0, 0.0, 5e-324, 0.3333333358168602, 0.3333333358168602]], 4, axis=0))
@settings(deadline=None)
def test_a_belief_that_is_never_empty_keeps_marginals_that_some_such_belief_has(p):
    belief = NonEmpty()(Marginals(p))
    assert (belief.n_instances, belief.n_labels) == p.shape
    every = np.array(labelings(5))
    for i in range(4):
        P = distribution(belief, i)
        assert P[0] == 0
        np.testing.assert_allclose(P @ every, belief.marginals()[i], rtol=1e-9, atol=1e-12)
        if p[i].sum() > 1 + 1e-5:
            np.testing.assert_array_equal(belief.marginals()[i], p[i])
            np.testing.assert_allclose(P @ every, p[i], rtol=1e-7, atol=1e-300)
        elif 1e-250 < p[i].sum() <= 1:
            np.testing.assert_allclose(belief.marginals()[i], p[i] / p[i].sum(), rtol=1e-5, atol=1e-300)
        elif not p[i].any():
            np.testing.assert_allclose(belief.marginals()[i], 0.2, rtol=1e-5)


@pytest.mark.parametrize("K", [2, 3, 14, 174])
@pytest.mark.parametrize("total", [1.001, 1.05, 1.5, 4.0, 50.0])
def test_the_factor_of_a_belief_that_is_never_empty_is_the_root_that_a_plain_search_finds(K, total):
    rng = np.random.default_rng(K)
    p = rng.dirichlet(np.full(K, 0.5), 50) * min(total, 0.9 * K)
    p = p[(p < 1).all(axis=1)]
    for p_i, found in zip(p, NonEmpty()(Marginals(p)).q, strict=True):
        if p_i.sum() > 1:
            c = brentq(lambda c: -np.expm1(np.log1p(-c * p_i).sum()) - c, 1e-9, 1, xtol=1e-300, rtol=1e-14)  # noqa: B023
            np.testing.assert_allclose(found, c * p_i, rtol=1e-10)


def test_of_all_beliefs_with_these_marginals_it_has_the_largest_entropy():
    p = np.array([[0.6, 0.5, 0.3]])
    every = np.array(labelings(3))
    P = distribution(NonEmpty()(Marginals(p)), 0)
    entropy = -(P[1:] * np.log(P[1:])).sum()
    # Directions that change neither the marginals, nor the sum, nor the empty labeling.
    kept = np.vstack([every.T, np.ones(8), np.eye(8)[0]])
    free = np.linalg.svd(kept)[2][np.linalg.matrix_rank(kept) :]
    rng = np.random.default_rng(0)
    for _ in range(100):
        other = P + 0.02 * rng.normal(size=len(free)) @ free
        assert (other[1:] > 0).all()
        assert -(other[1:] * np.log(other[1:])).sum() < entropy


def test_joint_distributions_are_read_as_they_are():
    belief = LabelSets([[0, 0], [1, 1]], [[0.5, 0.5]])
    assert NonEmpty()(belief) is belief


def test_beliefs_that_are_shared_are_read_where_they_are_asked_for():
    leaves = Marginals([[0.4, 0.3], [0.2, 0.9]])
    shared = NonEmpty()(Shared(leaves, [1, 0, 1]))
    np.testing.assert_array_equal(shared.marginals(), NonEmpty()(leaves).marginals()[[1, 0, 1]])
    np.testing.assert_array_equal(Independent()(Shared(leaves, [1, 0])).marginals(), leaves.p[[1, 0]])


def test_labelsets_of_the_training_data_are_counted_by_weight():
    seen = Observed.of([[0, 1], [1, 1], [0, 1], [0, 0]], [1, 2, 0.5, 0])
    assert seen.table.tolist() == [[0, 1], [1, 1]]
    assert seen.counts.tolist() == [1.5, 2.0]
    assert seen.always_some
    assert not Observed.of([[0, 0], [1, 0]]).always_some


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: get_reading("nonemtpy"), "did you mean 'nonempty'"),
        (lambda: get_reading(3), "unknown reading 3"),
        (lambda: Observed([[0, 1], [0, 1]], [1, 1]), "each of them once"),
        (lambda: Observed([[0, 1]], [0]), "positive number"),
        (lambda: Observed([[0, 1]], [1, 2]), "positive number"),
    ],
)
def test_what_cannot_be_read_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("power", [0.0, 0.3, 1.0])
def test_label_sets_taken_as_alike_are_weighed_by_how_often_others_had_them(power):
    rng = np.random.default_rng(3)
    table = np.array(labelings(3))[:5]
    Y = table[rng.permutation([0, 1, 1, 2, 2, 2, 3, 3, 4])]
    weight = rng.integers(1, 4, len(Y)).astype(float)
    seen = Observed.of(Y, weight)
    alike = rng.dirichlet(np.ones(len(seen.table)), len(Y))
    own = [seen.table.tolist().index(row) for row in Y.tolist()]
    for observed, taken_away in ((seen, 0 * weight), (seen.leaving_out(Y, weight), weight)):
        belief = LabelSets(seen.table, alike, 1.0, observed, flat=True)
        expected = np.empty_like(alike)
        for i in range(len(Y)):
            counts = seen.counts.copy()
            counts[own[i]] -= taken_away[i]
            expected[i] = alike[i] * np.where(counts > 0, counts**power, 0)
            expected[i] /= expected[i].sum()
        np.testing.assert_allclose(Seen(power)(belief).weights.toarray(), expected, rtol=1e-12)


def test_label_sets_that_are_weighed_already_are_read_as_they_are():
    belief = LabelSets([[0, 1], [1, 1]], [[0.5, 0.5]], observed=Observed([[0, 1], [1, 1]], [9, 1]))
    assert Seen()(belief) is belief


def test_what_is_printed_of_a_belief_leaves_the_training_data_out():
    seen = Observed([[0, 1], [1, 1]], [9, 1]).leaving_out(np.array([[1, 1]]), np.array([0.123]))
    assert "0.123" not in repr(seen)
    assert "own" not in repr(seen)
    for belief in (LabelSets([[0, 1], [1, 1]], [[0.5, 0.5]], observed=seen), Marginals([[0.5, 0.5]], seen)):
        assert "Observed" not in repr(belief)
        assert "flat" not in repr(belief)
