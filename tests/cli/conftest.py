"""The command line called from within, and small data for it."""

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from comitia.cli._app import app


@dataclass(frozen=True)
class Ended:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def said(self) -> str:
        """Everything on one line: terminals break lines where they like."""
        plain = (self.out + self.err).replace("│", " ").replace("\u00a0", " ")
        return " ".join(plain.split())


def comitia(*arguments) -> Ended:
    ended = CliRunner(env={"COLUMNS": "120", "COMITIA_DATA": "", "COMITIA_DEBUG": ""}).invoke(
        app, [str(argument) for argument in arguments]
    )
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Ended(ended.exit_code, ended.stdout, ended.stderr)


@pytest.fixture(scope="session")
def compared(joint_csv, tmp_path_factory) -> tuple[Ended, Path]:
    """A comparison on a small file: how it ended and its folder."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    few = ("--members", 12, "--folds", 3, "--ensembles", "emodt,ebr", "--n-jobs", 1)
    return comitia("compare", joint_csv, "--labels", "y*", *few, "--output", folder), folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def trained(joint_csv, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.skops"
    ended = comitia("train", joint_csv, "-l", "y*", "--ensemble", "ecc", "--loss", "f1", "-m", 5, "-o", path)
    assert ended.code == 0
    return path


@pytest.fixture
def features(joint) -> pd.DataFrame:
    return pd.DataFrame(joint.X, columns=list(joint.feature_names))


def write(path, frame: pd.DataFrame):
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def mine(joint_csv, tmp_path, monkeypatch):
    """A folder with a file of one's own, entered."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_bytes(joint_csv.read_bytes())
    return tmp_path / "mine.csv"
