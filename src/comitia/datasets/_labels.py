"""Labels as people have them: names in lists, and columns of yes and no."""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from comitia._errors import ComitiaError
from comitia._labels import LabelArray, names_in
from comitia._names import enumerated, printable, unknown
from comitia._yes_and_no import cell_text, first_unclear, small_word, word_for_yes, yes_among
from comitia.datasets._dataset import DataFormatError, NoSuchColumnError
from comitia.datasets._extras import require


def label_notes(Y: LabelArray, names: Sequence[str], few: int = 10) -> tuple[str, ...]:
    """Return sentences about labels that can hardly be learnt: never or always relevant, or for few instances.

    Parameters
    ----------
    Y : array of 0/1, shape (n, K)
    names : sequence of K str
        Of the labels.
    few : int
        With fewer relevant instances than this a label is noted.

    Examples
    --------
    >>> import numpy as np
    >>> from comitia.datasets import label_notes
    >>> label_notes(np.array([[1, 0, 1]] * 20 + [[1, 0, 0]] * 20, dtype=np.int8), ["a", "b", "c"])
    ("1 label never holds: 'b'.", "1 label always holds: 'a'.")
    """
    positives = Y.sum(axis=0, dtype=np.int64)
    groups = {
        "never": np.flatnonzero(positives == 0),
        "always": np.flatnonzero((positives == len(Y)) & (positives > 0)),
        f"for fewer than {few} instances only": np.flatnonzero((positives > 0) & (positives < min(few, len(Y)))),
    }
    notes = []
    for when, found in groups.items():
        if len(found):
            shown = ", ".join(repr(printable(names[k])) for k in found[:5])
            more = f" and {len(found) - 5} more" if len(found) > 5 else ""
            verb = f"holds {when}" if when.startswith("for") else f"{when} holds"
            verb = verb if len(found) == 1 else verb.replace("holds", "hold")
            notes.append(f"{len(found)} label{'' if len(found) == 1 else 's'} {verb}: {shown}{more}.")
    return tuple(notes)


def is_pattern(name: str) -> bool:
    """Whether a name may stand for several columns."""
    return bool(set("*?[") & set(name))


def matching(columns: Sequence[str], wanted: Sequence[str], where: str | Path) -> list[str]:
    """Write out the patterns among names of columns; a NoSuchColumnError names one that fits none.

    Examples
    --------
    >>> matching(["x", "tag_a", "tag_b"], ["tag_*"], "mine.csv")
    ['tag_a', 'tag_b']
    """
    found: list[str] = []
    for name in wanted:
        matches = [name] if name in columns else [column for column in columns if fnmatchcase(column, name)]
        if not matches and is_pattern(name):
            message = f"no column is like {printable(name)!r}. It has: {enumerated(columns, most=12)}."
            raise NoSuchColumnError.at(where, None, message)
        if not matches:
            hint, message = header_hint(columns), unknown("column", printable(name), columns)
            raise NoSuchColumnError.at(where, None, message.removesuffix(".") + hint if hint else message)
        found += matches
    return list(dict.fromkeys(found))


def header_hint(names: Sequence[str]) -> str:
    """Ask, where most names of columns are numbers, whether they are none."""
    numbers = sum(name.replace(".", "", 1).removeprefix("-").isdecimal() for name in names)
    return "; has the file no line with the names of its columns?" if 2 * numbers > len(names) else ""


class LabelColumn(NamedTuple):
    """A column of a table as a label: where it holds, by which word, and a note where blank cells are zeros."""

    holds: LabelArray
    word: str | None
    note: str | None = None


def label_column(path: Path, name: str, column: Any, positive: str | None) -> LabelColumn:
    """Read a column of a table as zeros and ones."""
    if positive is None:
        values = _zeros_and_ones(column)
        if values is not None:
            return LabelColumn(values, "1")
    cells = column.to_pylist()
    words = [small_word(cell) for cell in cells]
    yes = yes_among(words, positive)
    if words and yes is None:
        raise DataFormatError.at(path, None, _unclear(name, cells, words))
    note = None
    if "" in words and (positive is None or yes != small_word(positive)):
        note = f"Blank and missing cells of label {printable(name)!r} are taken to mean that it does not hold."
    return LabelColumn(np.array([word == yes for word in words], dtype=np.int8), yes, note)


