"""What data a comparison is about: arrays, frames, a dataset, or the name of one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from comitia._errors import ComitiaError
from comitia._labels import LabelArray, are_names, check_labels, label_matrix, labels_in_words
from comitia._names import unknown
from comitia.datasets import Dataset, list_datasets, load_features
from comitia.datasets._arff import stem
from comitia.datasets._labels import is_pattern, matching
from comitia.datasets._text import STDIN
from comitia.experiments import DataSource
from comitia.experiments._plan import EXAMPLES

NAME = "data"
"""What arrays are called."""


@dataclass(frozen=True)
class Compared:
    """Data with its place in a plan.

    Attributes
    ----------
    source : DataSource
        How a plan names it.
    dataset : Dataset
        The data.
    arguments : tuple of str
        How the command line names it; empty where it cannot.
    """

    source: DataSource
    dataset: Dataset
    arguments: tuple[str, ...] = ()


def compared_data(
    X: Any, Y: Any = None, labels: Sequence[str] | None = None, data_home: str | Path | None = None
) -> Compared:
    """Read and check the data of a comparison; see `comitia.compare` for the parameters."""
    if isinstance(X, str | Path):
        if Y is not None:
            raise ComitiaError(f"Y must be left out where X names a dataset; got both, and X is {str(X)!r}.")
        source = named_source(X, labels)
        return Compared(source, source.load(data_home), source_arguments(source))
    if isinstance(X, Dataset):
        if Y is not None or labels is not None:
            raise ComitiaError("Y and labels must be left out where X is a Dataset, which has its own.")
        return Compared(DataSource(X.name or NAME), X)
    X, Y = _as_pandas(X), _as_pandas(Y)
    if Y is None:
        if labels is None or not hasattr(X, "columns"):
            raise ComitiaError(
                "Y must have the labels, zeros and ones of shape (n, K); or labels the names of those columns of a "
                f"data frame that are labels; got {type(X).__name__} alone."
            )
        names = matching([str(column) for column in X.columns], labels, "X")
        chosen = [str(column) in names for column in X.columns]
        X, Y, labels = X.loc[:, [not one for one in chosen]], X.loc[:, chosen], None
    dataset = _dataset(X, Y, labels)
    return Compared(DataSource(dataset.name), dataset)


def named_source(data: str | Path, labels: Sequence[str] | None = None) -> DataSource:
    """Say what a name or a path means: a file, or else a dataset of the catalogue or an example."""
    path = Path(data)
    if path.is_file() or path == STDIN:
        if labels is None:
            return DataSource(stem(path), str(path))
        wanted = list(labels)
        if any(map(is_pattern, wanted)):
            wanted = matching(list(load_features(path).feature_names), wanted, str(path))
        return DataSource(stem(path), str(path), tuple(wanted))
    known = [*EXAMPLES, *(entry.name for entry in list_datasets())]
    if str(data) not in known:
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise ComitiaError(f"{data}: {what}; and as a name: {unknown('dataset', str(data), known)}")
    if labels is not None:
        raise ComitiaError(f"labels must be left out for {data}, which knows its labels; got {list(labels)}.")
    return DataSource(str(data))


def source_arguments(source: DataSource) -> tuple[str, ...]:
    """How the command line names a dataset of a plan; empty where it cannot.

    Examples
    --------
    >>> source_arguments(DataSource("songs", "songs.csv", ("sad", "loud, fast")))
    ('songs.csv', '--labels', 'sad,"loud, fast"')
    >>> source_arguments(DataSource("songs", "songs.csv", labels_in="tags", columns={"text": ["title"]}))
    ('songs.csv', '--labels-in', 'tags', '--text', 'title')
    """
    if source.path is None:
        known = source.name in (*EXAMPLES, *(entry.name for entry in list_datasets()))
        return (source.name, *options_of(source.settings())) if known else ()
    labels = {} if source.labels is None else {"labels": source.labels}
    return (str(source.location), *options_of({**labels, **source.settings()}))


def source_expression(source: DataSource) -> str:
    """How Python reads a dataset of a plan, after ``from comitia import datasets``; empty where it is arrays.

    Examples
    --------
    >>> source_expression(DataSource("songs", "songs.csv", labels_in="tags", columns={"text": ["title"]}))
    "datasets.load_dataset('songs.csv', labels_in='tags').with_columns(text=['title'])"
    >>> source_expression(DataSource("seven-segment"))
    'datasets.load_seven_segment()'
    """
    if not source_arguments(source):
        return ""
    ways = {"labels": None if source.labels is None else list(source.labels), **source.settings()}
    columns = ways.pop("columns", {})
    if source.path is None and source.name in EXAMPLES:
        read = f"datasets.{EXAMPLES[source.name].__name__}()"
    else:
        given = {key: value for key, value in ways.items() if value is not None}
        read = f"datasets.load_dataset({_arguments({'': source.path or source.name, **given})})"
    return f"{read}.with_columns({_arguments(columns)})" if columns else read


def _arguments(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" if key else repr(value) for key, value in given.items())


def options_of(settings: Mapping[str, Any]) -> Iterator[str]:
    """Settings as the command line has them: lists with commas, and quotes around names that hold one."""
    for key, value in settings.items():
        if key == "columns":
            yield from options_of(value)
        elif isinstance(value, bool):
            yield "--day-first" if value else "--month-first"
        elif isinstance(value, str):
            yield from (f"--{key.replace('_', '-')}", value)
        else:
            line = io.StringIO()
            csv.writer(line, lineterminator="").writerow(value)
            yield from (f"--{key.replace('_', '-')}", line.getvalue())


def _dataset(X: Any, Y: Any, labels: Sequence[str] | None) -> Dataset:
    found, names = _labels(Y)
    if issparse(X):
        X = csr_array(X).astype(np.float64)
    elif not hasattr(X, "columns"):
        X = np.asarray(X)
        if X.ndim != 2:
            raise ComitiaError(f"X must have shape (n, d); got shape {X.shape}.")
    if X.shape[0] != len(found):
        raise ComitiaError(f"X and Y must have as many rows; got {X.shape[0]} and {len(found)}.")
    if labels is not None and len(labels) != found.shape[1]:
        raise ComitiaError(f"labels must name the {found.shape[1]} columns of Y; got {len(labels)} names.")
    return Dataset(X, found, _names(X, "x", X.shape[1]), names if labels is None else tuple(map(str, labels)), NAME)


def _labels(Y: Any) -> tuple[LabelArray, tuple[str, ...]]:
    """The labels as a matrix of zeros and ones, and their names."""
    if are_names(Y):
        return label_matrix(Y)
    array = Y.toarray() if issparse(Y) else np.asarray(Y)
    # A frame with columns of several types, or of words, comes as objects.
    words = array.dtype.kind in "OUT" and array.ndim == 2
    found = labels_in_words(array.astype(object), "Y") if words else check_labels(array, "Y")
    return found, _names(Y, "y", found.shape[1])


def _names(table: Any, letter: str, count: int) -> tuple[str, ...]:
    columns = getattr(table, "columns", None)
    return tuple(f"{letter}{place}" for place in range(count)) if columns is None else tuple(map(str, columns))


def _as_pandas(table: Any) -> Any:
    """Take a frame of polars as one of pandas; leave anything else as it is."""
    return table.to_pandas() if hasattr(table, "to_pandas") else table
