"""Text with a row a line: what separates its cells, what its decimals and characters are, and the table it holds."""

from __future__ import annotations

import codecs
import csv
import re
from pathlib import Path
from typing import Any, NamedTuple

from comitia.datasets._dataset import DataFormatError
from comitia.datasets._extras import require
from comitia.datasets._text import raw_blocks

MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "\\N"]
"""Cells of a text that stand for a missing value."""

_SAMPLE = 1 << 16
_BLANK_LINES = re.compile(rb"(?:[ \t]*(?:\r\n|\r|\n))+")
_SEPARATOR_LINE = re.compile(rb"sep=(.)(?:\r\n|\r|\n)", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?")
_RAGGED = re.compile(r"Row #([0-9]+): Expected ([0-9]+) columns, got ([0-9]+): (.*)", re.DOTALL)
_NO_NUMBER = re.compile(rb"(?<![0-9.])0(?:x[0-9a-f]|[0-9])", re.IGNORECASE)


class Dialect(NamedTuple):
    """How a table is written."""

    delimiter: str
    decimal: str


def read_delimited(path: Path, max_bytes: int, suffix: str) -> tuple[Any, list[str]]:
    """Read a CSV or TSV file as an Arrow table, with notes on what was recognised."""
    text, notes = decoded(path, b"".join(raw_blocks(path, max_bytes)))
    text, delimiter = _first_line(path, text, notes)
    if delimiter is None:
        delimiter = "\t" if suffix == ".tsv" else _delimiter(_sample(text))
    rows = _rows(_sample(text), delimiter)
    dialect = Dialect(delimiter, _decimal(rows, delimiter))
    if delimiter != "," and suffix == ".csv":
        name = "tabs" if delimiter == "\t" else repr(delimiter)
        notes.append(f"Cells are separated by {name}.")
    if dialect.decimal == ",":
        notes.append("Decimals are written with a comma, as in 1,5.")
    return _parsed(path, text, dialect), notes


def decoded(path: Path, text: bytes) -> tuple[bytes, list[str]]:
    """Return a text in UTF-8, and a note where it was written in something else."""
    encoding, said = _encoding(path, text)
    if encoding == "utf-8":
        return text.removeprefix(codecs.BOM_UTF8), []
    try:
        return text.decode(encoding).encode().removeprefix(codecs.BOM_UTF8), [f"The text is read as {said}."]
    except UnicodeError as error:
        raise DataFormatError.at(path, None, f"expected text in {said}, found: {error}") from error


def _encoding(path: Path, text: bytes) -> tuple[str, str]:
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", "UTF-16"
    start = text[:1000]
    zeros = start[0::2].count(0), start[1::2].count(0)
    if max(zeros) > len(start) / 4 and zeros[0] != zeros[1]:
        return ("utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"), "UTF-16 without a byte order mark"
    zero = text.find(0)
    if zero >= 0:
        raise DataFormatError.at(path, text.count(b"\n", 0, zero) + 1, "expected text, found a byte of zero")
    check = codecs.getincrementaldecoder("utf-8")()
    try:
        for position in range(0, len(text), 1 << 20):
            check.decode(text[position : position + (1 << 20)])
        check.decode(b"", final=True)
    except UnicodeDecodeError:
        # Five bytes have no meaning in Windows' table; Latin-1 has one for all.
        if re.search(rb"[\x81\x8d\x8f\x90\x9d]", text):
            return "latin-1", "Latin-1, for it is not UTF-8"
        return "cp1252", "Windows-1252 (Latin-1), for it is not UTF-8"
    return "utf-8", "UTF-8"


def _first_line(path: Path, text: bytes, notes: list[str]) -> tuple[bytes, str | None]:
    """Return the text from its header on, and the delimiter that Excel's own first line names."""
    delimiter = None
    separator = _SEPARATOR_LINE.match(text)
    if separator is not None:
        delimiter, text = separator[1].decode("latin-1"), text[separator.end() :]
    blank = _BLANK_LINES.match(text)
    if blank is not None:
        text = text[blank.end() :]
        header = re.split(r"[,;\t|]", _sample(text).partition("\n")[0])
        if any(_NUMBER.fullmatch(cell.strip().strip('"')) for cell in header):
            message = "expected the names of the columns, found a blank line and then a row of values"
            raise DataFormatError.at(path, 1, message)
        notes.append("The first line is blank; the names of the columns are in the next one.")
    return text, delimiter


def _sample(text: bytes) -> str:
    start = text[:_SAMPLE].decode("utf-8", errors="ignore").replace("\r\n", "\n").replace("\r", "\n")
    return start if len(text) <= _SAMPLE else start[: start.rfind("\n") + 1] or start


def _rows(sample: str, delimiter: str) -> list[list[str]]:
    try:
        return [row for row in csv.reader(sample.split("\n")[:200], delimiter=delimiter) if row]
    except csv.Error:
        return []


def _delimiter(sample: str) -> str:
    """The delimiter that cuts the header and the first rows into the most cells, the same number for each."""

    def cells(delimiter: str) -> int:
        lengths = [len(row) for row in _rows(sample, delimiter)[:50]]
        return lengths[0] if lengths and len(set(lengths)) == 1 else 1

    found = max((",", ";", "\t", "|"), key=cells)
    if cells(found) > 1:
        return found
    header = sample.partition("\n")[0]
    return max((",", ";", "\t", "|"), key=header.count)


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    numbers = [cell.strip() for row in rows[1:] for cell in row if _NUMBER.fullmatch(cell.strip())]
    return "," if any("," in cell for cell in numbers) and not any("." in cell for cell in numbers) else "."


def _parsed(path: Path, text: bytes, dialect: Dialect) -> Any:
    arrow, types = require("pyarrow"), require("pyarrow.types")
    try:
        table = _parse(text, dialect, {})
    except arrow.ArrowInvalid as error:
        ragged = _RAGGED.search(str(error))
        if ragged is None:
            raise
        row, expected, found, start = ragged.groups()
        message = f"row {int(row) - 1}: expected {expected} cells, one for each column, found {found}: {start[:40]!r}"
        raise DataFormatError.at(path, None, message) from error
    names = table.column_names
    if _NO_NUMBER.search(text) and len(set(names)) == len(names):
        # Arrow reads 0x10 as 16, and nobody else does; and 01067, which is a code, as 1067.
        compute = require("pyarrow.compute")
        integers = {name: arrow.string() for name in names if types.is_integer(table.column(name).type)}
        texts = _parse(text, dialect, integers) if integers else table
        strange = [
            name
            for name in integers
            if compute.any(compute.match_substring_regex(texts.column(name), r"^\s*[+-]?0[xX0-9]")).as_py()
        ]
        if strange:
            table = _parse(text, dialect, {name: arrow.string() for name in strange})
    return table


def _parse(text: bytes, dialect: Dialect, column_types: dict[str, Any]) -> Any:
    arrow, arrow_csv = require("pyarrow"), require("pyarrow.csv")
    return arrow_csv.read_csv(
        arrow.BufferReader(text),
        # One block, so that the type of a column follows from all of its values, and mistakes have a row number.
        arrow_csv.ReadOptions(use_threads=False, block_size=min(len(text) + 1, 2**31 - 1)),
        arrow_csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
        arrow_csv.ConvertOptions(
            null_values=MISSING,
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            decimal_point=dialect.decimal,
            column_types=column_types,
        ),
    )
