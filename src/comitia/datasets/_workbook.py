"""Workbooks of Excel: the first sheet that holds anything."""

from __future__ import annotations

import io
import itertools
import zipfile
from pathlib import Path
from typing import Any

from comitia.datasets._dataset import DataFormatError
from comitia.datasets._delimited import MISSING
from comitia.datasets._extras import require
from comitia.datasets._text import opened


def read_workbook(path: Path, max_bytes: int) -> tuple[Any, list[str]]:
    """Read the first sheet of a workbook as an Arrow table, with a note where there are others.

    The first row that is not blank names the columns.  What a formula gave when the file was saved is its value, and
    an error such as ``#DIV/0!`` is missing.
    """
    openpyxl = require("openpyxl", f"reading {path}", extra="excel")
    with opened(path, max_bytes) as file:
        content = file.read()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > max_bytes:
            message = f"expected a workbook that fits in max_bytes={max_bytes}, found a larger one"
            raise DataFormatError.at(path, None, message)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        rows = _rows(path, sheet, max_bytes)
        sheets = book.sheetnames
    except DataFormatError:
        raise
    except Exception as error:  # a workbook can be broken in as many ways as there are errors
        raise DataFormatError.at(
            path, None, f"expected an Excel workbook, found a damaged one ({type(error).__name__}: {error})"
        ) from error
    notes = [f"Of {len(sheets)} sheets, {sheets[0]!r} is read."] if len(sheets) > 1 else []
    return _table(path, rows), notes


def _rows(path: Path, sheet: Any, max_bytes: int) -> list[list[Any]]:
    rows: list[list[Any]] = []
    held = 0
    for cells in sheet.iter_rows():
        row = [None if cell.data_type == "e" else cell.value for cell in cells]
        while row and row[-1] in (None, ""):
            row.pop()
        held += 64 * len(row) + 64
        if held > max_bytes:
            message = f"expected a sheet that fits in max_bytes={max_bytes}, found a larger one"
            raise DataFormatError.at(path, len(rows) + 1, message)
        rows.append(row)
    while rows and not rows[-1]:
        rows.pop()
    return list(itertools.dropwhile(lambda row: not row, rows))


def _table(path: Path, rows: list[list[Any]]) -> Any:
    arrow = require("pyarrow")
    if not rows:
        raise DataFormatError.at(path, None, "expected a row with the names of the columns, found an empty sheet")
    width = max(map(len, rows))
    header = ["" if name is None else str(name) for name in rows[0]] + [""] * (width - len(rows[0]))
    columns = []
    for j in range(width):
        cells = [row[j] if j < len(row) else None for row in rows[1:]]
        columns.append(_column([None if isinstance(cell, str) and cell.strip() in MISSING else cell for cell in cells]))
    return arrow.Table.from_arrays(columns, names=header)


def _column(cells: list[Any]) -> Any:
    arrow = require("pyarrow")
    kinds = {type(cell) for cell in cells} - {type(None)}
    if kinds <= {int, float}:
        return arrow.array([None if cell is None else float(cell) for cell in cells], arrow.float64())
    if len(kinds) == 1:
        try:
            return arrow.array(cells)
        except (arrow.ArrowException, OverflowError):
            pass
    return arrow.array([None if cell is None else _text(cell) for cell in cells], arrow.string())


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)
