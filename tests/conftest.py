"""What every test may ask for."""

import os
from pathlib import Path

import pytest


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
