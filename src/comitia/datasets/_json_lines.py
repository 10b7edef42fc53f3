"""JSON: an object a line, or a list of objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from comitia.datasets._dataset import DataFormatError
from comitia.datasets._delimited import decoded
from comitia.datasets._extras import require
from comitia.datasets._text import raw_blocks


def read_json_lines(path: Path, max_bytes: int) -> tuple[Any, list[str]]:
    """Read JSON, an object a line or a list of objects, as an Arrow table, with a note on the encoding.

    A key that an object lacks is a missing cell.
    """
    arrow, arrow_json = require("pyarrow"), require("pyarrow.json")
    text, notes = decoded(path, b"".join(raw_blocks(path, max_bytes)))
    if text.lstrip().startswith(b"["):
        text = _lines(path, text)
    n_rows, keys = _shape(path, text)
    if 8 * n_rows * len(keys) > max_bytes:
        raise DataFormatError.at(path, None, f"expected columns that fit in max_bytes={max_bytes}, found larger ones")
    if not n_rows:
        raise DataFormatError.at(path, None, "expected an object of JSON a line, found none")
    if n_rows == 1:
        _check_rows(path, text)
    block = min(len(text) + 1, 2**31 - 1)
    options = arrow_json.ReadOptions(use_threads=False, block_size=block)
    return arrow_json.read_json(arrow.BufferReader(text), options, arrow_json.ParseOptions()), notes


def _check_rows(path: Path, text: bytes) -> None:
    """Refuse one object whose values are columns, as pandas writes a frame unless it is told otherwise."""
    columns = list(json.loads(text).values())
    of_columns = len(columns) > 1 and all(isinstance(one, dict) and len(one) > 1 for one in columns)
    if of_columns and all(one.keys() == columns[0].keys() for one in columns):
        message = "expected an object for each row, found one with a value for each column; pandas writes rows with"
        raise DataFormatError.at(path, None, f"{message} orient='records'")


def _lines(path: Path, text: bytes) -> bytes:
    """Objects in one list, as most programs export them, one a line."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataFormatError.at(path, None, f"expected a list of objects of JSON, found: {error}") from error
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise DataFormatError.at(path, None, f"row {number}: expected an object of JSON, found {str(row)[:40]!r}")
    return b"\n".join(json.dumps(row, ensure_ascii=False).encode() for row in rows)


def _shape(path: Path, text: bytes) -> tuple[int, set[str]]:
    """The number of objects and their keys: one new key in each line would make a table of n² cells."""
    n_rows = 0
    keys: set[str] = set()
    for number, line in enumerate(text.split(b"\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            found = error.msg if isinstance(error, json.JSONDecodeError) else error
            raise DataFormatError.at(path, number, f"expected an object of JSON, found: {found}") from error
        if not isinstance(row, dict):
            raise DataFormatError.at(path, number, f"expected an object of JSON, found {str(row)[:40]!r}")
        n_rows += 1
        keys.update(row)
    return n_rows, keys
