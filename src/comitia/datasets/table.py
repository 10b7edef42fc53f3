"""Multilabel data in CSV and Parquet files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from comitia._errors import ComitiaError
from comitia.datasets._extras import require
from comitia.datasets._text import raw_blocks
from comitia.datasets.arff import MAX_BYTES, stem
from comitia.datasets.dataset import DataFormatError, Dataset


def load_table(path: str | Path, labels: Sequence[str], *, max_bytes: int = MAX_BYTES) -> Dataset:
    r"""Read a CSV or Parquet file; the columns that ``labels`` names are the labels, all others are features.

    Numbers and truth values are columns of float64.  Columns of text are nominal, and ``X`` is then a pandas data frame
    in which they are categorical; dates are columns of their kind.  Missing is what Parquet calls null, and in CSV what
    is empty, ``?``, ``NA``, ``NaN``, ``nan`` or ``null``.

    Parameters
    ----------
    path : path
        A Parquet file, or a CSV file in UTF-8 with a header line and commas, plain or packed by gzip or bzip2.
    labels : sequence of str
        Columns of zeros and ones (or of truth values), in the order that ``Y`` shall have.
    max_bytes : int
        The most that the unpacked text, and the most that the arrays read from it, may take.

    Returns
    -------
    Dataset

    Raises
    ------
    DataFormatError
        Where the file is malformed, lacks a label, or has a label that is not binary.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "tiny.csv"
    >>> _ = path.write_text("width,red,blue\n0.5,1,0\n0.7,1,1\n")
    >>> load_table(path, labels=["red", "blue"])
    Dataset(name='tiny', n=2, d=1, K=2, cardinality=1.500, density=0.750)
    """
    return read_table(Path(path), checked_labels(labels), max_bytes)


def read_table(path: Path, labels: tuple[str, ...], max_bytes: int = MAX_BYTES) -> Dataset:
    """Read a table whose labels may be none."""
    table, names = _read(path, max_bytes)
    if len(set(names)) < len(names):
        repeated = Counter(names).most_common(1)[0][0]
        raise DataFormatError.at(path, 1, f"expected columns of different names, found {repeated!r} twice")
    missing = [label for label in labels if label not in names]
    if missing:
        raise DataFormatError.at(path, 1, f"expected the label columns {missing}, found {names[:20]}")
    features = tuple(name for name in names if name not in set(labels))
    if not features or (labels and not table.num_rows):
        raise DataFormatError.at(path, None, f"expected rows of features, found {table.num_rows} × {len(features)}")
    return Dataset(
        X=_features(path, table, features),
        Y=np.column_stack([np.empty((table.num_rows, 0), np.int8), *(_label(path, name, table) for name in labels)]),
        feature_names=features,
        label_names=labels,
        name=stem(path),
    )


def checked_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """The names of label columns that a user gave."""
    names = (labels,) if isinstance(labels, str) else tuple(labels)
    if isinstance(labels, str) or not names or len(set(names)) < len(names):
        raise ComitiaError(f"labels is a list of the names of different columns; got {labels!r}")
    return names


def _read(path: Path, max_bytes: int) -> tuple[Any, list[str]]:
    """The table and the names of its columns."""
    arrow = require("pyarrow", f"reading {path}")
    with path.open("rb") as file:
        is_parquet = file.read(4) == b"PAR1"
    try:
        table = _read_parquet(path, max_bytes) if is_parquet else _read_csv(path, max_bytes)
        table.validate(full=True)
        return table, table.column_names
    except DataFormatError:
        raise
    except (arrow.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise DataFormatError.at(
            path, None, f"expected {'Parquet' if is_parquet else 'CSV'}, found: {error}"
        ) from error


def _read_csv(path: Path, max_bytes: int) -> Any:
    arrow, csv = require("pyarrow"), require("pyarrow.csv")
    text = b"".join(raw_blocks(path, max_bytes))
    return csv.read_csv(
        arrow.BufferReader(text),
        # One block, so that the type of a column follows from all of its values, and mistakes have a row number.
        csv.ReadOptions(use_threads=False, block_size=min(len(text) + 1, 2**31 - 1)),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            null_values=["", "?", "NA", "NaN", "nan", "null"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _read_parquet(path: Path, max_bytes: int) -> Any:
    file = require("pyarrow.parquet").ParquetFile(path)
    if 8 * file.metadata.num_rows * file.metadata.num_columns > max_bytes:
        raise DataFormatError.at(path, None, f"expected columns that fit in max_bytes={max_bytes}, found larger ones")
    return file.read()


def _label(path: Path, name: str, table: Any) -> npt.NDArray[np.int8]:
    """A label column as zeros and ones."""
    column = table.column(name)
    values = _numbers(column)
    wrong = np.arange(len(column)) if values is None else np.flatnonzero((values != 0) & (values != 1))
    if values is None or len(wrong):
        row = int(wrong[0])
        raise DataFormatError.at(
            path, None, f"row {row + 1}, {name!r}: expected a label to be 0 or 1, found {column[row].as_py()!r}"
        )
    return values.astype(np.int8)


def _features(path: Path, table: Any, names: tuple[str, ...]) -> Any:
    numbers = {name: _numbers(table.column(name)) for name in names}
    known = [values for values in numbers.values() if values is not None]
    if len(known) == len(names):
        return np.column_stack(known)
    pandas, types = require("pandas", f"{path} has features that are not numbers, which"), require("pyarrow.types")
    columns: dict[str, Any] = {}
    for name, values in numbers.items():
        column = table.column(name)
        if values is not None:
            columns[name] = values
        elif types.is_temporal(column.type):
            columns[name] = column.to_pandas()
        elif types.is_string(column.type) or types.is_large_string(column.type) or types.is_dictionary(column.type):
            columns[name] = column.to_pandas().astype("category")
        else:
            raise DataFormatError.at(
                path, None, f"expected {name!r} to hold numbers, UTF-8 text or dates, found {column.type}"
            )
    return pandas.DataFrame(columns)


def _numbers(column: Any) -> npt.NDArray[np.float64] | None:
    """A column of numbers or truth values as floats, NaN where null; None where it holds something else."""
    arrow, types = require("pyarrow"), require("pyarrow.types")
    kind = column.type
    if not any(is_kind(kind) for is_kind in (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)):
        # A column without any value has no type of its own: all of it is missing.
        return np.full(len(column), np.nan) if types.is_null(kind) else None
    values: npt.NDArray[np.float64] = column.cast(arrow.float64(), safe=False).to_numpy()
    return values
