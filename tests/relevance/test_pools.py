"""Pools against their definitions."""

import numpy as np
import pytest

from comitia._errors import ComitiaError
from comitia.relevance import (
    POOLS,
    LabelSets,
    Marginals,
    Shared,
    TrimmedMean,
    get_pool,
    log_odds,
    mean,
    median,
    mixture,
    trimmed_mean,
)
from comitia.relevance._base import Held, Memory


@pytest.fixture
def stack():
    return np.random.default_rng(0).random((7, 4, 3))


@pytest.fixture
def members(stack):
    return [Marginals(p) for p in stack]


def test_mean_is_the_weighted_average(stack, members):
    np.testing.assert_allclose(mean(members).p, stack.mean(axis=0), rtol=1e-14)
    w = np.arange(7.0)
    np.testing.assert_allclose(mean(iter(members), w).p, np.average(stack, axis=0, weights=w), rtol=1e-14)


def test_mean_of_certainties_is_certain():
    assert mean([Marginals([[1.0]])] * 3, weights=[0.1, 0.2, 0.3]).p.tolist() == [[1.0]]


def test_median_is_numpys_and_a_member_of_weight_two_counts_twice(stack, members):
    np.testing.assert_array_equal(median(members).p, np.median(stack, axis=0))
    twice = [members[0], *members]
    np.testing.assert_allclose(median(members, [2, 1, 1, 1, 1, 1, 1]).p, median(twice).p)
    np.testing.assert_allclose(median(members, np.ones(7)).p, median(members).p)


def test_trimmed_mean_leaves_out_the_extremes(stack, members):
    ordered = np.sort(stack, axis=0)
    np.testing.assert_allclose(TrimmedMean(0.3)(members).p, ordered[2:5].mean(axis=0))
    np.testing.assert_allclose(TrimmedMean(0)(members).p, stack.mean(axis=0))


def test_log_odds_is_the_normalised_geometric_mean(stack, members):
    shrunk = 1e-3 + (1 - 2e-3) * stack
    yes, no = (np.exp(np.log(q).mean(axis=0)) for q in (shrunk, 1 - shrunk))
    np.testing.assert_allclose(log_odds(members).p, yes / (yes + no))


@pytest.mark.parametrize("pool", [mean, median, log_odds, mixture], ids=lambda pool: type(pool).__name__)
def test_weights_of_members_are_copies_also_where_each_instance_has_its_own(pool, stack, members):
    w = np.random.default_rng(3).integers(0, 3, (7, 4))
    w[0] = 1
    if pool is mixture:
        table = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]], np.int8)
        members = [LabelSets(table, p / p.sum(axis=1, keepdims=True)) for p in stack]
    found = pool(members, w).marginals()
    for i in range(4):
        alone = [member.take(np.array([i])) for member in members]
        copies = [one for one, count in zip(alone, w[:, i], strict=True) for _ in range(count)]
        np.testing.assert_allclose(found[i], pool(copies).marginals()[0], rtol=1e-12)
        np.testing.assert_allclose(pool(alone, w[:, i]).marginals()[0], found[i], rtol=1e-12)


def test_log_odds_of_opposite_certainties_is_even():
    np.testing.assert_allclose(log_odds([Marginals([[0.0]]), Marginals([[1.0]])]).p, 0.5)


def test_mixture_averages_joint_distributions_with_tables_of_their_own():
    rng = np.random.default_rng(1)
    tables = [np.unique(rng.integers(0, 2, (9, 4)), axis=0).astype(np.int8) for _ in range(3)]
    members = [LabelSets(table, rng.dirichlet(np.ones(len(table)), 5)) for table in tables]
    pooled = mixture(iter(members), [1, 2, 3])
    expected: list[dict] = [{} for _ in range(5)]
    for weight, member in zip([1, 2, 3], members, strict=True):
        for i, row in enumerate(member.weights.toarray()):
            for y, w in zip(map(tuple, member.table.tolist()), row, strict=True):
                expected[i][y] = expected[i].get(y, 0) + weight * w / 6
    for i, row in enumerate(pooled.weights.toarray() / pooled.total):
        found = dict(zip(map(tuple, pooled.table.tolist()), row, strict=True))
        assert found == pytest.approx({y: expected[i].get(y, 0.0) for y in found})
    np.testing.assert_allclose(pooled.marginals(), mean(members, [1, 2, 3]).p)


