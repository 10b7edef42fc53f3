"""What type checkers and editors see."""

import subprocess
import sys
from typing import get_args

import pytest

from comitia import AGGREGATIONS, LOSSES, MEASURES, POOLS, READINGS
from comitia.aggregation._kinds import AggregationName
from comitia.losses._registry import LossName
from comitia.measures._registry import MeasureName
from comitia.relevance._calibration import KINDS, Kind
from comitia.relevance._pools import PoolName
from comitia.relevance._readings import ReadingName

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


def test_calls_as_docstrings_show_them_pass_mypy(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    path = tmp_path / "calls.py"
    path.write_text(CALLS, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
