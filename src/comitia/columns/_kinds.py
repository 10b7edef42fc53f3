"""What a column is: numbers, a date, a category, a text, or nothing to learn from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._frames import is_frame
from comitia._names import as_names, unknown
from comitia.columns._cells import Cells, column, read_cells
from comitia.columns._dates import as_instant, date_order, order_of
from comitia.columns._numbers import NOTATIONS, are_codes, as_numbers

Kind = Literal["number", "date", "category", "text", "left out"]

FEW_VALUES = 20
"""So many different values are categories, however few rows there are."""
_NEARLY_ALL = 0.9
_WORDS_OF_TEXT = 3
_EXCHANGED = "in which day and month could be exchanged"
_SAMPLE = 2000
"""So many values tell that a column of texts holds no numbers; identifiers are not tried one by one."""


@dataclass(frozen=True)
class Use:
    """What a column is used as; ``detail`` is the reason why it is left out, or the order of its dates."""

    kind: Kind
    detail: str = ""


@dataclass(frozen=True)
class Writing:
    """How cells are written, which may differ from file to file; see the parameters of `TableEncoder`."""

    numbers: str = "plain"
    missing_values: Sequence[str] = ()
    day_first: bool | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.numbers, str) or self.numbers not in NOTATIONS:
            raise ComitiaError(f"numbers must be one of {', '.join(NOTATIONS)}; got {self.numbers!r}.")
        as_names("missing_values", self.missing_values)

    def in_frame(self, X: Any) -> Writing:
        """How the cells of X are written: as the frame says in ``X.attrs["columns"]``, else as this does."""
        said = getattr(X, "attrs", {}).get("columns", {}) if is_frame(X) else {}
        return replace(self, **{name: said[name] for name in vars(self) if name in said})

    def cells(self, X: Any, name: str, names: list[str]) -> Cells:
        """Read a column of a frame or an array, in which texts that are blank or stand for it are missing."""
        cells = read_cells(column(X, name, names), name)
        if cells.form == "text":
            gone = set(self.missing_values)
            for i, value in enumerate(cells.values):
                if value is not None and (value in gone or not value or value.isspace()):
                    cells.values[i] = None
        return cells


def matching(names: Sequence[str], wanted: str | Sequence[str], option: str, kind: str = "column") -> list[str]:
    """Return the names that one of the patterns fits, in the order of the names; one that fits none is an error."""
    patterns = as_names(option, wanted)
    found: set[str] = set()
    for pattern in patterns:
        fitting = [pattern] if pattern in names else [name for name in names if fnmatchcase(name, pattern)]
        if not fitting:
            raise ComitiaError(f"{option}: {unknown(kind, pattern, names)}")
        found.update(fitting)
    return [name for name in names if name in found]


def decide(name: str, cells: Cells, written: Writing, place: Place) -> Use:
    """Say what a column is that nobody has named; a ComitiaError where it is a number with cells that are none."""
    missing = cells.missing
    if missing.all():
        return Use("left out", "every cell is missing")
    if cells.form != "text":
        return Use("number" if cells.form == "number" else "date")
    counts = Counter(cells.values[~missing])
    if cells.declared is None:
        use = _as_number_or_date(name, cells, counts, written, place)
        if use is not None:
            return use
    n, distinct = counts.total(), len(counts)
    if distinct > FEW_VALUES:
        words = sum(len(value.split()) for value in list(counts)[:1000]) / min(distinct, 1000)
        if words >= _WORDS_OF_TEXT and distinct > 0.5 * n:
            return Use("left out", "text")
        if distinct > _NEARLY_ALL * n:
            return Use("left out", "every row differs" if distinct == n else "nearly every row differs")
    return Use("category")


def _as_number_or_date(name: str, cells: Cells, counts: Counter[str], written: Writing, place: Place) -> Use | None:
    if {value.strip().lower() for value in counts} <= {"true", "false"}:
        return Use("number")
    sample = list(counts)[:: -(-len(counts) // _SAMPLE)]
    if any(4 * len(as_numbers(sample, other)) >= len(sample) for other in NOTATIONS):
        numbers = as_numbers(counts, written.numbers)
        if len(numbers) == len(counts):
            return None if are_codes(counts) else Use("number")
        looks_like = max((as_numbers(counts, other) for other in (written.numbers, *NOTATIONS)), key=len)
        most = len(looks_like) > FEW_VALUES and sum(counts[value] for value in looks_like) > counts.total() / 2
        if most and not are_codes(looks_like):  # identifiers in hexadecimal digits, or codes with an "unknown"
            wrong = np.array([value is not None and value not in numbers for value in cells.values])
            others = f"categories=[{name!r}] takes all values as categories; ignore=[{name!r}] leaves the column out."
            raise ComitiaError(f"{_no_numbers(name, cells.values, wrong, place)}; {others}")
    order = date_order(counts, written.day_first)
    if order == "unknown":
        return Use("left out", f"dates {_EXCHANGED}, which day_first=True or day_first=False would tell")
    return None if order is None else Use("date", order)


def numbers_of(name: str, cells: Cells, written: Writing, place: Place) -> NDArray[np.float64]:
    """Return the cells of a number column as floats; a ComitiaError names those that are none."""
    if cells.form == "number":
        return cells.values
    if cells.form == "date":
        raise ComitiaError(f"{place.of(name)}: expected numbers, as in fit, found dates.")
    different = {value for value in cells.values if value is not None}
    numbers = as_numbers(different, written.numbers)
    for value in different - numbers.keys():
        if value.strip().lower() in ("true", "false"):
            numbers[value] = float(value.strip().lower() == "true")
    wrong = np.array([value is not None and value not in numbers for value in cells.values], dtype=bool)
    if wrong.any():
        raise ComitiaError(f"{_no_numbers(name, cells.values, wrong, place)}.")
    return np.array([np.nan if value is None else numbers[value] for value in cells.values], dtype=np.float64)


def dates_of(name: str, cells: Cells, order: str, written: Writing, place: Place) -> NDArray[Any]:
    """Return the cells of a date column as ``datetime64[us]``; a ComitiaError names one that is no date.

    ``order`` is that of `fit`, and empty where its dates were no texts.
    """
    if cells.form == "date":
        return cells.values
    if cells.form == "number":
        if cells.missing.all():
            return np.full(len(cells.values), np.datetime64("NaT", "us"), dtype="datetime64[us]")
        raise ComitiaError(f"{place.of(name)}: expected dates, as in fit, found numbers.")
    different = {value for value in cells.values.tolist() if value is not None}
    order = order_of(different, order, written.day_first)
    if order == "unknown":
        ways_out = "day_first=True or day_first=False says which is which"
        raise ComitiaError(f"{place.of(name)}: found dates {_EXCHANGED}, as {min(different)!r}; {ways_out}.")
    instants = {value: as_instant(value, order) for value in different}
    for i, value in enumerate(cells.values):
        if value is not None and instants[value] is None:
            raise ComitiaError(f"{place.of(name, i)}: expected a date, {order}, found {value[:40]!r}.")
    nothing = np.iinfo(np.int64).min  # what NaT is
    return np.array([nothing if value is None else instants[value] for value in cells.values], np.int64).view("M8[us]")


def _no_numbers(name: str, values: NDArray[Any], wrong: NDArray[np.bool_], place: Place) -> str:
    """Say which cells of a number column are no numbers, and how they would be read."""
    rows = np.flatnonzero(wrong)
    shown = ", ".join(f"{values[i][:40]!r} in row {place.row(i)}" for i in rows[:3])
    more = f" and {len(rows) - 3:,} more" if len(rows) > 3 else ""
    different = list(dict.fromkeys(values[i] for i in rows))
    read = {other: as_numbers(different, other) for other in NOTATIONS[1:]}
    notation = max(read, key=lambda other: len(read[other]))
    ways_out = []
    if 2 * len(read[notation]) > len(different):
        ways_out.append(f"numbers={notation!r} reads thousands separators, currency and per cent signs")
        different = [value for value in different if value not in read[notation]]
    if different:
        them = "the others" if ways_out else "them"
        ways_out.append(f"missing_values={different[:3]!r} counts {them} as missing")
    return f"{place.of(name)}: expected numbers, found {shown}{more}. {'; '.join(ways_out)}"


@dataclass(frozen=True)
class Place:
    """Where the rows of a frame come from, for messages.

    A frame that was read from a file knows its name and keeps the number of each row in its index.
    """

    source: str | None
    rows: Any = None

    @classmethod
    def in_frame(cls, X: Any) -> Place:
        """The place of a frame's rows."""
        source = getattr(X, "attrs", {}).get("source") if is_frame(X) else None
        index = getattr(X, "index", None)
        return cls(source, index if source is not None and getattr(index, "dtype", None) == np.int64 else None)

    def row(self, i: int) -> int:
        """The number of a row, counted from one."""
        return int(self.rows[i]) + 1 if self.rows is not None else int(i) + 1

    def of(self, name: str, i: int | None = None) -> str:
        """A column, or one cell of it, in words."""
        where = f"{self.source}, column {name!r}" if self.source else f"column {name!r}"
        return where if i is None else f"{where}, row {self.row(i)}"
