"""What data a comparison is about: arrays, frames, a dataset, or the name of one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from comitia._errors import ComitiaError
from comitia._frames import is_frame
from comitia._labels import LabelArray, are_names, check_labels, label_matrix
from comitia._names import printable, unknown
from comitia._yes_and_no import labels_in_words
from comitia.columns import TableEncoder
from comitia.datasets import Dataset, label_notes, list_datasets, load_features
from comitia.datasets._arff import stem
from comitia.datasets._labels import is_pattern, matching
from comitia.datasets._table import labels_of_lists
from comitia.datasets._text import STDIN
from comitia.experiments import DataSource
from comitia.experiments._plan import EXAMPLES

NAME = "data"
"""What arrays are called."""

_FEW = 20
"""Rows that a column may count by chance."""


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


@dataclass(frozen=True)
class Labelled:
    """How a table holds its labels; the parameters are those of `comitia.datasets.load_table`."""

    labels: Sequence[str] | None = None
    labels_in: str | None = None
    separator: str | None = None
    positive: str | None = None

    def given(self) -> list[str]:
        """The parameters that were given."""
        return [name for name, value in vars(self).items() if value is not None]


def compared_data(
    X: Any,
    Y: Any = None,
    labelled: Labelled | None = None,
    data_home: str | Path | None = None,
    columns: Mapping[str, Any] | None = None,
) -> Compared:
    """Read and check the data of a comparison; see `comitia.compare` for the parameters."""
    ways, columns = labelled or Labelled(), {} if columns is None else columns
    if not isinstance(columns, Mapping):
        raise ComitiaError(f"columns must be a mapping, such as {{'text': ['title']}}; got {columns!r}.")
    if isinstance(X, str | Path):
        if Y is not None:
            raise ComitiaError(f"Y must be left out where X names a dataset; got both, and X is {str(X)!r}.")
        source = named_source(X, ways, columns)
        return Compared(source, source.load(data_home), source_arguments(source))
    if isinstance(X, Dataset):
        if Y is not None or ways.given():
            raise ComitiaError("Y and labels must be left out where X is a Dataset, which has its own.")
        dataset = X
    else:
        if columns and not hasattr(X, "columns"):
            raise ComitiaError(f"columns is for files and frames, whose columns have names; got {type(X).__name__}.")
        dataset = _of_frame(_as_pandas(X), ways) if Y is None else _dataset(_as_pandas(X), _as_pandas(Y), ways)
    if columns:
        dataset = dataset.with_columns(**columns)
    return Compared(DataSource(dataset.name or NAME, columns=columns), dataset)


def _of_frame(X: Any, ways: Labelled) -> Dataset:
    """Take a frame apart that has its labels in it."""
    if not hasattr(X, "columns") or (ways.labels is None and ways.labels_in is None):
        raise ComitiaError(
            "Y must have the labels, zeros and ones of shape (n, K); or labels the names of those columns of a data "
            f"frame that are labels, or labels_in that of one which lists them; got {type(X).__name__} alone."
        )
    names = [str(column) for column in X.columns]
    wanted = [ways.labels_in] if ways.labels_in is not None else list(ways.labels or ())
    found = matching(names, wanted, "X")
    chosen = [name in found for name in names]
    features, Y = X.loc[:, [not one for one in chosen]], X.loc[:, chosen]
    if ways.labels_in is None:
        return _dataset(features, Y, replace(ways, labels=None))
    cells = Y.iloc[:, 0].tolist()
    listed, label_names, notes = labels_of_lists("X", cells, ways.labels_in, ways.labels, ways.separator)
    dataset = _dataset(features, listed, Labelled(label_names))
    return replace(dataset, notes=(*notes, *dataset.notes))


def named_source(
    data: str | Path, labelled: Labelled | None = None, columns: Mapping[str, Any] | None = None
) -> DataSource:
    """Say what a name or a path means: a file, or else a dataset of the catalogue or an example."""
    path, ways, known_of = Path(data), labelled or Labelled(), dict(columns or {})
    if path.is_file() or path == STDIN:
        wanted = None if ways.labels is None else tuple(ways.labels)
        # Where labels stand in one column, names are those of labels and not of columns.
        if wanted is not None and ways.labels_in is None and any(map(is_pattern, wanted)):
            wanted = tuple(matching(list(load_features(path).feature_names), wanted, str(path)))
        found = {**vars(ways), "labels": wanted}
        return DataSource(stem(path), str(path), columns=known_of, **found)
    known = dataset_names()
    if str(data) not in known:
        what = "is a folder" if path.is_dir() else "there is no such file"
        raise ComitiaError(f"{data}: {what}; and as a name: {unknown('dataset', str(data), known)}")
    for name in ways.given():
        raise ComitiaError(f"{name} must be left out for {data}, which knows its labels; got {getattr(ways, name)!r}.")
    return DataSource(str(data), columns=known_of)


def dataset_names() -> list[str]:
    """What datasets have names: the examples and those of the catalogue."""
    return [*EXAMPLES, *(entry.name for entry in list_datasets())]


def introduction(dataset: Dataset) -> list[tuple[str, str]]:
    """Say what the columns of a frame are taken for, and what a user should know of the data, before a fit.

    Examples
    --------
    >>> import pandas as pd
    >>> introduction(_dataset(pd.DataFrame({"genre": ["rock", "jazz"] * 6}), [[0, 1]] * 12, Labelled()))
    [('columns', 'categories 1: genre, 2 values'), ('note', "1 label never holds: 'y0'."), \
('note', "1 label always holds: 'y1'.")]
    """
    said = []
    if hasattr(dataset.X, "columns"):
        encoder = TableEncoder("ordinal", **dataset.X.attrs.get("columns", {})).fit(dataset.X)
        said.append(("columns", encoder.describe()))
    for name in _counting(dataset):
        note = (
            f"{printable(name)!r} counts the rows, and is learnt from as any number: ignore=[{name!r}] leaves it out."
        )
        said.append(("note", note))
    return said + [("note", note) for note in dataset.notes]


def _counting(dataset: Dataset) -> Iterator[str]:
    """Give the features that are 0, 1, 2, ... or 1, 2, 3, ... down the rows, of which there must be more than a few."""
    if dataset.n_instances <= _FEW or issparse(dataset.X):
        return
    rows = np.arange(dataset.n_instances)
    for place, name in enumerate(dataset.feature_names):
        values = dataset.X[name] if hasattr(dataset.X, "columns") else dataset.X[:, place]
        numbers = np.asarray(values) if getattr(values.dtype, "kind", "") in "iuf" else None
        if numbers is not None and numbers[0] in (0, 1) and (numbers == rows + numbers[0]).all():
            yield name


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
        known = source.name in dataset_names()
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
        read = f"datasets.load_dataset({_arguments({'': source.location or source.name, **given})})"
    return f"{read}.with_columns({_arguments(columns)})" if columns else read


def _arguments(given: Mapping[str, Any]) -> str:
    plain = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
    return ", ".join(f"{key}={value!r}" if key else repr(value) for key, value in plain.items())


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


def _dataset(X: Any, Y: Any, ways: Labelled) -> Dataset:
    labels = ways.labels
    found, names = _labels(Y, ways.positive)
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
    label_names = names if labels is None else tuple(map(str, labels))
    return Dataset(X, found, _names(X, "x", X.shape[1]), label_names, NAME, notes=label_notes(found, label_names))


def _labels(Y: Any, positive: str | None) -> tuple[LabelArray, tuple[str, ...]]:
    """The labels as a matrix of zeros and ones, and their names."""
    if are_names(Y):
        return label_matrix(Y)
    array = Y.toarray() if issparse(Y) else np.asarray(Y)
    # A frame with columns of several types, or of words, comes as objects.
    words = (array.dtype.kind in "OUT" or positive is not None) and array.ndim == 2
    found = labels_in_words(array.astype(object), "Y", positive) if words else check_labels(array, "Y")
    return found, _names(Y, "y", found.shape[1])


def _names(table: Any, letter: str, count: int) -> tuple[str, ...]:
    columns = getattr(table, "columns", None)
    return tuple(f"{letter}{place}" for place in range(count)) if columns is None else tuple(map(str, columns))


def _as_pandas(table: Any) -> Any:
    """Take a frame of polars as one of pandas; leave anything else as it is."""
    return table.to_pandas() if is_frame(table) and hasattr(table, "to_pandas") else table
