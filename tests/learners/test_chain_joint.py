import numpy as np
import pytest
from scipy.special import expit
from tests.oracle import labelings

from comitia._errors import ComitiaError
from comitia._labels import distinct_rows
from comitia.learners._chain_joint import chain_joint, chain_joint_of_links
from comitia.learners._chains import ChainFit, fit_chains


def random_fit(rng, M, K, d, scale=1.0):
    orders = np.stack([rng.permutation(K) for _ in range(M)])
    return ChainFit(
        orders=orders,
        coef=scale * rng.normal(size=(M, K, d)),
        influence=np.triu(scale * rng.normal(size=(M, K, K)), k=1),
        intercept=scale * rng.normal(size=(M, K)),
        objective=np.zeros((M, K)),
        converged=np.ones((M, K), bool),
        n_iter=np.zeros((M, K), np.int64),
    )


def links_of(fit, m, X):
    def link(position, labels, rows):
        score = X[rows] @ fit.coef[m, position] + fit.intercept[m, position]
        return expit(score + labels @ fit.influence[m, :position, position])

    return link


def by_enumeration(fit, m, X, table, counts, a, own=None):
    """The chain rule, written out for one labeling at a time."""
    out = np.ones((len(X), len(table)))
    for u, y in enumerate(table[:, fit.orders[m]]):
        for k in range(len(y)):
            q = expit(X @ fit.coef[m, k] + fit.intercept[m, k] + y[:k] @ fit.influence[m, :k, k])
            out[:, u] *= q if y[k] else 1 - q
    count = np.tile(np.asarray(counts, float), (len(X), 1))
    if own is not None:
        count[np.arange(len(X)), own] -= 1
    out *= np.where(count > 0, np.maximum(count, 0.5) ** a, 0)
    return out / out.sum(axis=1, keepdims=True)


def some_seen(rng, K, rows=40):
    table, place = distinct_rows((rng.random((rows, K)) < rng.beta(1, 2, K)).astype(np.int8))
    return table, np.bincount(place).astype(float)


@pytest.mark.parametrize("K", [1, 2, 5, 8])
def test_with_all_labelings_seen_alike_it_is_the_chain_rule(K):
    rng = np.random.default_rng(K)
    fit, X = random_fit(rng, 3, K, 4), rng.normal(size=(20, 4))
    table = np.array(labelings(K), np.int8)
    for m, joint in enumerate(chain_joint(fit, X, table, np.ones(len(table)), missing=0)):
        np.testing.assert_allclose(joint.toarray(), by_enumeration(fit, m, X, table, np.ones(2**K), 0), atol=1e-12)


@pytest.mark.parametrize("a", [0, 0.3, 1])
@pytest.mark.parametrize("K", [3, 8, 20])
def test_with_fewer_seen_it_is_that_conditioned_and_weighed_by_their_counts(K, a):
    rng = np.random.default_rng(K)
    fit, X = random_fit(rng, 3, K, 4), rng.normal(size=(20, 4))
    table, counts = some_seen(rng, K)
    for m, joint in enumerate(chain_joint(fit, X, table, counts, a, missing=0)):
        expected = by_enumeration(fit, m, X, table, counts, a)
        np.testing.assert_allclose(joint.toarray(), expected, atol=1e-12)
        slow = chain_joint_of_links(links_of(fit, m, X), fit.orders[m], len(X), table, counts, a, missing=0)
        np.testing.assert_allclose(slow.toarray(), expected, atol=1e-12)


