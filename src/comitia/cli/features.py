"""The columns of a file that hold no labels, or labels that nobody looks at."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from comitia.datasets import Dataset
from comitia.datasets.arff import MAX_BYTES, read_arff, stem
from comitia.datasets.table import _features, _read


def read_features(path: Path) -> Dataset:
    """Read all columns of an ARFF, CSV or Parquet file as features."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    if _format(path) == ".arff":
        return read_arff(path, lambda header: [])  # noqa: ARG005  whatever the header says, there are no labels
    if _format(path) not in (".csv", ".parquet"):
        raise ValueError(f"{path}: expected an .arff, .csv or .parquet file")
    table, names = _read(path, MAX_BYTES)
    no_labels = np.empty((table.num_rows, 0), np.int8)
    return Dataset(_features(path, table, tuple(names)), no_labels, tuple(names), (), stem(path))


def column_names(path: Path) -> tuple[str, ...]:
    """The columns of a file, labels among them."""
    return read_features(path).feature_names


def needs_labels(path: Path) -> bool:
    """Whether a file cannot say itself which of its columns are labels."""
    return _format(path) in (".csv", ".parquet")


def _format(path: Path) -> str:
    return Path(path.name.removesuffix(".gz").removesuffix(".bz2")).suffix
