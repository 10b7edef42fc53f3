"""The comparison with other libraries: cuts, rows and the page made of them."""

import itertools
import json

import numpy as np
import pytest
from benchmarks.peers import DATASETS, Watch, decide_ours, decide_peer, read_rows
from benchmarks.peers_methods import GRID, Fitted, Ours, Peer, asked, fit_peer, tuned_cuts
from benchmarks.peers_page import page, short_table
from benchmarks.peers_results import Results
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score

from comitia.datasets import Dataset
from comitia.statistics import corrected_t_test

ORDER = ["Committee", "EMODT", "random forest", "LightGBM a label"]


def row(dataset, method, fold, losses, seconds=1.0, **more):
    shape = {"n": 100, "d": 5, "K": 14, "folds": 10}
    times = {"cpu": {"fit": seconds, "predict": 0.5}, "wall": {"fit": seconds, "predict": 0.5}}
    found = {"dataset": dataset, "method": method, "fold": fold, "losses": losses}
    return {**found, **shape, **times, "version": "library 1.0", "machine": "processor", **more}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    found = []
    for dataset, fold in itertools.product(("flags", "yeast"), range(10)):
        noise = rng.normal(0, 0.002, 4)
        found.append(row(dataset, "Committee", fold, {"oob": [0.2 + noise[0], 0.6, 0.3]}, weights={"trees": 1.0}))
        found.append(row(dataset, "EMODT", fold, {"oob": [0.3, 0.7, 0.4], "default": [0.31, 0.7, 0.4]}))
        half = [0.25 + noise[1], 0.8, 0.5]
        found.append(row(dataset, "random forest", fold, {"half": half, "cuts": [0.3, 0.8, 0.35 + noise[2]]}, 4.0))
    found.append(row("flags", "LightGBM a label", 0, {"half": [0.1, 0.5, 0.2]}))
    return found


def test_tuned_cuts_are_never_worse_than_the_best_common_cut():
    rng = np.random.default_rng(1)
    Y = rng.integers(0, 2, (60, 4))
    p = np.clip(0.3 * Y + 0.7 * rng.random((60, 4)), 0, 1)

    def f1(cuts):
        return f1_score(Y, p > cuts, average="samples", zero_division=1.0)

    assert f1(tuned_cuts(p, Y)) >= max(f1(np.full(4, cut)) for cut in GRID)


def test_a_tuned_cut_is_the_best_of_the_grid_for_one_label():
    rng = np.random.default_rng(2)
    Y = rng.integers(0, 2, (40, 1))
    p = np.clip(0.4 * Y + 0.6 * rng.random((40, 1)), 0, 1)
    scores = [np.where(Y | (p > cut), Y & (p > cut), 1).mean() for cut in GRID]
    (cut,) = tuned_cuts(p, Y)
    assert np.where(Y | (p > cut), Y & (p > cut), 1).mean() == max(scores)


def test_a_peer_is_fitted_to_the_labels_that_vary_and_tells_of_all():
    def fit(X, Y, seed):
        assert Y.tolist() == [[0], [1]]
        return Fitted(lambda X: np.full((len(X), 1), 0.25), lambda X, loss: np.ones((len(X), 1)))

    fitted = fit_peer(Peer("one", "one", "one", fit), np.zeros((2, 1)), np.array([[1, 0, 0], [1, 1, 0]]), 0)
    assert fitted.probabilities(np.zeros((1, 1))).tolist() == [[1.0, 0.25, 0.0]]
    assert fitted.decide(np.zeros((1, 1)), "f1").tolist() == [[1, 1, 0]]


class AllOrNone(DummyClassifier):
    """Predicts no label for Hamming loss, and all for the others."""

    def __init__(self, random_state=None, loss="hamming", aggregation=None):
        self.random_state, self.loss, self.aggregation = random_state, loss, aggregation

    def fit(self, X, Y):
        self.K_ = Y.shape[1]
        return self

    def predict(self, X):
        return np.full((len(X), self.K_), self.loss != "hamming")


