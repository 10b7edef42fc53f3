"""Ranks, Friedman, Nemenyi: answers known from the paper, from definitions and from scipy."""

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from comitia.statistics import (
    average_ranks,
    cliques,
    corrected_t_test,
    critical_distance,
    friedman,
    holm,
    nemenyi,
    ranks,
    wilcoxon,
)

BLOCKS = [(ensemble, metric) for ensemble in ("EMODT", "ECC", "EBR") for metric in ("hamming", "subset01", "f1")]

tables = arrays(
    np.float64,
    st.tuples(st.integers(2, 8), st.integers(3, 6)),
    elements=st.integers(0, 9).map(float),  # few distinct values, so that ties are common
)


def read_block(paper: Path, ensemble: str, metric: str):
    """Values, printed ranks and printed average ranks of one block of the paper's Table 2."""
    cells: dict[str, list[tuple[float, float]]] = {}
    printed: dict[str, float] = {}
    with (paper / "table2.csv").open() as lines:
        for row in csv.DictReader(lines):
            known = row["dataset"] != "*" and row["value_percent"] != ""
            if (row["ensemble"], row["metric"]) == (ensemble, metric) and known:
                cells.setdefault(row["aggregation"], []).append((float(row["value_percent"]), float(row["rank"])))
                printed[row["aggregation"]] = float(row["average_rank"])
    both = np.array(list(cells.values()))  # methods x datasets x (value, rank)
    return both[:, :, 0].T, both[:, :, 1].T, np.array(list(printed.values()))


@pytest.mark.parametrize(
    ("methods", "datasets", "at_10_percent", "at_5_percent"),
    [(3, 7, 1.10, 1.25), (5, 8, 1.94, 2.16), (5, 7, 2.08, 2.31)],
)
def test_critical_distances_are_the_published_ones(methods, datasets, at_10_percent, at_5_percent):
    assert round(critical_distance(methods, datasets, alpha=0.1), 2) == at_10_percent
    assert round(critical_distance(methods, datasets, alpha=0.05), 2) == at_5_percent


def test_critical_values_are_those_of_demsars_table():
    table = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
    for methods, quantile in table.items():
        one_dataset = np.sqrt(methods * (methods + 1) / 6)
        assert critical_distance(methods, 1) / one_dataset == pytest.approx(quantile, abs=1e-3)


@pytest.mark.parametrize(("ensemble", "metric"), BLOCKS)
def test_the_papers_ranks_follow_from_its_values(shared_paper, ensemble, metric):
    values, printed, printed_average = read_block(shared_paper, ensemble, metric)
    assert values.shape == (8 if ensemble == "EMODT" else 7, 5 if metric == "f1" else 3)
    np.testing.assert_array_equal(ranks(values, higher_is_better=metric == "f1"), printed)
    np.testing.assert_allclose(
        average_ranks(values, higher_is_better=metric == "f1"), printed_average, atol=0.005 + 1e-9
    )


@pytest.mark.parametrize(("ensemble", "metric"), BLOCKS)
def test_the_papers_aggregations_differ_on_subset01_and_f1_but_not_on_hamming(shared_paper, ensemble, metric):
    p_value = friedman(read_block(shared_paper, ensemble, metric)[0]).p_value
    assert p_value > 0.3 if metric == "hamming" else p_value < 0.05


def test_ties_share_the_average_of_the_ranks_they_cover():
    np.testing.assert_array_equal(ranks([[5, 5, 5, 1], [2, 1, 2, 3]]), [[3, 3, 3, 1], [2.5, 1, 2.5, 4]])
    np.testing.assert_array_equal(ranks([[5, 5, 5, 1]], higher_is_better=True), [[2, 2, 2, 4]])


@given(tables)
def test_each_datasets_ranks_sum_to_those_of_a_table_without_ties(table):
    methods = table.shape[1]
    np.testing.assert_allclose(ranks(table).sum(axis=1), methods * (methods + 1) / 2)
    np.testing.assert_allclose(ranks(table) + ranks(table, higher_is_better=True), methods + 1)


@given(tables)
def test_friedman_follows_its_formula_with_the_correction_for_ties(table):
    datasets, methods = table.shape
    ranked = ranks(table)
    between = datasets * ((ranked.mean(axis=0) - (methods + 1) / 2) ** 2).sum()
    within = ((ranked - (methods + 1) / 2) ** 2).sum() / (datasets * (methods - 1))
    statistic = between / within if within > 0 else 0.0
    result = friedman(table)
    assert result.statistic == pytest.approx(statistic, abs=1e-9)
    assert result.p_value == pytest.approx(stats.chi2.sf(statistic, methods - 1), abs=1e-9)