def test_mixture_of_a_forest_keeps_its_one_table():
    table = np.eye(3, dtype=np.int8)
    leaves = LabelSets(table, [[0.5, 0.5, 0], [0, 0, 1]])
    members = [Shared(leaves, np.array([0, 1])), Shared(leaves, np.array([1, 1]))]
    pooled = mixture(members)
    assert pooled.table is leaves.table
    np.testing.assert_allclose(pooled.weights.toarray() / pooled.total, [[0.25, 0.25, 0.5], [0, 0, 1]])


@pytest.mark.parametrize("mass", ["none", "a member", "a member and instance"])
def test_a_mixture_of_a_table_is_that_of_its_members_one_by_one(mass):
    rng = np.random.default_rng(0)
    table = np.unpackbits(np.arange(1, 13, dtype=np.uint8)[:, None], axis=1)[:, 4:].astype(np.int8)
    p = rng.dirichlet(np.ones(12), 9) * (rng.random((9, 12)) < 0.4)
    total = p.sum(axis=1)
    held = Held(LabelSets(table, p, total), rng.integers(0, 9, (7, 30)), Memory())
    shape = {"none": None, "a member": (7,), "a member and instance": (7, 30)}[mass]
    weights = None if shape is None else rng.integers(0, 3, shape) * rng.random(shape)
    if mass == "a member and instance":
        weights[0] += 0.5  # each instance has somebody
    looked_up, one_by_one = mixture(held, weights), mixture(list(held), weights)
    assert looked_up.table is table or np.array_equal(looked_up.table, one_by_one.table)
    np.testing.assert_array_equal(looked_up.total, one_by_one.total)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(looked_up.weights, part), getattr(one_by_one.weights, part))


def test_a_mixture_of_a_table_of_marginals_says_what_it_needs():
    held = Held(Marginals([[0.5, 0.5]]), np.zeros((2, 3), np.intp), Memory())
    with pytest.raises(ComitiaError, match="a mixture needs members that give label sets; member 0 gives Marginals"):
        mixture(held)


def test_pools_are_found_by_name_and_are_themselves():
    assert get_pool("trimmed_mean") == TrimmedMean(0.1) == trimmed_mean
    for pool in POOLS.values():
        assert get_pool(pool) is pool


@pytest.mark.parametrize("name", POOLS)
def test_a_pool_of_beliefs_about_nothing_is_empty(name):
    assert POOLS[name]([Marginals(np.empty((0, 2)))] * 3).marginals().shape == (0, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TrimmedMean(0.5), "share"),
        (lambda: TrimmedMean(0.1)([Marginals([[0.5]])], [1]), "takes no member weights"),
        (lambda: type(log_odds)(epsilon=0), "epsilon"),
        (lambda: mean([]), "at least one member"),
        (lambda: mean([Marginals([[0.5]])] * 2, [1]), "one entry for each member"),
        (lambda: mean([Marginals([[0.5]])] * 2, [1, 1, 1]), "one entry for each member"),
        (lambda: mean([Marginals([[0.5]]), Marginals([[0.5], [0.5]])]), "agree in shape"),
        (lambda: mixture([Marginals([[0.5]])]), "gives Marginals"),
    ],
)
def test_impossible_pools_are_refused_with_the_reason(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("pool", [mean, median, log_odds], ids=str)
def test_weights_of_each_instance_pool_it_as_if_it_stood_alone(pool, members):
    w = np.random.default_rng(3).integers(0, 3, (7, 4)) + np.eye(7, 4)
    pooled = pool(members, w)
    for i in range(4):
        alone = pool([Marginals(member.p[[i]]) for member in members], w[:, i])
        np.testing.assert_allclose(pooled.p[[i]], alone.p, rtol=1e-13)


def test_a_mixture_with_weights_of_each_instance_leaves_out_members_of_no_weight():
    one, two = LabelSets([[1, 0]], [[1.0], [1.0]]), LabelSets([[0, 1]], [[1.0], [1.0]])
    pooled = mixture([one, two], [[1, 0], [3, 2]])
    np.testing.assert_allclose(pooled.marginals(), [[0.25, 0.75], [0, 1]])
    assert np.diff(pooled.weights.indptr).tolist() == [2, 1]
