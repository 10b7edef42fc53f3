"""Data and plans that are small enough to run for real."""

from pathlib import Path

import numpy as np
import pytest

from comitia.datasets import Dataset, make_joint
from comitia.experiments import DataSource, EnsembleSetting, Plan

LABELS = ("y0", "y1", "y2")


@pytest.fixture(scope="session")
def joint() -> Dataset:
    return make_joint(150, 4, 3, dependence=0.7, random_state=1).dataset


@pytest.fixture(scope="session")
def joint_csv(joint, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("data") / "joint.csv"
    write_csv(path, joint)
    return path


@pytest.fixture
def plan(joint_csv) -> Plan:
    return small_plan(joint_csv)


def small_plan(path: Path, **changes) -> Plan:
    """Two ensembles of five members, three folds: six cells of some milliseconds."""
    settings = {
        "name": "small",
        "datasets": (DataSource("joint", str(path), LABELS),),
        "ensembles": (EnsembleSetting("emodt", {"n_estimators": 12}), EnsembleSetting("ebr", {"n_estimators": 12})),
        "folds": 3,
    }
    return Plan(**(settings | changes))


def write_csv(path: Path, data: Dataset) -> None:
    header = ",".join([*data.feature_names, *data.label_names])
    formats = ["%.17g"] * data.n_features + ["%d"] * data.n_labels
    np.savetxt(path, np.hstack([data.X, data.Y]), fmt=formats, delimiter=",", header=header, comments="")
