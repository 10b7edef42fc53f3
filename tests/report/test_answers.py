"""The answer in words: the right winner, the right test, nothing claimed that the test does not say."""

import numpy as np
import pandas as pd
import pytest

from comitia.report._answers import answers as answers_of
from comitia.report._blocks import blocks
from comitia.report._paper import read_paper
from comitia.statistics import corrected_t_test, holm


def answers(rows: pd.DataFrame, sizes=None):
    return answers_of(blocks(rows), sizes)


@pytest.fixture(scope="session")
def of_paper(shared_paper):
    published = read_paper(shared_paper / "table2.csv")
    found = answers(published.assign(repeat=0, fold=0, pool="mean", size=50, n_test=50))
    return {(answer.ensemble, answer.measure.loss): answer for answer in found}


@pytest.mark.parametrize("ensemble", ["emodt", "ecc", "ebr"])
def test_the_papers_conclusions_are_read_from_its_table(of_paper, ensemble):
    assert of_paper[ensemble, "subset01"].best == "ptc-mode"
    assert of_paper[ensemble, "f1"].best == "ctp"
    assert "gmv" in of_paper[ensemble, "f1"].better_than
    hamming = of_paper[ensemble, "hamming"]
    assert hamming.better_than == ()
    assert hamming.p_value > 0.3
    assert "could be chance" in hamming.text


def test_the_text_names_winner_margin_and_test(of_paper):
    text = of_paper["emodt", "f1"].text.replace("\u00a0", " ")
    assert text.startswith("CTP has the best average rank (1.38 of 5, 8 datasets) and F1-measure 65.35 % on average")
    assert "1.23 points better than PTC-mode, the second" in text
    assert "13.55 points better than GMV, the usual vote" in text
    assert "(Friedman, p < 0.001); it is significantly better than BMV and GMV" in text
    assert "not than PTC-mode or PTC-lw (Nemenyi, α = 0.05)" in text


def made(values: dict[str, list[float]], dataset="one", loss="hamming") -> pd.DataFrame:
    return pd.DataFrame(
        {"dataset": dataset, "ensemble": "mine", "repeat": 0, "fold": fold, "loss": loss, "aggregation": name,
         "pool": "mean", "size": 3, "value": value, "n_test": 10}
        for name, folds in values.items() for fold, value in enumerate(folds)
    )  # fmt: skip


def test_on_one_dataset_the_folds_are_compared_and_the_text_says_so():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.4, 10)
    values = {"gmv": base + 0.1 + rng.normal(0, 0.01, 10), "ctp": base, "bmv": base + rng.normal(0.001, 0.02, 10)}
    (answer,) = answers(made({name: list(value) for name, value in values.items()}))
    assert (answer.best, answer.better_than, answer.undecided) == ("ctp", ("gmv",), ("bmv",))
    raw = [corrected_t_test(values[name] - base, 0.1).p_value for name in ("bmv", "gmv")]
    assert answer.p_value == pytest.approx(holm(raw)[0], abs=1e-9)
    assert "across the 10 folds of this one dataset (corrected resampled t-test" in answer.text


def test_the_share_that_a_fold_tests_on_follows_the_dataset_when_its_size_is_known():
    rng = np.random.default_rng(1)
    rows = made({"gmv": list(rng.uniform(0.4, 0.5, 3)), "ctp": list(rng.uniform(0.38, 0.48, 3))})
    (covering,), (three_of_ten,) = answers(rows), answers(rows, {"one": 100})
    gaps = rows[rows.aggregation == "gmv"].value.to_numpy() - rows[rows.aggregation == "ctp"].value.to_numpy()
    assert covering.p_value == pytest.approx(corrected_t_test(gaps, 1 / 3).p_value)
    assert three_of_ten.p_value == pytest.approx(corrected_t_test(gaps, 1 / 10).p_value)


def test_one_fold_of_one_dataset_is_not_tested():
    (answer,) = answers(made({"gmv": [0.4], "ctp": [0.3]}))
    assert (answer.best, answer.test, answer.p_value) == ("ctp", "", None)
    assert "One fold says nothing about chance." in answer.text


def test_aggregations_that_never_differ_are_all_as_good():
    (answer,) = answers(made({"gmv": [0.4, 0.3], "ctp": [0.4, 0.3]}))
    assert answer.text == "GMV scores Hamming loss 35.00 %. CTP did the same in every fold: any of them will do."


def test_two_aggregations_over_datasets_are_compared_by_nemenyi():
    rows = pd.concat(made({"gmv": [0.4], "ctp": [0.3]}, dataset=f"d{i}") for i in range(5))
    (answer,) = answers(rows)
    assert answer.better_than == ("gmv",)
    assert "The difference is significant (Nemenyi, p" in answer.text


def test_few_datasets_are_said_to_be_few():
    rows = pd.concat(made({"gmv": [0.4], "ctp": [0.3], "bmv": [0.5]}, dataset=f"d{i}") for i in range(2))
    (answer,) = answers(rows)
    assert answer.better_than == ()
    assert "Over only 2 datasets these tests find little." in answer.text


def test_higher_is_better_for_f1():
    (answer,) = answers(made({"gmv": [0.4, 0.41, 0.39], "ctp": [0.3, 0.31, 0.3]}, loss="f1"))
    assert answer.best == "ctp"
    assert "F1-measure 69.67" in answer.text
    assert "9.67 points better than GMV" in answer.text