@given(tables)
def test_a_pair_beyond_the_critical_distance_is_a_pair_below_the_level(table):
    result = nemenyi(table, alpha=0.05)
    clear = np.abs(np.abs(result.differences) - result.critical_distance) > 1e-6
    beyond = np.abs(result.differences) > result.critical_distance
    np.testing.assert_array_equal((result.p_values < 0.05)[clear], beyond[clear])
    np.testing.assert_allclose(result.p_values, result.p_values.T)
    np.testing.assert_allclose(np.diag(result.p_values), 1.0)


@given(arrays(np.float64, st.integers(1, 7), elements=st.floats(1, 8)), st.floats(0.1, 5))
def test_a_clique_is_a_largest_set_of_methods_within_the_distance(average, distance):
    found = cliques(average, distance)
    order = np.sort(average)
    for group in found:
        inside = average[group]
        assert inside.max() - inside.min() <= distance + 1e-9
        outside = np.delete(average, group)
        grown = [max(inside.max(), other) - min(inside.min(), other) for other in outside]
        assert all(width > distance - 1e-9 for width in grown)
    pairs = {(i, j) for group in found for i in group for j in group}
    for i in range(len(average)):
        for j in range(len(average)):
            if i != j and abs(average[i] - average[j]) < distance - 1e-9:
                assert (i, j) in pairs, (order, distance)


def test_the_corrected_t_test_is_the_usual_one_when_the_test_share_vanishes():
    differences = np.random.default_rng(0).normal(0.3, 1, size=12)
    expected = stats.ttest_1samp(differences, 0)
    result = corrected_t_test(differences, test_share=1e-12)
    assert result.statistic == pytest.approx(expected.statistic, rel=1e-6)
    assert result.p_value == pytest.approx(expected.pvalue, rel=1e-6)


def test_the_correction_for_ten_folds_widens_the_variance_by_one_ninth():
    differences = np.random.default_rng(1).normal(0.5, 1, size=10)
    usual = stats.ttest_1samp(differences, 0).statistic
    corrected = corrected_t_test(differences, test_share=0.1).statistic
    assert corrected == pytest.approx(usual * np.sqrt((1 / 10) / (1 / 10 + 1 / 9)))


def test_the_corrected_t_test_answers_where_all_folds_agree():
    assert corrected_t_test([0.0, 0.0, 0.0], 0.1).p_value == 1.0
    result = corrected_t_test([-2.0, -2.0, -2.0], 0.1)
    assert (result.statistic, result.p_value) == (-np.inf, 0.0)


def test_wilcoxon_is_the_share_of_signs_that_are_as_extreme():
    differences = np.array([1.5, -0.3, 2.0, 0.7, 4.0, -1.1])
    order = stats.rankdata(abs(differences))
    signs = np.array(list(itertools.product((-1, 1), repeat=len(order))))
    smaller = np.minimum((signs > 0) @ order, (signs < 0) @ order)
    observed = min(order[differences > 0].sum(), order[differences < 0].sum())
    assert wilcoxon(differences).p_value == pytest.approx((smaller <= observed).mean())
    assert wilcoxon(-differences).p_value == wilcoxon(differences).p_value


def test_holm_rejects_what_the_step_down_procedure_rejects():
    p_values = np.array([0.001, 0.2, 0.02, 0.013, 0.9])
    adjusted = holm(p_values)
    for alpha in (0.005, 0.01, 0.05, 0.06, 0.5):
        rejected = np.zeros(5, dtype=bool)
        for step, index in enumerate(np.argsort(p_values)):
            if p_values[index] > alpha / (5 - step):
                break
            rejected[index] = True
        np.testing.assert_array_equal(adjusted <= alpha, rejected)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ranks([1.0, 2.0]), r"got shape \(2,\)"),
        (lambda: ranks([[1.0], [2.0]]), "2 or more methods; got"),
        (lambda: ranks([[1.0, np.nan], [2.0, 3.0]]), "got nan in row 0, column 1"),
        (lambda: friedman([[1.0, 2.0, 3.0]]), "2 or more datasets"),
        (lambda: friedman([[1.0, 2.0], [2.0, 1.0]]), "3 or more methods"),
        (lambda: critical_distance(1, 5), "methods must be .* got 1"),
        (lambda: critical_distance(3, 0), "datasets must be .* got 0"),
        (lambda: critical_distance(3, 7, alpha=5), "alpha must lie .* got 5"),
        (lambda: corrected_t_test([1.0], 0.1), r"two folds or more; got \[1\.\]"),
        (lambda: corrected_t_test([1.0, np.inf], 0.1), "must be finite"),
        (lambda: corrected_t_test([1.0, 2.0], 10), "test_share must lie .* got 10"),
        (lambda: wilcoxon([1.0]), r"two datasets or more; got \[1\.\]"),
        (lambda: holm([0.5, 1.5]), "numbers from 0 to 1"),
    ],
)
def test_bad_input_is_refused_with_what_was_given(call, message):
    with pytest.raises(ValueError, match=message):
        call()
