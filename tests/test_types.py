"""What type checkers and editors see."""

import doctest
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import comitia
from comitia import AGGREGATIONS, LOSSES, MEASURES, POOLS, READINGS
from comitia.aggregation._kinds import AggregationName
from comitia.losses._registry import LossName
from comitia.measures._registry import MeasureName
from comitia.relevance._calibration import KINDS, Kind
from comitia.relevance._pools import PoolName
from comitia.relevance._readings import ReadingName
from tests.test_house import doors, methods

CALLS = """
import numpy as np

from comitia import (
    CombineThenPredict, Constraints, CustomLoss, ECCClassifier, EMODTClassifier, FLoss, LabelSets, Marginals, Observed,
    decide, get_loss, votes,
)
from comitia.measures import MacroF
from comitia.relevance import Shared, fit_calibration, mixture

rows = [[0.9, 0.4], [0.2, 0.7]]
belief = Marginals(rows)
known = Marginals(np.array(rows), Observed.of([[1, 0], [1, 1]]))
sets = LabelSets([[1, 1], [0, 0]], [[0.75, 0.25]])
Shared(belief, [1, 1, 0]).marginals()
decide([belief, belief], "f1", "ptc-mbr", pool="median", reading="seen", constraints=Constraints(at_least=1))
decide([belief], lambda truth, labeling: 0.0, CombineThenPredict(mixture))
loss = CustomLoss(lambda truth, labeling: float((truth != labeling).any()), candidates=np.eye(2, dtype=int))
get_loss("f1", beta=2).minimise(sets)
votes([[[1, 0]], [[1, 1]]]).marginals()
fit_calibration(rows, [[1, 0], [0, 1]], kind="sigmoid")
ECCClassifier(n_estimators=5, loss=loss, aggregation="oob", calibration="oob").fit(rows, [[1, 0], [0, 1]])
EMODTClassifier(loss=MacroF(beta=2), oob_score=True).set_params(loss=FLoss(beta=2)).predict(rows)
"""


@pytest.mark.parametrize(
    ("literal", "names"),
    [
        (LossName, LOSSES),
        (MeasureName, MEASURES),
        (AggregationName, AGGREGATIONS),
        (PoolName, POOLS),
        (ReadingName, READINGS),
        (Kind, KINDS),
    ],
    ids=["losses", "measures", "aggregations", "pools", "readings", "calibrations"],
)
def test_the_names_that_editors_complete_are_those_that_there_are(literal, names):
    assert get_args(literal) == tuple(names)


def test_strange_calls_pass_mypy_as_strict_as_it_can_be(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    path = tmp_path / "calls.py"
    path.write_text(CALLS, encoding="utf-8")
    passes("mypy", "--strict", path, folder=tmp_path)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """A file for the example of each public docstring, as somebody would paste it."""
    folder, parser = tmp_path_factory.mktemp("examples"), doctest.DocTestParser()
    for name, thing in [*doors(), *methods()]:
        lines = [example.source for example in parser.get_examples(inspect.getdoc(thing) or "")]
        if lines:
            (folder / f"{name.replace('.', '_')}.py").write_text("".join(lines), encoding="utf-8")
    return folder


def test_the_examples_of_all_docstrings_pass_mypy(examples, tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    passes(
        "mypy",
        "--config-file=",
        "--ignore-missing-imports",
        "--check-untyped-defs",
        *examples.glob("*.py"),
        folder=tmp_path,
    )


def test_the_examples_of_all_docstrings_pass_pyright(examples):
    pytest.importorskip("pyright", reason="pyright is not installed")
    # What pyright makes of the code of libraries without types is no matter of ours.
    settings = {"useLibraryCodeForTypes": False, "reportUnusedExpression": False, "reportMissingModuleSource": False}
    settings["extraPaths"] = [str(Path(comitia.__file__).parents[1])]
    (examples / "calls.py").write_text(CALLS, encoding="utf-8")
    (examples / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    passes("pyright", "--pythonpath", sys.executable, "--project", examples)


def passes(checker, *arguments, folder=None):
    quiet = [] if folder is None else ["--follow-imports=silent", f"--cache-dir={folder}"]
    found = subprocess.run(
        [sys.executable, "-m", checker, *quiet, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout + found.stderr
