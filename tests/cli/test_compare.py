"""`comitia compare` and `comitia report`: from a file to a table, a recommendation and a report."""

import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from comitia.cli._tables import tables
from comitia.experiments import Store, parse_plan
from comitia.report import Results
from tests.cli.conftest import comitia
from tests.conftest import LABELS

FEW = ("--members", 5, "--folds", 2, "--ensembles", "ebr", "--losses", "f1", "--aggregations", "gmv,ctp", "-j", 1)


def test_a_comparison_says_in_plain_words_what_to_use_and_how(compared):
    ended, folder = compared
    assert ended.code == 0
    for words in (
        "joint: 150 instances, 4 features, 3 labels",
        "EMODT and EBR with 12 members, 3-fold cross-validation",
        "get exactly the right set of labels; with the usual vote of the same members",
        "which learns nothing",
        "EBR: ensemble of binary relevance: one classifier for each label",
        "Tables, ranks and tests: --details, or the report.",
    ):
        assert words in ended.said
    assert "in percent, lower is better" not in ended.said
    for advice in Results.read(folder).recommendations:
        assert f"  {advice.measure.title}: use {advice.choice}.\n" in ended.out
        assert advice.plain.replace("\u00a0", " ") in ended.said
        assert " ".join(advice.python.split()) in ended.said
        assert advice.command in ended.said.replace(" \\ ", " ")


