"""Wrong arguments are answered with what would be right: code 2; what cannot be done ends with code 1."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import comitia

COMMANDS = ("compare", "reproduce", "train", "predict", "datasets", "report")
HERE = __file__
"""A file that is there."""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_is_for(command):
    ended = comitia(command, "--help")
    assert ended.code == 0
    assert f"Usage: comitia {command}" in ended.said
    assert "$ comitia" in ended.said


def test_help_lists_every_command():
    ended = comitia("--help")
    assert ended.code == 0
    assert all(command in ended.said for command in COMMANDS)
    assert "Start here: comitia compare" in ended.said


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["compar"], "Did you mean 'compare'?"),
        (["compare", "--lossess", "f1"], "--losses"),
        (["compare", "--losses", "hamming,f2"], "unknown loss 'f2': did you mean 'f1'? There are: hamming, subset01"),
        (["compare", "--losses", ","], "names no loss. There are: hamming"),
        (["compare", "--ensembles", "ec"], "unknown ensemble 'ec': did you mean 'ecc'?"),
        (["compare", "--aggregations", "ptc_mode"], "did you mean 'ptc-mode'?"),
        (["compare", "--pools", "avg"], "unknown pool 'avg'. There are: mean, median"),
        (["compare", "--folds", "1"], "Invalid value for '--folds'"),
        (["compare", "--folds", "many"], "Invalid value for '--folds'"),
        (["compare", "emotion"], "as a name: unknown dataset 'emotion': did you mean 'emotions'?"),
        (["compare", "emotions", "--labels", "a"], "emotions knows its labels; --labels is for files."),
        (["reproduce"], "Missing argument"),
        (["reproduce", "table3"], "unknown plan 'table3': did you mean 'table2'? There are: figure2, table2."),
        (["reproduce", "table2", "--datasets", "yeats"], "unknown dataset 'yeats': did you mean 'yeast'?"),
        (["reproduce", "table2", "--ensembles", "cc"], "unknown ensemble 'cc': did you mean 'ecc'?"),
        (["reproduce", "table2", "--folds", "11"], "the plan has 10; got 11."),
        (["train", "emotions"], "Missing option '--output'"),
        (["train", "emotions", "-o", "m", "--ensemble", "ebc"], "unknown ensemble 'ebc'"),
        (["train", "emotions", "-o", "m", "--loss", "f1,hamming"], "takes one loss; got 'f1,hamming'."),
        (["train", "emotions", "-o", "m", "--aggregation", "ctp-joint"], "ctp-joint needs trees: --ensemble emodt"),
        (["predict", HERE, HERE, "-o", "out.txt"], "expected a name that ends in .csv or .parquet; got out.txt."),
        (["datasets", "mediamil", "--fetch"], "did you mean 'mediamill'?"),
    ],
)  # fmt: skip
def test_wrong_arguments_say_what_would_be_right(arguments, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = comitia(*arguments)
    assert ended.code == 2
    assert answer in ended.said
    assert ended.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_csv_file_without_labels_shows_its_columns(joint_csv, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = comitia("compare", joint_csv)
    assert ended.code == 2
    assert "are labels: --labels y2; or which one lists the names of labels: --labels-in y2." in ended.said
    assert "It has: x0, x1, x2, x3, y0, y1, y2." in ended.said
    ended = comitia("compare", joint_csv, "--labels", "z*")
    assert ended.code == 2
    assert "is like 'z*'. It has: x0, x1" in ended.said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "answer"),
    [
        ("a,b\n1,0\n2\n", "bad.csv: row 2: expected 2 cells, one for each column, found 1: '2'"),
        ("a,b\n1,0\n2,7\n", "row 2, 'b': expected a label to be 0 or 1, found 7"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_without_a_traceback(content, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.csv").write_text(content)
    ended = comitia("compare", "bad.csv", "--labels", "b")
    assert ended.code == 1
    assert ended.err.startswith("error: ")
    assert answer in ended.said
    assert "Traceback" not in ended.said
    assert [path.name for path in tmp_path.iterdir()] == ["bad.csv"]


def test_debugging_shows_the_traceback(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from comitia.cli._app import app

    ended = CliRunner(env={"COMITIA_DEBUG": "1"}).invoke(app, ["report", str(tmp_path)])
    assert isinstance(ended.exception, ValueError)


def test_version_is_shown():
    ended = comitia("--version")
    assert (ended.code, ended.out.startswith("comitia 0.")) == (0, True)


def test_without_the_extra_the_way_to_get_it_is_told():
    code = "import sys; sys.modules['typer'] = None; from comitia.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert ended.stderr == 'error: the command line needs typer: pip install "comitia[cli]"\n'


def test_a_bug_shows_its_traceback_and_where_it_should_go(tmp_path, monkeypatch):
    def broken(*arguments, **options):
        raise ValueError("a wrong turn")

    monkeypatch.setattr("comitia.cli._report.read_run", broken)
    ended = comitia("report", tmp_path)
    assert ended.code == 1
    assert ended.out == ""
    assert ended.err.startswith("Traceback (most recent call last):")
    assert "ValueError: a wrong turn" in ended.err
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = f"This is a bug in comitia; please report it with the lines above: {project['urls']['Issues']}\n"
    assert ended.err.endswith(asked)


def test_the_module_is_the_command_line():
    ended = subprocess.run([sys.executable, "-m", "comitia", "--version"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout.startswith("comitia 0.")) == (0, True)