def _unclear(name: str, cells: Sequence[Any], words: Sequence[str]) -> str:
    """Say which cell of a column is no label, and with which options it would be one."""
    place = first_unclear(words)
    texts = {word: cell_text(cell) for word, cell in zip(words, cells, strict=True) if word}
    known = word_for_yes(texts.keys())
    found, way_out = f"{cells[place]!r}" if words[place] else "an empty cell", ""
    if known is not None:
        way_out = f"; positive={texts.get(known, known)!r} takes empty cells for no"
    elif len(texts) == 2 and words[place]:
        other = next(text for word, text in texts.items() if word != words[place])
        found += f" and {other!r}"
        way_out = f"; positive={texts[words[place]]!r} or positive={other!r} says which of them is yes"
    elif words[place]:
        way_out = f"; positive={texts[words[place]]!r} takes this cell for yes and all others for no"
    if len(texts) > 2:
        way_out += f", and labels_in={name!r} all cells for names of labels"
    return f"row {place + 1}, {name!r}: expected a label to be 0 or 1, found {found}{way_out}"


def _zeros_and_ones(column: Any) -> LabelArray | None:
    """A column that is what most are: numbers or truth values, all of them zeros and ones."""
    types = require("pyarrow.types")
    kinds = (types.is_boolean, types.is_integer, types.is_floating)
    if column.null_count or not any(is_kind(column.type) for is_kind in kinds):
        return None
    values = column.to_numpy()
    return values.astype(np.int8) if np.isin(values, (0, 1)).all() else None


def label_lists(path: str | Path, name: str, cells: Sequence[Any], separator: str | None) -> list[list[str]]:
    """Return the names in each cell of a column: parts of a text, or lists of JSON, Python, Parquet or PostgreSQL."""
    if separator is not None and not separator:
        raise ComitiaError("separator must be one character or more; got ''.")
    lists: list[list[str]] = []
    for i, cell in enumerate(cells):
        try:
            found = _split(cell, separator)
        except ValueError as error:
            raise DataFormatError.at(path, None, f"row {i + 1}, {name!r}: {error}") from None
        if found is None:
            message = f'expected a list such as ["a", "b"], found {cell.strip()[:40]!r}'
            raise DataFormatError.at(
                path, None, f"row {i + 1}, {name!r}: {message}; separator={_used(cells)!r} cuts texts"
            )
        lists.append(found)
    if not any(lists):
        raise DataFormatError.at(path, None, f"expected names of labels in {name!r}, found none")
    return lists


def separator_notes(name: str, cells: Sequence[Any], separator: str | None) -> list[str]:
    """Say where no cell holds the sign that is to stand between names, and many hold another."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    if separator is None or not texts or any(separator in text for text in texts):
        return []
    other = _used(texts)
    cut = sum(other in text for text in texts)
    if 10 * cut < len(texts):
        return []
    return [f"No cell of {name!r} holds {separator!r}; separator={other!r} would cut {cut} of {len(texts)}."]


def _split(cell: Any, separator: str | None) -> list[str] | None:
    """The names in a cell; None where it is a text that is no list."""
    if isinstance(cell, (list, tuple, set, frozenset, np.ndarray)):
        return list(names_in(cell, 0))
    if not cell_text(cell):
        return []
    if not isinstance(cell, str):
        return [cell_text(cell)]
    if separator is not None:
        return list(dict.fromkeys(part.strip() for part in cell.split(separator) if part.strip()))
    text = cell.strip()
    if not text:
        return []
    if text[0] in "[({":
        for read in (json.loads, ast.literal_eval):
            try:
                found = read(text)
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
                continue
            if isinstance(found, (list, tuple, set, frozenset)):
                return list(names_in(found, 0))
    return _of_a_database(text)


_BRACKETED = re.compile(r"(?:<[^<>]+>)+")


def _of_a_database(text: str) -> list[str] | None:
    """The names in an array of PostgreSQL, ``{a,"b c"}``, or in brackets, ``<a><b>``; None where it is neither."""
    if _BRACKETED.fullmatch(text):
        return list(dict.fromkeys(text[1:-1].split("><")))
    if not (text.startswith("{") and text.endswith("}")) or {"{", ":"} & set(text[1:]):
        return None
    cells = next(csv.reader([text[1:-1]], skipinitialspace=True, escapechar="\\"), [])
    return list(dict.fromkeys(cell for cell in cells if cell not in ("", "NULL")))


def _used(cells: Sequence[Any]) -> str:
    """What most probably stands between names: a sign that many cells hold, first those that names rarely do."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    held = {sign: sum(sign in text for text in texts) for sign in (";", "|", ",", "/")}
    return next(sign for sign, count in held.items() if 10 * count >= max(held.values()))
