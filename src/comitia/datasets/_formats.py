"""What a file is by its name, and what it looks like by its first bytes."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from comitia._errors import ComitiaError
from comitia.datasets._dataset import DataFormatError
from comitia.datasets._text import STDIN, raw_blocks

FORMATS = {
    ".arff": ".arff",
    ".csv": ".csv",
    ".txt": ".csv",
    ".tsv": ".tsv",
    ".tab": ".tsv",
    ".jsonl": ".jsonl",
    ".ndjson": ".jsonl",
    ".json": ".jsonl",
    ".parquet": ".parquet",
    ".pq": ".parquet",
    ".xlsx": ".xlsx",
    ".xlsm": ".xlsx",
}
"""The endings that are known, in small letters, and the format that each stands for."""

_WORDS = {
    ".arff": "an ARFF file",
    ".csv": "a CSV file",
    ".tsv": "a table with tabs",
    ".jsonl": "JSON lines",
    ".parquet": "a Parquet file",
    ".xlsx": "an Excel workbook",
}
_PACKED = re.compile(r"\.(?:gz|bz2)$", re.IGNORECASE)


def file_format(path: Path) -> str:
    """What a file is: ``.arff``, ``.csv``, ``.tsv``, ``.jsonl``, ``.parquet`` or ``.xlsx``.

    The ending of its name decides, in any case, before ``.gz`` or ``.bz2``; what comes from standard input (``-``) has
    no name and is what it looks like.
    """
    if path == STDIN:
        return looks_like(path) or ".csv"
    suffix = unpacked(path).suffix.lower()
    if suffix not in FORMATS:
        found = looks_like(path) if path.is_file() else None
        hint = f", which looks like {_WORDS.get(found, found)}" if found else ""
        raise ComitiaError(
            f"expected an .arff, .csv or .parquet file, or one in .tsv, .txt, .jsonl or .xlsx; got {path}{hint}"
        )
    return FORMATS[suffix]


def unpacked(path: Path) -> Path:
    """The name of a file without the ending that says how it is packed."""
    return path.with_name(_PACKED.sub("", path.name) or path.name)


def check_looks(path: Path, expected: str) -> None:
    """Refuse a file that is empty, or something else than its name says, with what it looks like."""
    if not any(block.removeprefix(codecs.BOM_UTF8).strip() for block in raw_blocks(path, 1 << 62)):
        raise DataFormatError.at(path, None, f"expected {_WORDS[expected]}, found an empty file")
    found = looks_like(path)
    if found is None and expected in (".parquet", ".xlsx") and _is_text(path):
        found = ".csv"
    if found is None or found == expected or {found, expected} == {".csv", ".tsv"}:
        return
    message = f"expected {_WORDS[expected]}, found what looks like {_WORDS.get(found, found)}"
    if found in _WORDS:
        message += f"; a name that ends in {found} has it read as one"
    raise DataFormatError.at(path, None, message)


def looks_like(path: Path) -> str | None:
    """The format that a file has by its first bytes, or words for one that cannot be read; None where nothing tells."""
    blocks = raw_blocks(path, 1 << 62)
    start = next(blocks, b"")[:4096]
    for magic, found in _MAGIC.items():
        if start.startswith(magic):
            return _archive(path) if magic == b"PK\x03\x04" else found
    plain = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if plain.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "an HTML page"
    if plain.startswith(b"<?xml"):
        return "an XML file"
    if re.match(rb"(?:%[^\n]*\s+)*@relation\s", plain):
        return ".arff"
    if re.match(rb'\[?\s*\{\s*["}]', plain):
        return ".jsonl"
    if re.match(rb"\[\s*\[", plain):
        return "JSON whose rows are lists; they must be objects, which name their cells"
    return None


def _is_text(path: Path) -> bool:
    start = next(raw_blocks(path, 1 << 62), b"")[:4096]
    return not re.search(rb"[\x00-\x08\x0e-\x1f]", start)


_MAGIC = {
    b"PAR1": ".parquet",
    b"PK\x03\x04": ".xlsx",
    b"\xd0\xcf\x11\xe0": "a workbook of old Excel (.xls); save it as .xlsx",
    b"%PDF-": "a PDF file",
    b"ARROW1": "an Arrow (Feather) file",
    b"SQLite format 3": "an SQLite database",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "an array of NumPy",
    b"\xfd7zXZ": "a file packed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "a file packed by Zstandard; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"Rar!": "a RAR archive; unpack it first",
    b"\x80\x04": "a pickle of Python, which is not opened",
    b"\x80\x05": "a pickle of Python, which is not opened",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"version https://git-lfs": "a pointer of git LFS; git lfs pull fetches the file",
}


def _archive(path: Path) -> str:
    """What a zip archive holds: a workbook names its parts."""
    content = next(raw_blocks(path, 1 << 62), b"")
    if b"opendocument.spreadsheet" in content[:200]:
        return "a workbook of LibreOffice (.ods); save it as .xlsx"
    return ".xlsx" if b"xl/" in content or b"[Content_Types].xml" in content else "a zip archive; unpack it first"
