"""Ranks of features, and the sorts of the sweep, against NumPy."""

import numpy as np
import pytest
from scipy import sparse

from comitia.learners._tree_codes import NO_COMMON, encode, thresholds
from comitia.learners._tree_split import sort_few, sort_many

RNG = np.random.default_rng(0)
COLUMNS = {
    "continuous": RNG.normal(size=500),
    "of all magnitudes": RNG.normal(size=500) * 10.0 ** RNG.integers(-300, 300, 500),
    "single precision": RNG.normal(size=500).astype(np.float32),
    "few values": RNG.integers(-3, 4, 500).astype(float),
    "constant": np.full(500, 2.0),
    "missing": np.where(RNG.random(500) < 0.5, np.nan, RNG.integers(0, 9, 500)),
    "missing with a sign": np.where(RNG.random(500) < 0.5, -np.nan, RNG.normal(size=500)),
    "all missing": np.full(500, np.nan),
    "zeros of both signs": RNG.choice([0.0, -0.0, 1.0, -1.0], 500),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_codes_are_ranks_among_the_distinct_values(name):
    x = COLUMNS[name].astype(np.float64)
    features = encode(x[:, np.newaxis])
    present = ~np.isnan(x)
    values, ranks = np.unique(x[present], return_inverse=True)
    np.testing.assert_array_equal(features.values, values)
    np.testing.assert_array_equal(features.codes[present], ranks)
    assert (features.codes[~present] == len(values)).all()


@pytest.mark.parametrize("name", COLUMNS)
def test_the_common_code_is_the_most_frequent_if_it_is_frequent(name):
    x = COLUMNS[name].astype(np.float64)
    counts = np.unique(x[~np.isnan(x)] + 0.0, return_counts=True)[1]
    common = encode(x[:, np.newaxis]).common[0]
    if counts.max(initial=0) > len(x) / 10:
        assert counts[common] == counts.max()
    else:
        assert common == NO_COMMON


def test_listed_codes_stand_for_the_same_values_as_dense_ones():
    X = RNG.integers(-2, 3, (60, 8)) * (RNG.random((60, 8)) < 0.3) * 1.0
    X[:, 0], X[:, 1], X[3, 2] = 0.0, 1.0, np.nan
    dense, listed = encode(X), encode(sparse.csr_array(X), dense_codes=0)
    assert listed.codes.size == np.count_nonzero(X)
    np.testing.assert_array_equal(listed.values, dense.values)
    np.testing.assert_array_equal(listed.common, dense.common)
    for f in range(8):
        codes = np.full(60, listed.implicit[f])
        entries = slice(listed.starts[f], listed.starts[f + 1])
        codes[listed.rows[entries]] = listed.codes[entries]
        np.testing.assert_array_equal(codes, dense.codes[60 * f : 60 * f + 60])


def test_more_than_65535_distinct_values_are_told_apart():
    x = np.arange(70_000.0)[::-1]
    features = encode(np.stack([x, x % 2], axis=1))
    assert features.codes.dtype == np.uint32
    np.testing.assert_array_equal(features.codes[:70_000], x)
    assert encode((x % 2)[:, np.newaxis]).codes.dtype == np.uint16


def test_a_threshold_lies_between_the_values_next_to_the_cut():
    features = encode(np.array([[1.0, -5.0], [2.0, 0.0], [4.0, np.nextafter(0.0, 1.0)]]))
    feature, low, high = (np.array(a, np.int32) for a in ([0, 1, -1, 0, 0], [1, 1, -1, 2, -1], [2, 2, -1, -1, 0]))
    expected = [3.0, 0.0, np.nan, np.inf, -np.inf]
    np.testing.assert_array_equal(thresholds(features, feature, low, high), expected)


@pytest.mark.parametrize("highest", [1, 200, 70_000, 2**30])
@pytest.mark.parametrize("m", [1, 2, 17, 64, 65, 1000])
def test_pairs_are_sorted_by_key_and_keep_their_order_where_keys_are_equal(m, highest):
    keys = np.random.default_rng(m).integers(0, highest, m, endpoint=True)
    pairs = keys << 32 | np.arange(m)
    expected = pairs[np.argsort(keys, kind="stable")]
    swap, digits = np.empty_like(pairs), np.empty(256, np.int64)
    few, many = pairs.copy(), pairs.copy()
    sort_few(few, swap, m)
    sort_many(many, swap, digits, m, highest)
    np.testing.assert_array_equal(few, expected)
    np.testing.assert_array_equal(many, expected)
