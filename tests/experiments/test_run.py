"""Running plans: once, in parts, in parallel, with cells that fail."""

import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from comitia import LOSSES
from comitia.experiments import Cell, DataSource, EnsembleSetting, LossSetting, StoreError, run_plan
from comitia.experiments._cell import _is_drawn, fit_cell, plain_error
from comitia.experiments._run import _cores
from tests.conftest import LABELS, write_csv
from tests.experiments.conftest import small_plan


@pytest.fixture(scope="module")
def finished(joint_csv, tmp_path_factory):
    """A run that nothing disturbed."""
    return run_plan(small_plan(joint_csv), tmp_path_factory.mktemp("runs") / "run", n_jobs=1, command="test it")


def test_a_run_has_a_row_for_every_decision_of_every_cell(finished):
    rows = finished.store.rows()
    assert (finished.total, finished.kept, finished.computed, finished.failures) == (6, 0, 6, ())
    assert len(rows) == 3 * (3 * 8 + 3 * 7)  # the trees alone have joint distributions
    assert list(rows[0]) == [
        *("dataset", "ensemble", "repeat", "fold", "loss", "aggregation", "pool", "size", "value", "n_test")
    ]
    assert {row["n_test"] for row in rows} == {50}
    assert {row["size"] for row in rows} == {12}


def test_a_value_is_that_of_fitting_and_predicting_by_hand(finished, joint):
    plan, cell = finished.store.plan, Cell("joint", "emodt", 0, 2)
    forest, test = fit_cell(plan, cell, joint)
    labeling = forest.set_params(loss="subset01", aggregation="ctp-joint").predict(joint.X[test])
    expected = (labeling != joint.Y[test]).any(axis=1).mean()
    asked = {"ensemble": "emodt", "fold": 2, "loss": "subset01", "aggregation": "ctp-joint"}
    assert [row["value"] for row in finished.store.rows() if asked.items() <= row.items()] == [expected]


def test_out_of_bag_only_losses_are_judged_that_the_plan_asks_for(joint, joint_csv):
    losses = ("f1", LossSetting("f1", {"beta": 2.0}))
    plan = small_plan(joint_csv, losses=losses, aggregations=("ctp", "oob"))
    fitted, _ = fit_cell(plan, Cell("joint", "emodt", 0, 0), joint)
    assert set(fitted.oob_table_) == {"hamming", "f1", "FLoss(beta=2.0, zero_division=1.0)"}
    assert set(clone(fitted).fit(joint.X, joint.Y).oob_table_) == set(LOSSES)


def test_the_folds_of_a_repeat_cover_every_instance_once(plan, joint):
    for stratified in (False, True):
        parts = [
            fit_cell(replace(plan, stratified=stratified), Cell("joint", "ebr", 0, fold), joint)[1] for fold in range(3)
        ]
        assert sorted(np.concatenate(parts)) == list(range(150))


def test_the_number_of_processes_changes_no_row(finished, plan, tmp_path):
    parallel = run_plan(plan, tmp_path / "run", n_jobs=2)
    assert parallel.store.rows() == finished.store.rows()


def written(path):
    return path.stat().st_ino, path.stat().st_mtime_ns


def test_a_run_in_parts_ends_with_the_same_rows_and_repeats_nothing(finished, plan, tmp_path):
    first = run_plan(plan, tmp_path / "run", cells=plan.select(ensembles=["ebr"]), n_jobs=1)
    files = {path: written(path) for path in (tmp_path / "run" / "cells").iterdir()}
    rest = run_plan(plan, tmp_path / "run", n_jobs=1)
    assert (first.computed, rest.kept, rest.computed) == (3, 3, 3)
    assert all(written(path) == before for path, before in files.items())
    assert rest.store.rows() == finished.store.rows()


def test_a_finished_run_computes_nothing(finished):
    again = run_plan(finished.store.plan, finished.store.folder, n_jobs=1)
    assert (again.kept, again.computed) == (6, 0)


def test_provenance_tells_how_rows_came_to_be(finished):
    session = finished.store.provenance()["sessions"][0]
    assert session["command"] == "test it"
    assert session["seconds"] > 0
    assert {"comitia", "python", "numpy", "scikit-learn", "numba"} <= set(session["versions"])
    assert session["machine"]["cores"] >= 1
    assert finished.store.provenance()["seed"] == 0
    of_cell = finished.store.cell_provenance(Cell("joint", "ebr", 0, 0))
    assert of_cell["seed_of_members"] == finished.store.plan.seed_of_members(Cell("joint", "ebr", 0, 0))
    assert of_cell["digest"] == finished.store.plan.digest()
    assert 0 < of_cell["seconds_to_fit"] <= of_cell["seconds"]
    (described,) = finished.store.datasets()
    assert (described["n"], described["d"], described["K"], described["label_names"]) == (150, 4, 3, list(LABELS))


