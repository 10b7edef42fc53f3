"""The features of a table as an array of numbers, or as a frame where some are something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from comitia._names import printable
from comitia.columns._cells import as_text
from comitia.datasets._dataset import DataFormatError
from comitia.datasets._extras import require


def frame_or_array(path: Path, table: Any, max_bytes: int) -> Any:
    """Return the columns of an Arrow table as an array, or as a pandas frame if some hold no numbers."""
    names = table.column_names
    if 8 * table.num_rows * len(names) > max_bytes:
        raise DataFormatError.at(path, None, f"expected features that fit in max_bytes={max_bytes}, found more")
    numbers = {name: _numbers(table.column(name)) for name in names}
    known = [values for values in numbers.values() if values is not None]
    if len(known) == len(names):
        return np.column_stack(known)
    pandas = require("pandas", f"{path} has features that are not numbers, which")
    columns = {
        name: values if values is not None else _other(path, name, table.column(name))
        for name, values in numbers.items()
    }
    frame = pandas.DataFrame(columns)
    frame.attrs["source"] = printable(str(path))
    return frame


def _numbers(column: Any) -> npt.NDArray[np.float64] | None:
    """A column of numbers, truth values or spans of time as floats, NaN where null; None where it is something else."""
    arrow, types = require("pyarrow"), require("pyarrow.types")
    kind = column.type
    if types.is_null(kind):
        # A column without any value has no type of its own: all of it is missing.
        return np.full(len(column), np.nan)
    if types.is_time(kind) or types.is_duration(kind):
        per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[kind.unit]
        whole = arrow.int32() if types.is_time32(kind) else arrow.int64()
        column, scale = column.cast(whole), per_second
    elif any(is_kind(kind) for is_kind in (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal)):
        scale = 1.0
    else:
        return None
    values: npt.NDArray[np.float64] = column.cast(arrow.float64(), safe=False).to_numpy()
    return values if scale == 1.0 else values / scale


def _other(path: Path, name: str, column: Any) -> Any:
    types, kind = require("pyarrow.types"), column.type
    if types.is_date(kind) or types.is_timestamp(kind):
        return _dates(path, name, column)
    if types.is_dictionary(kind) and not types.is_nested(kind.value_type):
        return column.unify_dictionaries().to_pandas().astype("category")
    if types.is_string(kind) or types.is_large_string(kind):
        return column.to_pandas()
    strange = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    if any(is_kind(kind) for is_kind in strange) or hasattr(kind, "storage_type"):
        return [None if cell is None else as_text(cell) for cell in column.to_pylist()]
    raise DataFormatError.at(path, None, f"expected {name!r} to hold numbers, UTF-8 text or dates, found {kind}")


def _dates(path: Path, name: str, column: Any) -> Any:
    """Dates as pandas has them, if they are dates of the calendar: Arrow's reach to the year 292 billion."""
    arrow, types = require("pyarrow"), require("pyarrow.types")
    kind = column.type
    unit = "D" if types.is_date32(kind) else "ms" if types.is_date(kind) else kind.unit
    null = require("pyarrow.compute").is_null(column).to_numpy()
    whole = column.cast(arrow.int32() if unit == "D" else arrow.int64()).fill_null(0).to_numpy().astype(np.int64)
    if unit != "ns":  # nanoseconds reach from 1677 to 2262 only
        first, last = np.array(["0001-01-01", "9999-12-31"], f"datetime64[{unit}]").astype(np.int64)
        strange = np.flatnonzero(((whole < first) | (whole > last)) & ~null)
        if len(strange):
            message = f"row {strange[0] + 1}, {name!r}: expected a date of the years 1 to 9999, found another"
            raise DataFormatError.at(path, None, message)
    instants = whole.astype(f"datetime64[{unit}]").astype("datetime64[s]" if unit == "D" else f"datetime64[{unit}]")
    instants[null] = np.datetime64("NaT", "us")
    series = require("pandas").Series(instants)
    zone = getattr(kind, "tz", None)
    return series if zone is None else series.dt.tz_localize("UTC").dt.tz_convert(zone)