def test_our_ensembles_decide_for_each_loss_after_one_fit():
    data = Dataset(np.zeros((2, 1)), np.array([[1, 1], [0, 1]], dtype=np.int8), ("a",), ("one", "two"), "two")
    watch = Watch()
    found = decide_ours(Ours("AllOrNone", AllOrNone, {"oob": {"aggregation": "oob"}}), data, data, 0, watch)
    assert found == {"losses": {"oob": [0.75, 0.5, round(1 / 6, 6)]}}
    assert set(watch.cpu) == set(watch.wall) == {"fit", "predict"}


def test_a_peer_cuts_at_one_half_and_at_tuned_cuts_and_is_decided_by_us():
    X = np.arange(20.0).reshape(-1, 1)
    Y = np.column_stack([X >= 10, X < 10]).astype(np.int8)

    def fit(X, Y, seed):
        return Fitted(lambda X: np.hstack([0.395 * (X >= 10), 0.395 * (X < 10)]) + 0.1)

    data = Dataset(X, Y, ("a",), ("one", "two"), "twenty")
    found = decide_peer(Peer("peer", "peer", "peer", fit), data, data, 0, Watch(), cuts=True)
    assert found == {"half": [0.5, 1.0, 1.0], "decided": [0.5, 1.0, 0.0], "cuts": [0.0, 0.0, 0.0]}


def test_the_last_row_of_a_fold_counts_and_half_a_line_does_not(tmp_path, rows):
    again = {**rows[0], "losses": {"oob": [0.0, 0.0, 0.0]}}
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows))
    (tmp_path / "b.jsonl").write_text(json.dumps(again) + '\n{"dataset": "fl')
    found = read_rows(tmp_path)
    assert len(found) == len(rows)
    assert again in found


def test_differences_are_tested_on_the_folds_that_both_have(rows):
    results = Results(rows, DATASETS, ORDER)
    first = list(results.losses("flags", "Committee", "hamming").values())
    second = list(results.losses("flags", "random forest", "hamming").values())
    found = results.compare("flags", "Committee", "random forest", "hamming")
    assert found.p_value == corrected_t_test(np.subtract(first, second), 0.1).p_value
    assert found.folds == 10
    assert results.compare("flags", "Committee", "LightGBM a label", "hamming") is None


def test_only_methods_with_all_folds_of_all_datasets_are_ranked(rows):
    ranks = Results(rows, DATASETS, ORDER).ranks(["Committee", "random forest", "LightGBM a label"], "hamming")
    assert ranks == {"Committee": 1.0, "random forest": 2.0}


def test_a_whole_cross_validation_takes_the_mean_fold_times_the_folds(rows):
    assert Results(rows, DATASETS, ORDER).seconds("flags", "LightGBM a label") == 15.0


def test_the_page_tells_what_the_rows_say(rows):
    text = page(rows, DATASETS, ORDER)
    assert "| LightGBM a label | 10.00 (1) | – | – |" in text
    assert "| random forest | 2 – 0 – 0 | 2 – 0 – 0 | 2 – 0 – 0 |" in text
    assert "flags, Subset 0/1 loss at most 75.0: 60.00, reached." in text
    assert "flags, F1-measure at least 75.0: 70.00, not reached." in text
    assert "| flags | F1-measure ↑ | random forest, tuned cuts |" in text
    assert "| trees | 1.00 | 1.00 |" in text
    assert "| EMODT against random forest | Subset 0/1 loss ↓ | -10.00 ± 0.00 | -10.00 ± 0.00 |" in text


def test_the_table_of_the_readme_has_the_page_s_figures(rows):
    text = short_table(rows, DATASETS, ORDER)
    assert "| Subset 0/1 loss ↓: Committee | **60.0** | **60.0** |" in text
    assert "| LightGBM a label | – | – |" in text


def test_methods_are_asked_for_by_group_or_name():
    assert [method.name for method in asked("emodt; random forest")] == ["EMODT", "random forest"]
    assert {method.name for method in asked("all")} == {method.name for method in asked("ours;peers")}
    with pytest.raises(SystemExit, match="known are ours, peers, all, fast"):
        list(asked("best"))
