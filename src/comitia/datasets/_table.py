"""Multilabel data in tables: CSV and TSV, JSON lines, Parquet and Excel."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from comitia._errors import ComitiaError
from comitia._labels import label_matrix
from comitia._names import as_names, printable
from comitia._yes_and_no import small_word
from comitia.datasets._arff import MAX_BYTES, stem
from comitia.datasets._dataset import DataFormatError, Dataset
from comitia.datasets._delimited import read_delimited
from comitia.datasets._extras import require
from comitia.datasets._features import frame_or_array
from comitia.datasets._formats import check_looks, file_format
from comitia.datasets._json_lines import read_json_lines
from comitia.datasets._labels import (
    header_hint,
    label_column,
    label_lists,
    label_notes,
    matching,
    separator_notes,
)
from comitia.datasets._parquet import read_parquet
from comitia.datasets._workbook import read_workbook


def load_table(
    path: str | Path,
    labels: Sequence[str] | None = None,
    *,
    labels_in: str | None = None,
    separator: str | None = None,
    positive: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Dataset:
    r"""Read a table; the columns that ``labels`` names are the labels, all others are features.

    Numbers and truth values are columns of float64.  Where there are columns of text or dates, ``X`` is a pandas data
    frame that has them as they are; `comitia.columns.TableEncoder` decides what they mean.  Missing is what Parquet
    calls null, and in texts what is empty, ``?``, ``NA``, ``N/A``, ``n/a``, ``#N/A``, ``NaN``, ``nan``, ``null``,
    ``NULL`` or ``\\N``.

    What a CSV file is separated by (commas, semicolons, tabs or bars), decimal commas, UTF-16 and Windows-1252 are
    recognised; ``notes`` of the result says so.

    Parameters
    ----------
    path : path
        A file in CSV (``.csv``, ``.txt``), with tabs (``.tsv``), JSON (``.jsonl``, ``.json``), Parquet or Excel
        (``.xlsx``), in any case; text may be packed by gzip or bzip2.  ``-`` is standard input.
    labels : sequence of str, optional
        Columns of zeros and ones, of truth values, of yes and no, y and n, or x and nothing, in the order that ``Y``
        shall have; ``*`` stands for anything.  With ``labels_in``, the labels to keep; all by default.
    labels_in : str, optional
        The column that holds the names of the relevant labels of each row.
    separator : str, optional
        What stands between names in ``labels_in``; by default its cells are lists, of Parquet or written as in JSON.
    positive : str, optional
        The value of a label column for which the label holds, in capital or small letters; every other cell, and a
        blank one, means that it does not.  A column without this word that speaks for itself, as x and nothing beside
        columns of ja and nein, is taken at its own words.
    max_bytes : int
        The most that the unpacked text, and the most that the arrays read from it, may take.

    Returns
    -------
    Dataset

    Raises
    ------
    DataFormatError
        Where the file is malformed or something else than its name says, lacks a label, or has one that is not binary.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> from comitia.datasets import load_table
    >>> path = Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> _ = path.write_text("width,red,blue\n0.5,1,0\n0.7,1,1\n")
    >>> load_table(path, labels=["red", "blue"])
    Dataset(name='tiny', n=2, d=1, K=2, cardinality=1.500, density=0.750)
    >>> _ = path.write_text("width,colours\n0.5,red;blue\n0.7,red\n")
    >>> load_table(path, labels_in="colours", separator=";").label_names
    ('blue', 'red')
    """
    if labels is None and labels_in is None:
        raise ComitiaError(f"labels must name the columns of {path} that are labels; got None.")
    wanted = None if labels is None else checked_labels(labels)
    if labels_in is None and separator is not None:
        raise ComitiaError(f"separator must be left out where labels_in names no column; got {separator!r}.")
    if not (labels_in is None or isinstance(labels_in, str)):
        raise ComitiaError(f"labels_in must be the name of a column; got {labels_in!r}.")
    if labels_in is not None and positive is not None:
        raise ComitiaError(f"positive must be left out with labels_in={labels_in!r}; got {positive!r}.")
    if not (isinstance(path, str | Path) and str(path)):
        raise ComitiaError(f"path must be that of a file; got {path!r}.")
    path = Path(path)
    table, names, notes = _read(path, max_bytes)
    if not table.num_rows:
        raise DataFormatError.at(path, None, f"expected rows, found the names of {table.num_columns} columns alone")
    if labels_in is None:
        assert wanted is not None
        columns = _find(path, wanted, names)
        Y, more = _label_columns(path, table, columns, positive)
        found = tuple(columns)
    else:
        columns = _find(path, [labels_in], names)
        if len(columns) > 1:
            raise ComitiaError(f"labels_in must name one column; got {labels_in!r}, as which {columns} are called.")
        cells = table.column(columns[0]).to_pylist()
        Y, found, more = labels_of_lists(path, cells, columns[0], wanted, separator, max_bytes)
    return _dataset(path, table, columns, Y, found, max_bytes, [*notes, *more, *label_notes(Y, found)])


def read_table(path: Path, max_bytes: int = MAX_BYTES) -> Dataset:
    """Read a table in which every column is a feature."""
    table, _, notes = _read(path, max_bytes)
    return _dataset(path, table, [], np.empty((table.num_rows, 0), np.int8), (), max_bytes, notes)


def checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """The names of label columns that a user gave."""
    names = tuple(as_names("labels", labels))
    if isinstance(labels, str) or not names or len(set(names)) < len(names):
        raise ComitiaError(f"labels must be a list of the names of different columns; got {labels!r}.")
    return names


def _dataset(
    path: Path,
    table: Any,
    columns: list[str],
    Y: npt.NDArray[np.int8],
    labels: tuple[str, ...],
    max_bytes: int,
    notes: list[str],
) -> Dataset:
    features = [name for name in table.column_names if name not in set(columns)]
    if not features:
        beside = " beside those of labels" if columns else ""
        raise DataFormatError.at(path, None, f"expected columns to learn from{beside}, found none")
    return Dataset(
        X=frame_or_array(path, table.select(features), max_bytes),
        Y=Y,
        feature_names=tuple(features),
        label_names=labels,
        name=stem(path),
        notes=tuple(notes),
    )


def _read(path: Path, max_bytes: int) -> tuple[Any, dict[str, str], list[str]]:
    """The table, its columns by the names in the file and by those they are given here, and notes."""
    arrow = require("pyarrow", f"reading {path}")
    suffix = file_format(path)
    if suffix == ".arff":
        raise ComitiaError(f"{path} must be a table; it is an ARFF file, which load_dataset reads.")
    check_looks(path, suffix)
    notes: list[str] = []
    try:
        if suffix == ".parquet":
            table = read_parquet(path, max_bytes)
        elif suffix == ".jsonl":
            table, notes = read_json_lines(path, max_bytes)
        elif suffix == ".xlsx":
            table, notes = read_workbook(path, max_bytes)
        else:
            table, notes = read_delimited(path, max_bytes, suffix)
        table.validate(full=True)
        if suffix in (".csv", ".tsv"):
            table = _without_blank_rows(table, notes)
        table, given = _named(path, table, notes)
    except DataFormatError:
        raise
    except (arrow.ArrowException, ValueError, OSError, OverflowError, RecursionError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataFormatError.at(path, None, f"expected {_KINDS[suffix]}, found: {printable(str(error))}") from error
    return table, given, notes


_KINDS = {".csv": "CSV", ".tsv": "a table with tabs", ".jsonl": "JSON lines", ".parquet": "Parquet", ".xlsx": "Excel"}


_PANDAS_INDEX = re.compile(r"__index_level_[0-9]+__")


def _named(path: Path, table: Any, notes: list[str]) -> tuple[Any, dict[str, str]]:
    """Drop what programs add (columns of nothing, a count of rows, an index) and give every column a name."""
    names = list(table.column_names)
    nothing = [not name.strip() and table.column(j).null_count == table.num_rows for j, name in enumerate(names)]
    if any(nothing):
        table = table.select([j for j, empty in enumerate(nothing) if not empty])
        notes.append(_left_out(sum(nothing), "column", " without a name and without values"))
    index = [name for name in table.column_names if _PANDAS_INDEX.fullmatch(name)]
    if index:
        notes.append(_left_out(len(index), "column", f" with the index of a pandas frame, {index[0]!r},"))
        table = table.drop_columns(index)
    if table.num_columns > 1 and not table.column_names[0].strip() and _counts_rows(table.column(0)):
        notes.append("The first column has no name and only counts the rows: it is left out.")
        table = table.select(range(1, table.num_columns))
    raw = list(table.column_names)
    shown = [printable(name) if name.strip() else f"column {j + 1}" for j, name in enumerate(raw)]
    if len(set(shown)) < len(shown):
        repeated = Counter(shown).most_common(1)[0][0]
        hint = header_hint(shown)
        raise DataFormatError.at(path, 1, f"expected columns of different names, found {repeated!r} twice{hint}")
    return table.rename_columns(shown), dict(zip((*shown, *raw), (*shown, *shown), strict=True))


def _without_blank_rows(table: Any, notes: list[str]) -> Any:
    rows = _rows_with_values(table)
    if rows < table.num_rows:
        notes.append(_left_out(table.num_rows - rows, "row", " without values at the end"))
    return table.slice(0, rows)


def _left_out(count: int, what: str, which: str) -> str:
    return f"{count} {what}{which} is left out." if count == 1 else f"{count} {what}s{which} are left out."


def _rows_with_values(table: Any) -> int:
    """The number of rows without those at the end that hold nothing."""
    if not table.num_columns or not table.num_rows or not all(column.null_count for column in table.columns):
        return int(table.num_rows)
    compute = require("pyarrow.compute")
    held = np.zeros(table.num_rows, dtype=bool)
    for column in table.columns:
        held |= compute.is_valid(column).to_numpy()
    return int(np.flatnonzero(held)[-1]) + 1 if held.any() else 0


def _counts_rows(column: Any) -> bool:
    types = require("pyarrow.types")
    if not (types.is_integer(column.type) or types.is_floating(column.type)) or column.null_count:
        return False
    values = column.to_numpy()
    return bool(len(values)) and any(bool((values == np.arange(k, k + len(values))).all()) for k in (0, 1))


def _find(path: Path, names: Sequence[str], given: dict[str, str]) -> list[str]:
    """The columns that a user means, by the names in the file or as they are shown; patterns are written out."""
    return matching(list(dict.fromkeys(given.values())), [given.get(name, name) for name in names], path)


def _label_columns(
    path: Path, table: Any, names: list[str], positive: str | None
) -> tuple[npt.NDArray[np.int8], list[str]]:
    read = [label_column(path, name, table.column(name), positive) for name in names]
    if positive is not None and not any(one.word == small_word(positive) and one.holds.any() for one in read):
        raise DataFormatError.at(path, None, f"expected labels to hold where a cell is {positive!r}, found none")
    Y = np.column_stack([np.empty((table.num_rows, 0), np.int8), *(one.holds for one in read)])
    return Y, [one.note for one in read if one.note]


def labels_of_lists(
    path: str | Path,
    cells: Sequence[Any],
    name: str,
    wanted: Sequence[str] | None = None,
    separator: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> tuple[npt.NDArray[np.int8], tuple[str, ...], list[str]]:
    """Return the labels that a column lists, those that are wanted or all, their names, and notes."""
    lists = label_lists(path, name, cells, separator)
    notes = separator_notes(name, cells, separator)
    found = sorted({label for row in lists for label in row})
    if wanted is not None:
        others = [label for label in found if label not in set(wanted)]
        if others:
            shown = ", ".join(repr(printable(label)) for label in others[:5])
            notes.append(f"{len(others)} labels in {name!r} were not asked for: {shown}{' ...' * (len(others) > 5)}.")
        kept = set(wanted)
        lists, found = [[label for label in row if label in kept] for row in lists], list(wanted)
    if len(lists) * len(found) > max_bytes:
        message = f"expected label columns that fit in max_bytes={max_bytes}, found {len(found)} labels in {name!r}"
        raise DataFormatError.at(path, None, message)
    Y, names = label_matrix(lists, found)
    return Y, tuple(printable(label) for label in names), notes
