"""The cells of one column, of whatever frame it comes from: numbers, dates or texts."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._frames import is_frame
from comitia._labels import FloatArray


@dataclass(frozen=True)
class Cells:
    """A column, in one of three forms.

    Attributes
    ----------
    form : "number", "date" or "text"
        What the cells are stored as, which says little about what they mean.
    values : ndarray of shape (n,)
        Floats (NaN where missing), ``datetime64[us]`` (NaT) or an array of str and None.
    declared : tuple of str or None
        The values that the type of the column declares, in its order.
    """

    form: Literal["number", "date", "text"]
    values: NDArray[Any]
    declared: tuple[str, ...] | None = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing."""
        if self.form == "number":
            return np.asarray(np.isnan(self.values))
        if self.form == "date":
            return np.asarray(np.isnat(self.values))
        return np.array([value is None for value in self.values], dtype=bool)

    def texts(self) -> list[str | None]:
        """The cells as texts: a number as it is read back, 3 and not 3.0."""
        if self.form == "text":
            return list(self.values)
        if self.form == "number":
            return [None if value != value else number_text(value) for value in self.values.tolist()]
        return [None if gone else str(value) for gone, value in zip(self.missing, self.values, strict=True)]


def number_text(value: float) -> str:
    """A number as the shortest text that is read back as it, without a fraction where there is none."""
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def column_names(X: Any) -> list[str]:
    """The names of the columns of a frame or an array, which has x0, x1 and so on."""
    if is_frame(X):
        names = list(X.columns)
        wrong = next((name for name in names if not isinstance(name, str)), None)
        if wrong is not None:
            raise ComitiaError(f"X must have columns whose names are texts; got {wrong!r}, a {type(wrong).__name__}.")
        if len(set(names)) < len(names):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise ComitiaError(f"X must have columns of different names; got {twice!r} twice.")
        return names
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        shape = getattr(X, "shape", "")
        raise ComitiaError(f"X must be a pandas or polars frame or a dense 2-D array; got {type(X).__name__} {shape}.")
    return [f"x{j}" for j in range(X.shape[1])]


def column(X: Any, name: str, names: list[str]) -> Any:
    """One column of a frame or an array."""
    return X[name] if is_frame(X) else X[:, names.index(name)]


def read_cells(column: Any, name: str) -> Cells:
    """Read a column of pandas, polars or NumPy; a ComitiaError says where it holds what is no cell."""
    if type(column).__module__.partition(".")[0] == "polars":
        return _of_polars(column, name)
    if isinstance(column, np.ndarray):
        return _of_array(column, name)
    return _of_pandas(column, name)


def _of_polars(column: Any, name: str) -> Cells:
    import polars as pl

    kind = column.dtype
    if kind.is_numeric() or kind in (pl.Boolean, pl.Null):
        return Cells("number", np.array(column.cast(pl.Float64).to_numpy(), dtype=np.float64))
    if kind in (pl.Date, pl.Datetime):
        local = column.dt.replace_time_zone(None) if getattr(kind, "time_zone", None) else column
        return Cells("date", local.cast(pl.Datetime("us")).to_numpy().astype("datetime64[us]"))
    if kind == pl.Duration:
        return Cells("number", column.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6)
    if kind == pl.Time:
        return Cells("number", column.cast(pl.Int64).cast(pl.Float64).to_numpy() / 1e9)
    if kind in (pl.String, pl.Categorical, pl.Enum):
        declared = tuple(kind.categories) if kind == pl.Enum else None
        return Cells("text", _object_array(column.cast(pl.String).to_list()), declared)
    return _of_objects(_object_array(column.to_list()), name)