def test_provenance_does_not_tell_whose_machine_it_is(finished):
    import platform

    text = "".join(path.read_text() for path in finished.store.folder.rglob("*.json") if path.name != "identity.json")
    assert platform.node() not in text
    assert str(finished.store.folder) not in text


def test_a_cell_that_fails_is_told_and_the_rest_goes_on(joint_csv, tmp_path):
    # No sample of a thousand instances can be drawn from a hundred without putting them back.
    settings = (EnsembleSetting("ebr", {"n_estimators": 5, "max_samples": 1000, "bootstrap": False}),)
    plan = small_plan(joint_csv, ensembles=(*settings, EnsembleSetting("emodt", {"n_estimators": 12})))
    for n_jobs in (1, 2):
        summary = run_plan(plan, tmp_path / str(n_jobs), n_jobs=n_jobs)
        assert (summary.computed, len(summary.failures)) == (3, 3)
        assert {row["ensemble"] for row in summary.store.rows()} == {"emodt"}
        (failure, *_) = summary.store.failures()
        assert failure["cell"] == "joint.ebr.r0.f0"
        assert failure["error"].startswith("ComitiaError: max_samples")
        assert failure["where"]


def test_cells_that_failed_are_tried_again(joint_csv, joint, tmp_path):
    late = tmp_path / "late.csv"
    sources = (DataSource("joint", str(joint_csv), LABELS), DataSource("late", str(late), LABELS))
    plan = small_plan(joint_csv, datasets=sources, ensembles=(EnsembleSetting("emodt", {"n_estimators": 12}),))
    first = run_plan(plan, tmp_path / "run", n_jobs=1)
    assert (first.computed, len(first.failures)) == (3, 3)
    assert "late.csv is neither a file nor" in first.failures[0]["error"]
    write_csv(late, joint)
    second = run_plan(plan, tmp_path / "run", n_jobs=1)
    assert (second.kept, second.computed, second.failures) == (3, 3, ())
    assert second.store.failures() == []


def test_data_that_changed_between_two_runs_is_refused(joint, tmp_path):
    path = tmp_path / "mine.csv"
    write_csv(path, joint)
    plan = small_plan(path)
    run_plan(plan, tmp_path / "run", cells=plan.select(folds=1), n_jobs=1)
    path.write_text(path.read_text().rsplit("\n", 2)[0] + "\n")
    with pytest.raises(StoreError, match=r"(?s)is not what it was.*n: 150 in the folder, 149 now"):
        run_plan(plan, tmp_path / "run", n_jobs=1)


def test_a_finished_run_is_not_shown_for_other_data(joint, tmp_path):
    path = tmp_path / "mine.csv"
    write_csv(path, joint)
    plan = small_plan(path, ensembles=(EnsembleSetting("emodt", {"n_estimators": 12}),))
    assert run_plan(plan, tmp_path / "run", n_jobs=1).computed == 3
    write_csv(path, replace(joint, Y=joint.Y[np.random.default_rng(0).permutation(150)]))
    with pytest.raises(StoreError, match=r"(?s)is not what it was.*checksum: .* in the folder"):
        run_plan(plan, tmp_path / "run", n_jobs=1)


def test_a_finished_run_whose_data_cannot_be_read_says_so(joint, tmp_path):
    path = tmp_path / "mine.csv"
    write_csv(path, joint)
    plan = small_plan(path, ensembles=(EnsembleSetting("emodt", {"n_estimators": 12}),))
    rows = run_plan(plan, tmp_path / "run", n_jobs=1).rows
    path.unlink()
    with pytest.warns(UserWarning, match="dataset 'joint' cannot be read now"):
        again = run_plan(plan, tmp_path / "run", n_jobs=1)
    assert (again.rows, again.failures) == (rows, ())


@pytest.mark.parametrize("keep", [0, 5, -1], ids=["empty", "five lines", "all but one"])
def test_a_cell_whose_file_is_cut_is_named_and_computed_again(plan, tmp_path, keep):
    rows = run_plan(plan, tmp_path / "run", n_jobs=1).rows
    path = tmp_path / "run" / "cells" / "joint.ebr.r0.f1.jsonl"
    whole = path.read_bytes()
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:keep]))
    with pytest.warns(UserWarning, match=r"joint\.ebr\.r0\.f1\.jsonl is damaged: expected 21 rows"):
        again = run_plan(plan, tmp_path / "run", n_jobs=1)
    assert (again.kept, again.computed) == (5, 1)
    assert again.rows == rows
    assert path.read_bytes() == whole


