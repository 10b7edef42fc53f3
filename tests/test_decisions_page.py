"""The page of results about measures of a whole set says of rows what they show."""

import numpy as np
import pytest
from benchmarks._decisions_page import page
from benchmarks.decisions_for_sets import Scored, quick_f1, read_rows, scored_cells
from benchmarks.guarantees import Kept
from sklearn.metrics import f1_score


def row(method, fold, seconds=1.0, labels=6, timed=6, **scores):
    found = {way: {"macro": value, "micro": value} for way, value in scores.items()}
    return Scored("emotions", method, fold, found, seconds, labels, timed)


def test_the_page_shows_means_paired_differences_and_where_something_is_worse():
    rows = [row("EMODT", fold, half=0.5, macro=0.6 + fold / 100, micro=0.4) for fold in range(3)]
    rows += [row("random forest", fold, 20.0, tuned=0.5 + fold / 100) for fold in range(2)]
    rows += [row("random forest, as written", 0, 60.0, timed=2)]
    kept = [Kept("scene", "EMODT", split, [0.7, 0.9, 0.95], [0.1, 0.2, 0.3]) for split in range(10)]
    slow = [row("ECC", 0, 4.0, half=0.5), row("logistic regression, as written", 0, 20.0)]
    assert "everywhere but for ECC on emotions (5.0)." in page(rows + slow, [])
    text = page(rows, [*kept, Kept("scene", "ECC", 0, [0.1] * 3, [0.1] * 3)])
    assert "| emotions | 3 | 50.0 ± 0.0 | 61.0 ± 0.6 | 50.5 ± 0.5 (2) | +11.0 ± 0.6 | +10.0 ± 0.0 |" in text
    assert "Mean gain over 1 datasets: 11.0 points" in text
    assert "cut at one half by more than one standard error: on emotions." in " ".join(text.split())  # micro
    assert "| EMODT, emotions | 1.00 | 60.0 (from 2 labels) | 60.0 | 20.0 | 20.0 |" in text
    assert "10 times as fast as scikit-learn's as written, or more, everywhere." in text
    assert "missed by more than a standard error: EMODT, scene at 0.8 (70.0)" in " ".join(text.split())
    assert "| ECC, scene" not in text


def test_cells_that_are_there_are_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.decisions_for_sets.score", lambda *cell: row(cell[1], cell[2], half=0.5))
    cells = [("emotions", "EMODT", fold) for fold in range(3)]
    assert len(list(scored_cells(cells[:2], tmp_path / "rows.jsonl"))) == 2
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"dataset": "emot')  # killed while it wrote
        file.write("\n")
    assert [one.fold for one in scored_cells(cells, tmp_path / "rows.jsonl")] == [2]
    assert [one.cell for one in read_rows(tmp_path / "rows.jsonl")] == cells


def test_the_quick_score_is_scikit_learns():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.2, 0.9):
        truth, found = (rng.random((2, 50)) < share).astype(int)
        assert quick_f1(truth, found) == pytest.approx(f1_score(truth, found, zero_division=0))
