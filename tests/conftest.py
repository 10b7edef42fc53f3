"""What every test may ask for."""

import os
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from comitia.datasets import Dataset, make_joint

hypothesis.settings.register_profile("landing", derandomize=True, deadline=None)
"""The same examples every time, so that what decides about a commit says the same of it twice.  Other runs look for
new ones."""

LABELS = ("y0", "y1", "y2")
"""The labels of the small dataset."""


@pytest.fixture(scope="session")
def joint() -> Dataset:
    """A small dataset whose labels depend on each other."""
    return make_joint(150, 4, 3, dependence=0.7, random_state=1).dataset


@pytest.fixture(scope="session")
def joint_csv(joint, tmp_path_factory) -> Path:
    """The small dataset as a file."""
    path = tmp_path_factory.mktemp("data") / "joint.csv"
    write_csv(path, joint)
    return path


def write_csv(path: Path, data: Dataset) -> None:
    header = ",".join([*data.feature_names, *data.label_names])
    formats = ["%.17g"] * data.n_features + ["%d"] * data.n_labels
    np.savetxt(path, np.hstack([data.X, data.Y]), fmt=formats, delimiter=",", header=header, comments="")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real datasets; tests that need it are skipped where it is missing."""
    folder = Path(os.environ.get("COMITIA_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the real datasets: {folder} is not a folder (COMITIA_DATA names another)")
    return folder


@pytest.fixture(scope="session")
def shared_paper() -> Path:
    """The folder of the paper's tables as CSV; tests that need it are skipped where it is missing."""
    folder = Path(__file__).parents[2] / "shared" / "paper"
    if not folder.is_dir():
        pytest.skip(f"needs the paper's tables: {folder} is not a folder")
    return folder