def test_an_instances_own_label_set_counts_only_if_another_has_it():
    rng = np.random.default_rng(1)
    fit, X = random_fit(rng, 2, 6, 4), rng.normal(size=(30, 4))
    table, counts = some_seen(rng, 6)
    own = rng.integers(len(table), size=len(X))
    assert (counts[own] == 1).any()
    for a in (0, 0.5):
        for m, joint in enumerate(chain_joint(fit, X, table, counts, a, own=own, missing=0)):
            expected = by_enumeration(fit, m, X, table, counts, a, own)
            np.testing.assert_allclose(joint.toarray(), expected, atol=1e-12)
            slow = chain_joint_of_links(
                links_of(fit, m, X), fit.orders[m], len(X), table, counts, a, own=own, missing=0
            )
            np.testing.assert_allclose(slow.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("missing", [1e-6, 1e-3, 0.1])
def test_no_more_than_the_stated_mass_is_missing_and_the_rest_keeps_its_proportions(missing):
    rng = np.random.default_rng(2)
    fit, X = random_fit(rng, 2, 30, 5), rng.normal(size=(40, 5))
    table, counts = some_seen(rng, 30, 800)
    for m, joint in enumerate(chain_joint(fit, X, table, counts, 0.5, missing=missing)):
        slow = chain_joint_of_links(links_of(fit, m, X), fit.orders[m], len(X), table, counts, 0.5, missing=missing)
        exact = by_enumeration(fit, m, X, table, counts, 0.5)
        for short in (joint.toarray(), slow.toarray()):
            kept = (exact * (short > 0)).sum(axis=1)
            assert (kept >= 1 - missing).all()
            assert (short > 0).mean() < 0.9
            np.testing.assert_allclose(short * kept[:, None], np.where(short > 0, exact, 0), atol=1e-12)


@pytest.mark.parametrize("scale", [40, 400])
def test_scores_whose_odds_no_double_holds_are_walked_in_logarithms(scale):
    rng = np.random.default_rng(3)
    fit, X = random_fit(rng, 2, 5, 4, scale), rng.normal(size=(40, 4))
    table, counts = some_seen(rng, 5, 10)
    position = np.argsort(fit.orders, axis=1)
    for m, joint in enumerate(chain_joint(fit, X, table, counts, missing=0)):
        logs = np.zeros((len(X), len(table)))
        for u, y in enumerate(table[:, fit.orders[m]]):
            for k in position[m]:
                score = X @ fit.coef[m, k] + fit.intercept[m, k] + y[:k] @ fit.influence[m, :k, k]
                logs[:, u] -= np.logaddexp(0, -score if y[k] else score)
        expected = np.exp(logs - logs.max(axis=1, keepdims=True))
        np.testing.assert_allclose(joint.toarray(), expected / expected.sum(axis=1, keepdims=True), atol=1e-9)


def test_a_label_that_was_constant_rules_sets_out_and_where_all_are_the_fewest_contradictions_win():
    rng = np.random.default_rng(4)
    fit, X = random_fit(rng, 1, 3, 2), rng.normal(size=(10, 2))
    first, last = fit.orders[0, 0], fit.orders[0, 2]
    fit.intercept[0, 0], fit.intercept[0, 2] = np.inf, -np.inf
    fit.influence[0, :, 2] = 0
    table = np.array(labelings(3), np.int8)
    joint = next(chain_joint(fit, X, table, np.ones(8), missing=0)).toarray()
    allowed = (table[:, first] == 1) & (table[:, last] == 0)
    assert (joint[:, ~allowed] == 0).all()
    assert joint.sum(axis=1) == pytest.approx(1)
    # Without the sets that are possible, those with one contradiction share the probability.
    twice = (table[:, first] == 0) & (table[:, last] == 1)
    rest = table[~allowed]
    joint = next(chain_joint(fit, X, rest, np.ones(6), missing=0)).toarray()
    assert (joint[:, twice[~allowed]] == 0).all()
    assert (joint[:, ~twice[~allowed]] > 0).all()
    slow = chain_joint_of_links(links_of(fit, 0, X), fit.orders[0], len(X), rest, np.ones(6), missing=0)
    np.testing.assert_allclose(slow.toarray(), joint, atol=1e-12)


def test_distributions_have_the_same_bits_for_any_rows_and_threads():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 6))
    Y = (X[:, :4] + rng.normal(size=(300, 4)) > 0.5).astype(np.int8)
    fit = fit_chains(X, Y, np.stack([rng.permutation(4) for _ in range(3)]))
    table, place = distinct_rows(Y)
    counts = np.bincount(place)
    together = list(chain_joint(fit, np.vstack([X] * 5), table, counts, 0.3))
    some = list(chain_joint(fit, X[7:150], table, counts, 0.3, n_jobs=2))
    for part, whole in zip(some, together, strict=True):
        assert (part != whole[7:150]).nnz == 0
    assert next(chain_joint(fit, X[:0], table, counts)).shape == (0, len(table))


def test_bad_input_is_refused_with_its_reason():
    fit = random_fit(np.random.default_rng(6), 1, 2, 3)
    X, table = np.zeros((2, 3)), [[0, 1], [1, 1]]
    with pytest.raises(ComitiaError, match="X has 2 features, but the chains were fitted on 3"):
        next(chain_joint(fit, X[:, :2], table, [1, 1]))
    with pytest.raises(ComitiaError, match="table has 3 labels, but the chains were fitted on 2"):
        next(chain_joint(fit, X, [[0, 1, 1]], [1]))
    with pytest.raises(ComitiaError, match="no label set left"):
        next(chain_joint(fit, X, [[0, 1]], [1], own=[0, 0]))
    with pytest.raises(ComitiaError, match="order must be a permutation"):
        chain_joint_of_links(links_of(fit, 0, X), [0, 0], 2, table, [1, 1])
    with pytest.raises(ComitiaError, match="no label set left"):
        chain_joint_of_links(links_of(fit, 0, X), [0, 1], 2, [[0, 1]], [1], own=[0, 0])


def test_a_row_keeps_the_same_sets_whatever_other_rows_stand_beside_it():
    rng = np.random.default_rng(8)
    fit, X = random_fit(rng, 3, 7, 4, scale=1.5), rng.normal(size=(40, 4))
    table, counts = some_seen(rng, 7, rows=300)
    own = rng.integers(0, len(table), size=40)
    together = list(chain_joint(fit, X, table, counts, 0.3, own=own, missing=1e-3))
    for i in range(len(X)):
        alone = chain_joint(fit, X[[i]], table, counts, 0.3, own=own[[i]], missing=1e-3)
        for joint, one in zip(together, alone, strict=True):
            np.testing.assert_array_equal(joint[[i]].toarray(), one.toarray())


def test_chains_are_asked_about_some_rows_as_about_all():
    rng = np.random.default_rng(9)
    fit, X = random_fit(rng, 4, 5, 3), rng.normal(size=(30, 3))
    table, counts = some_seen(rng, 5)
    own, about = rng.integers(0, len(table), size=30), rng.random((4, 30)) < 0.4
    about[0], about[1] = True, False
    for own_sets in (None, own):
        every = chain_joint(fit, X, table, counts, 0.3, own=own_sets)
        some = chain_joint(fit, X, table, counts, 0.3, own=own_sets, about=about)
        for one, other, asked in zip(every, some, about, strict=True):
            np.testing.assert_array_equal(np.where(asked[:, None], one.toarray(), 0), other.toarray())
