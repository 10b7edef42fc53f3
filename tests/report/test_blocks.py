"""Gathering rows: means, errors, ranks, aggregations that are the same, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from comitia.report._blocks import blocks, checked_rows


def test_values_are_the_means_over_folds_in_percent(rows):
    for block in blocks(rows):
        for name in block.datasets:
            for method in block.methods:
                chosen = rows[
                    (rows.ensemble == block.ensemble)
                    & (rows.loss == block.measure.loss)
                    & (rows.dataset == name)
                    & (rows.aggregation == method)
                    & (rows["size"] == 12)
                ]
                expected = 100 * chosen.value.mean()
                expected = 100 - expected if block.measure.loss == "f1" else expected
                spread = 100 * chosen.value.std() / np.sqrt(len(chosen))
                row, column = block.datasets.index(name), block.index(method)
                assert block.values[row, column] == pytest.approx(expected, abs=1e-9)
                assert block.errors[row, column] == pytest.approx(spread, abs=1e-9)


def test_an_aggregation_that_never_differs_from_another_is_set_aside(rows):
    found = {(block.ensemble, block.measure.loss): block for block in blocks(rows)}
    assert found["emodt", "hamming"].same == {"ctp": "gmv", "ptc-lw": "bmv"}
    assert found["emodt", "subset01"].same == {"ctp": "gmv", "ptc-lw": "bmv", "ptc-mbr": "ptc-mode"}
    assert found["emodt", "f1"].same == {}
    assert "ctp" not in found["emodt", "hamming"].methods


def test_one_different_fold_is_enough_to_be_ranked(rows):
    changed = rows.copy()
    where = changed.index[
        (changed.loss == "hamming")
        & (changed.aggregation == "ctp")
        & (changed.ensemble == "emodt")
        & (changed["size"] == 12)
    ]
    changed.loc[where[0], "value"] += 1e-3
    (block,) = blocks(changed, ensembles=["emodt"], losses=["hamming"])
    assert block.same == {"ptc-lw": "bmv"}
    assert "ctp" in block.methods


def test_ranks_are_of_the_printed_values(rows):
    """Two values that print alike share a rank, however they differ beyond that."""
    changed = rows[rows.aggregation.isin(["gmv", "bmv"]) & (rows.loss == "hamming")].copy()
    changed["value"] = np.where(changed.aggregation == "gmv", 0.123401, 0.123399)
    (block, _) = blocks(changed)
    np.testing.assert_array_equal(block.ranks, np.full((4, 2), 1.5))


def test_a_dataset_without_every_aggregation_is_shown_but_not_ranked(rows):
    part = rows[~((rows.dataset == "weather") & (rows.aggregation == "ptc-mbr"))]
    (block,) = blocks(part, ensembles=["emodt"], losses=["f1"])
    weather = block.datasets.index("weather")
    assert np.isnan(block.ranks[weather]).all()
    assert np.isfinite(block.values[weather, block.index("gmv")])
    assert block.complete.sum() == 3
    np.testing.assert_allclose(block.average_ranks, block.ranks[block.complete].mean(axis=0))


def test_ranks_among_chosen_aggregations_ignore_the_others(rows):
    (block,) = blocks(rows, ensembles=["emodt"], losses=["f1"], aggregations=["gmv", "ctp"])
    assert block.methods == ("gmv", "ctp")
    assert block.ranks.max() == 2


def test_a_pool_other_than_the_mean_is_a_method_of_its_own(rows):
    median = rows[rows.aggregation == "ctp"].assign(pool="median", value=lambda part: part.value / 2)
    (block,) = blocks(pd.concat([rows, median]), ensembles=["emodt"], losses=["f1"], aggregations=["ctp", "gmv"])
    assert block.methods == ("gmv", "ctp", "ctp · median")


def test_a_pool_gives_way_to_the_aggregation_that_it_equals(rows):
    """Binary voting is named rather than the median that does the same."""
    twin = rows[rows.aggregation == "bmv"].assign(aggregation="gmv", pool="median")
    (block,) = blocks(pd.concat([twin, rows]), ensembles=["emodt"], losses=["f1"])
    assert block.same == {"gmv · median": "bmv"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="pool"), "they lack pool"),
        (lambda rows: rows.iloc[:0], "got none"),
        (lambda rows: rows.assign(value=1.5), "value must be a loss from 0 to 1; got 1.5"),
        (lambda rows: rows.assign(value=float("nan")), "got nan"),
        (lambda rows: pd.concat([rows, rows.iloc[[3]]]), "more than once"),
    ],
)
def test_bad_rows_are_refused_with_what_is_wrong(rows, change, message):
    with pytest.raises(ValueError, match=message):
        checked_rows(change(rows))


def test_aggregations_scored_on_different_folds_are_not_compared(rows):
    part = rows[~((rows.fold == 1) & (rows.aggregation == "ctp") & (rows.dataset == "seven-segment"))]
    with pytest.raises(ValueError, match="'ctp' lacks folds on dataset 'seven-segment'"):
        blocks(part)


def test_datasets_with_different_largest_sizes_are_not_compared(rows):
    part = rows[~((rows.dataset == "weather") & (rows["size"] == 12))]
    with pytest.raises(ValueError, match="12 members on 'seven-segment' but 5 on 'weather'"):
        blocks(part)


def test_a_name_that_does_not_occur_is_refused_with_those_that_do(rows):
    with pytest.raises(ValueError, match="no rows with ensemble 'ecc': there are 'emodt', 'extra'"):
        blocks(rows, ensembles=["ecc"])