def _of_pandas(column: Any, name: str) -> Cells:
    kind = column.dtype
    missing = np.asarray(column.isna(), dtype=bool)
    if hasattr(kind, "categories"):
        declared = tuple(_text(value) for value in kind.categories)
        codes = np.asarray(column.cat.codes)
        return Cells("text", _object_array([*declared, None])[codes], declared)
    if kind.kind in "biuf":
        return Cells("number", column.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind.kind == "M":
        local = column.dt.tz_localize(None) if "tz=" in str(kind) or getattr(kind, "tz", None) is not None else column
        return Cells("date", local.to_numpy(dtype="datetime64[us]", na_value=np.datetime64("NaT", "us")))
    if kind.kind == "m":
        return Cells("number", _seconds(column.to_numpy(dtype="timedelta64[us]", na_value=np.timedelta64("NaT", "us"))))
    if hasattr(kind, "freq") and hasattr(column, "dt"):
        return Cells("date", column.dt.to_timestamp().to_numpy(dtype="datetime64[us]"))
    values = column.to_numpy(dtype=object, copy=True)
    values[missing] = None
    return _of_objects(values, name)


def _of_array(column: NDArray[Any], name: str) -> Cells:
    if column.dtype.kind in "biuf":
        return Cells("number", column.astype(np.float64))
    if column.dtype.kind == "M":
        return Cells("date", column.astype("datetime64[us]"))
    if column.dtype.kind == "m":
        return Cells("number", _seconds(column.astype("timedelta64[us]")))
    values = column.astype(object)
    for i, value in enumerate(values):
        if value is None or (isinstance(value, float) and value != value):
            values[i] = None
    return _of_objects(values, name)


_DATES = (datetime.date, np.datetime64)
_SCALARS = (str, Real, decimal.Decimal, *_DATES, datetime.time, datetime.timedelta, np.bool_)
_NESTED = (list, tuple, set, frozenset, dict, np.ndarray)
_AS_TEXTS = (*_NESTED, bytes, uuid.UUID)


def as_text(cell: Any) -> str:
    r"""What a database keeps in a cell, a list, an object, bytes or an identifier, as a text.

    Nothing is learnt from parts of it, but it can be told apart, named and left out.

    Examples
    --------
    >>> as_text(["b", {"a": np.int64(1)}]), as_text({"b", "a"}), as_text("größer".encode()), as_text(b"\xff\x00")
    ('["b", {"a": 1}]', '["a", "b"]', 'größer', 'ff00')
    """
    if isinstance(cell, _NESTED):
        return json.dumps(cell, ensure_ascii=False, default=_plain)
    return str(_plain(cell))


def _plain(cell: Any) -> Any:
    if isinstance(cell, bytes):
        try:
            return cell.decode()
        except UnicodeDecodeError:
            return cell.hex()
    if isinstance(cell, set | frozenset):
        return sorted(cell, key=str)
    return cell.tolist() if isinstance(cell, np.ndarray | np.generic) else str(cell)


def _of_objects(values: NDArray[Any], name: str) -> Cells:
    """Cells of Python's objects, None where missing."""
    kinds = {type(value) for value in values} - {type(None)}
    if any(issubclass(kind, _AS_TEXTS) for kind in kinds):
        values = _object_array(as_text(value) if isinstance(value, _AS_TEXTS) else value for value in values)
        kinds = {type(value) for value in values} - {type(None)}
    strange = next((kind for kind in kinds if not issubclass(kind, _SCALARS)), None)
    if strange is not None:
        row = next(i for i, value in enumerate(values) if type(value) is strange)
        raise ComitiaError(
            f"column {name!r}, row {row + 1}: expected a number, a text or a date, found {_shortened(values[row])} "
            f"({strange.__name__}); ignore=[{name!r}] leaves the column out."
        )
    if all(issubclass(kind, str) for kind in kinds) and kinds:
        return Cells("text", values)
    if all(issubclass(kind, (Real, decimal.Decimal, np.bool_)) for kind in kinds):
        return Cells("number", np.array([np.nan if value is None else float(value) for value in values], np.float64))
    if all(issubclass(kind, _DATES) for kind in kinds):
        instants = [np.datetime64("NaT", "us") if value is None else _instant(value) for value in values]
        return Cells("date", np.array(instants, dtype="datetime64[us]"))
    if all(issubclass(kind, datetime.time) for kind in kinds):
        return Cells("number", np.array([np.nan if value is None else _time_of_day(value) for value in values]))
    if all(issubclass(kind, datetime.timedelta) for kind in kinds):
        return Cells("number", np.array([np.nan if value is None else value.total_seconds() for value in values]))
    return Cells("text", _object_array([None if value is None else _text(value) for value in values]))


def _instant(value: Any) -> np.datetime64:
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    return np.datetime64(value, "us")


def _time_of_day(value: datetime.time) -> float:
    return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6


def _seconds(values: NDArray[np.timedelta64]) -> FloatArray:
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / 1e6)


def _text(value: Any) -> str:
    if isinstance(value, Real) and not isinstance(value, (bool, np.bool_)):
        return number_text(float(value))
    return str(value)


def _object_array(values: Iterable[Any]) -> NDArray[Any]:
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def _shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
