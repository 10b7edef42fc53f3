"""Data and plans that are small enough to run for real."""

from pathlib import Path

import pytest

from comitia.experiments import DataSource, EnsembleSetting, Plan
from tests.conftest import LABELS


@pytest.fixture
def plan(joint_csv) -> Plan:
    return small_plan(joint_csv)


def small_plan(path: Path, **changes) -> Plan:
    """Two ensembles of twelve members, three folds: six cells of some milliseconds."""
    settings = {
        "name": "small",
        "datasets": (DataSource("joint", str(path), LABELS),),
        "ensembles": (EnsembleSetting("emodt", {"n_estimators": 12}), EnsembleSetting("ebr", {"n_estimators": 12})),
        "folds": 3,
    }
    return Plan(**(settings | changes))