def test_progress_counts_up_to_the_end_and_says_how_long_it_will_take(plan, tmp_path):
    seen = []
    run_plan(plan, tmp_path / "run", n_jobs=1, on_progress=seen.append)
    assert [progress.done for progress in seen] == list(range(7))
    assert seen[0].seconds_left is None
    assert all(progress.seconds_left > 0 for progress in seen[1:-1])
    assert seen[-1].seconds_left == 0


def test_what_a_cell_was_warned_of_is_kept(joint_csv, tmp_path):
    plan = small_plan(joint_csv, ensembles=(EnsembleSetting("emodt", {"n_estimators": 2}),))
    summary = run_plan(plan, tmp_path / "run", cells=plan.select(folds=1), n_jobs=1)
    warned = summary.store.cell_provenance(Cell("joint", "emodt", 0, 0))["warnings"]
    assert any(text.startswith("UserWarning: ") and "out-of-bag" in text for text in warned)


def test_no_more_cores_are_used_than_there_are(plan, tmp_path):
    summary = run_plan(plan, tmp_path / "run", cells=plan.select(ensembles=["ebr"], folds=1), n_jobs=1000)
    (session,) = summary.store.provenance()["sessions"]
    assert session["n_jobs"] == session["machine"]["cores"]


def test_fewer_than_one_core_is_refused(plan, tmp_path):
    with pytest.raises(ValueError, match=r"n_jobs must be a number of cores, -1 or None for all.*; got 0"):
        run_plan(plan, tmp_path / "run", n_jobs=0)
    assert not (tmp_path / "run").exists()


def test_running_plans_needs_nothing_of_the_command_line():
    code = "import comitia.experiments, sys; print(*{'typer', 'matplotlib', 'plotly', 'jinja2'} & set(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == ""


def test_every_file_of_a_run_is_an_open_format(finished):
    files = [path for path in finished.store.folder.rglob("*") if path.is_file() and path.name != ".lock"]
    assert {path.suffix for path in files} == {".json", ".jsonl", ".toml"}
    for path in files:
        if path.suffix == ".jsonl":
            assert all(json.loads(line)["n_test"] == 50 for line in path.read_text().splitlines())


@pytest.mark.parametrize(
    ("n_jobs", "cluster", "cores"),
    [
        (None, None, 3),
        (-1, None, 3),
        (-2, None, 2),
        (-9, None, 1),
        (1, None, 1),
        (2, None, 2),
        (9, None, 3),
        (None, "c", None),
        (9, "c", 9),
    ],
)
def test_no_more_cores_are_used_than_there_are_and_of_a_cluster_what_it_has(n_jobs, cluster, cores, monkeypatch):
    monkeypatch.setattr("comitia.experiments._run.joblib.cpu_count", lambda: 3)
    assert _cores(n_jobs, cluster) == cores


def test_what_is_kept_of_an_error_names_places_without_paths():
    try:
        small_plan("nowhere.csv", folds=1)
    except ValueError as error:
        kept = plain_error(error)
    assert kept["error"] == "PlanError: folds must be an integer, at least 2; got 1."
    assert kept["where"][0].startswith("test_run.py, line ")
    assert kept["where"][0].endswith(", in test_what_is_kept_of_an_error_names_places_without_paths")
    assert kept["where"][-1].startswith("_plan.py, line ")


@pytest.mark.parametrize(
    ("cell", "shape", "drawn"),
    [
        (Cell("seven-segment", "emodt", 0, 0), (64, 7), True),
        (Cell("seven-segment", "ebr", 0, 0), (64, 7), False),
        (Cell("seven-segment", "emodt", 1, 0), (64, 7), False),
        (Cell("seven-segment", "emodt", 0, 1), (64, 7), False),
        (Cell("joint", "emodt", 0, 0), (64, 7), False),
        (Cell("seven-segment", "emodt", 0, 0), (64, 6), False),
        (Cell("seven-segment", "emodt", 0, 0), (63, 7), False),
    ],
)
def test_digits_are_drawn_of_the_first_ensemble_on_the_first_fold(cell, shape, drawn, joint_csv):
    settings = (EnsembleSetting("emodt"), EnsembleSetting("ebr"))
    plan = small_plan(joint_csv, datasets=(DataSource("seven-segment"), DataSource("joint")), ensembles=settings)
    assert _is_drawn(plan, cell, SimpleNamespace(n_features=shape[0], n_labels=shape[1])) is drawn