def test_the_winner_for_a_loss_with_parameters_is_trained_by_the_line_that_is_printed(joint_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    few = (*FEW[:-6], "--losses", "f1,F1(beta=2)", "--aggregations", "gmv,ctp", "-j", 1)
    _, advice = comitia("compare", joint_csv, "-l", ",".join(LABELS), *few, "--json").json["recommendations"]
    assert "--loss 'f1(beta=2)'" in advice["command"]
    assert "loss=FLoss(beta=2)" in advice["python"]
    ended = comitia(*shlex.split(advice["command"])[1:], "--json")
    assert (ended.code, ended.json["loss"]) == (0, "f1(beta=2)")


def test_what_a_comparison_prints_can_be_pasted(compared, tmp_path, monkeypatch):
    """The command and the lines of Python of every loss, from the terminal, run as they stand."""
    ended = compared[0]
    printed = ended.out.splitlines()
    starts = [place for place, line in enumerate(printed) if line.startswith("from comitia import")]
    assert len(starts) == 3
    for start in starts:
        space: dict = {}
        exec("\n".join(printed[start : start + 4]), space)
        assert space["classifier"].predict(space["data"].X).shape == space["data"].Y.shape
    monkeypatch.chdir(tmp_path)
    begins = [place for place, line in enumerate(printed) if line.startswith("comitia train ")]
    assert len(begins) == 3
    for begin, start in zip(begins, starts, strict=True):
        command = "\n".join(printed[begin:start]).replace("\\\n", "")
        assert comitia(*shlex.split(command)[1:], "--force").code == 0


def test_details_are_tables_with_ranks_and_tests(compared):
    ended = comitia("report", compared[1], "--details")
    assert ended.code == 0
    for words in (
        "Hamming loss in percent, lower is better",
        "F1-measure in percent, higher is better",
        "CTP-joint",
        "Mean ± standard error over the folds, rank.",
        "Recommendation",
    ):
        assert words in ended.said
    assert "Subset 0/1 loss: use E" in ended.said  # the advice names an ensemble


@pytest.mark.parametrize(("width", "beneath"), [(100, 1), (40, 2), (24, 2)])
def test_tables_are_as_wide_as_the_terminal_and_lose_no_number(compared, width, beneath):
    run = Results.read(compared[1])
    screen = Console(width=width, file=io.StringIO())
    for _, shown in tables(run, screen):
        assert len(shown) == beneath
        screen.print(*shown)
    said = screen.file.getvalue()
    assert max(map(len, said.splitlines())) <= width
    assert "…" not in said
    entries = {f"{row['percent']:.2f}" for row in run.as_records()["results"] if not row["same_as"]}
    assert len(entries) > 10
    assert all(entry in said for entry in entries)


def test_a_comparison_ends_by_naming_its_folder_and_the_report(compared):
    ended, folder = compared
    *_, results, report = ended.out.strip().splitlines()
    assert results == f"results: {folder}"
    assert report == f"report:  {folder / 'report.html'}"
    assert (folder / "report.html").is_file()


def test_the_folder_has_the_rows_and_the_plan_that_was_run(compared):
    _, folder = compared
    store = Store.read(folder)
    assert parse_plan((folder / "plan.toml").read_text()) == store.plan
    assert store.plan.datasets[0].labels == LABELS
    assert pd.read_parquet(folder / "rows.parquet").to_dict("records") == store.rows()


def test_the_same_command_on_a_finished_folder_computes_nothing(compared, joint_csv):
    ended, folder = compared
    before = {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}
    few = ("--members", 12, "--folds", 3, "--ensembles", "emodt,ebr", "--n-jobs", 2)
    again = comitia("compare", joint_csv, "--labels", "y*", *few, "--output", folder)
    assert (again.code, again.out) == (0, ended.out)
    assert {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()} == before


def test_a_folder_of_another_comparison_is_refused(compared, joint_csv):
    _, folder = compared
    ended = comitia("compare", joint_csv, "--labels", "y*", "--folds", 4, "--output", folder)
    assert ended.code == 1
    assert "holds results of a different plan" in ended.said
    assert "folds: 3 in the folder, 4 now" in ended.said


def test_json_is_all_that_is_written_to_standard_output(joint_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = comitia("compare", joint_csv, "-l", "y0,y1", "-l", "y2", *FEW, "--json")
    assert ended.code == 0
    assert ended.json["folder"] == str(Path("comitia-runs", "compare-joint-1"))
    assert {(row["aggregation"], row["loss"]) for row in ended.json["results"]} == {("gmv", "f1"), ("ctp", "f1")}
    assert all(0 <= row["percent"] <= 100 for row in ended.json["results"])
    (advice,) = ended.json["recommendations"]
    assert (advice["loss"], advice["ensemble"]) == ("f1", "ebr")
    assert advice["aggregation"] in advice["text"].lower()


def test_what_cannot_be_run_is_refused_before_anything_is(joint_csv, tmp_path):
    given = ("compare", joint_csv, "--labels", "y*", "-o", tmp_path / "run")
    ended = comitia(*given, "--folds", 151)
    assert (ended.code, "151 folds need as many instances; joint has 150" in ended.said) == (2, True)
    ended = comitia(*given, "--ensembles", "ebr", "--aggregations", "ctp-joint")
    assert (ended.code, "'ebr' has no joint distributions for 'ctp-joint'" in ended.said) == (1, True)
    ended = comitia("compare", joint_csv, "--labels", "y0,yy1", "-o", tmp_path / "run")
    assert (ended.code, "unknown column 'yy1': did you mean 'y1'?" in ended.said) == (2, True)
    ended = comitia("train", joint_csv, "--labels", "y*", "-o", tmp_path)
    assert (ended.code, "is a directory" in ended.said) == (2, True)
    assert not (tmp_path / "run").exists()


def test_a_run_without_a_folder_takes_the_next_number(tmp_path, monkeypatch):
    from comitia.cli._compare import _new_folder

    monkeypatch.chdir(tmp_path)
    runs = Path("comitia-runs")
    assert [_new_folder("mine") for _ in range(2)] == [runs / "compare-mine-1", runs / "compare-mine-2"]


def test_a_report_is_written_anew_with_a_page_in_markdown(compared, tmp_path):
    _, folder = compared
    (folder / "report.html").unlink()
    again = comitia("report", folder, "--markdown", tmp_path / "page.md")
    assert again.code == 0
    assert (folder / "report.html").is_file()
    assert "Recommendation" in again.out
    page = (tmp_path / "page.md").read_text()
    assert "| seed | 0;" in page
    assert "| command | `comitia" in page
    assert "## F1-measure" in page
    assert "n_estimators=12" in page


def test_a_report_of_a_folder_without_results_says_so(tmp_path, compared):
    ended = comitia("report", tmp_path)
    assert (ended.code, "it has no plan.toml" in ended.said) == (1, True)
    Store.create(tmp_path / "begun", Store.read(compared[1]).plan)
    ended = comitia("report", tmp_path / "begun")
    assert (ended.code, "has no results yet" in ended.said) == (1, True)


@pytest.mark.slow
def test_the_first_command_of_the_readme_draws_the_digits(tmp_path):
    """As a user types it, only with fewer members and folds."""
    ended = subprocess.run(
        [sys.executable, "-m", "comitia", "compare", "-m", "5", "--folds", "2"],
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "80"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    assert "seven-segment: 1,797 instances, 64 features, 7 labels" in ended.stdout
    code = "classifier = "  # lines to paste are not broken
    assert max(len(line) for line in ended.stdout.splitlines() if not line.startswith(code)) <= 80
    assert "6 of 6 cells" in ended.stderr
    folder = tmp_path / "comitia-runs" / "compare-seven-segment-1"
    assert ended.stdout.splitlines()[-1] == "report:  comitia-runs/compare-seven-segment-1/report.html"
    assert (folder / "figures" / "digits.svg").is_file()
    assert json.loads((folder / "digits.json").read_text())["loss"] == "subset01"
