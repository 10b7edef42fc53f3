"""A loss, an aggregation and an ensemble are a class and a line in a registry: all that shows or uses them follows."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import comitia

LOSS = """
from dataclasses import dataclass
from typing import ClassVar
from comitia.losses._hamming import Hamming

@dataclass(frozen=True)
class ToyLoss(Hamming):
    title: ClassVar[str] = "Toy loss"
"""
ENSEMBLE = """
from typing import ClassVar
from comitia.ensembles._trees import EMODTClassifier

class ToyClassifier(EMODTClassifier):
    title: ClassVar[str] = "Toys"
    brief: ClassVar[str] = "toys"
    about: ClassVar[str] = "an ensemble of toys"

    @staticmethod
    def _work(size):
        return 7.0
"""
ASKED = """
import comitia
from comitia.ensembles._toy import ToyClassifier
from comitia.experiments import EnsembleSetting
from comitia.ensembles._size import Size
from comitia.losses._toy import ToyLoss
from comitia.model_file._model import known_types
from comitia.report._vocabulary import explained, measure, title

assert comitia.get_loss("Toy loss") == comitia.get_loss("toy") == ToyLoss()
assert comitia.get_aggregation("Toy vote", ToyLoss()) == comitia.PredictThenCombine()
assert (measure("toy").title, title("etoy"), title("toyvote")) == ("Toy loss", "Toys", "Toy vote")
assert explained(["etoy", "toyvote"]) == {"Toys": "an ensemble of toys", "Toy vote": "a vote of toys"}
assert isinstance(EnsembleSetting("etoy").build(), ToyClassifier)
trusted = set().union(*known_types().values())
assert {"comitia.ensembles._toy.ToyClassifier", "comitia.losses._toy.ToyLoss"} <= trusted
size = Size(n=1, values=1, labels=1, cardinality=1, members=1)
assert EnsembleSetting("etoy").build()._work(size) == 7
"""


def insert(path: Path, line: str, before: str, said: str) -> None:
    """Import what was added, and enter it in the registry: one line."""
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace("\nfrom comitia.", f"\n{line}\nfrom comitia.", 1).replace(before, f"{said}\n{before}"))


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a program with a library to which one of each has been added."""
    source = tmp_path_factory.mktemp("added")
    package = shutil.copytree(Path(comitia.__file__).parent, source / "comitia")
    (package / "losses" / "_toy.py").write_text(LOSS)
    (package / "ensembles" / "_toy.py").write_text(ENSEMBLE)
    insert(
        package / "losses" / "_registry.py",
        "from comitia.losses._toy import ToyLoss",
        '    "jaccard": J',
        '    "toy": ToyLoss,',
    )
    insert(
        package / "ensembles" / "__init__.py",
        "from comitia.ensembles._toy import ToyClassifier",
        '    "committee": C',
        '    "etoy": ToyClassifier,',
    )
    insert(
        package / "aggregation" / "_kinds.py",
        "",
        '    "ctp-joint": CombineThenPredict(',
        '    "toyvote": PredictThenCombine(title="Toy vote", about="a vote of toys"),',
    )
    environment = {**os.environ, "PYTHONPATH": str(source), "COLUMNS": "200", "NO_COLOR": "1"}

    def run(*program: str) -> str:
        ended = subprocess.run([sys.executable, *program], env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def test_names_titles_costs_and_trusted_types_follow(run):
    run("-c", ASKED)


def test_the_help_of_the_command_line_follows(run):
    told = " ".join(run("-m", "comitia", "compare", "--help").split())
    assert "etoy (toys)" in told
    assert "f1, toy, jaccard" in told
    assert "toyvote, ctp-joint" in told
