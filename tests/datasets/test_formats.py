"""What files look like by their first bytes, whatever they are called."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from comitia.datasets._formats import file_format, looks_like

STARTS = {
    b"PAR1": ".parquet",
    b"\xd0\xcf\x11\xe0": "a workbook of old Excel (.xls); save it as .xlsx",
    b"%PDF-1.7": "a PDF file",
    b"ARROW1": "an Arrow (Feather) file",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x89HDF\r\n": "an HDF5 file",
    b"\x93NUMPY\x01": "an array of NumPy",
    b"\xfd7zXZ\x00": "a file packed by xz; unpack it first",
    b"\x28\xb5\x2f\xfd": "a file packed by Zstandard; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"Rar!": "a RAR archive; unpack it first",
    b"\x80\x04\x95": "a pickle of Python, which is not opened",
    b"\x80\x05\x95": "a pickle of Python, which is not opened",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"version https://git-lfs": "a pointer of git LFS; git lfs pull fetches the file",
    b"<!DOCTYPE html><p>": "an HTML page",
    b"\xef\xbb\xbf \n<html>": "an HTML page",
    b"<HEAD>": "an HTML page",
    b"<body>": "an HTML page",
    b"<?xml version='1.0'?>": "an XML file",
    b"% a comment\n% another\n@RELATION songs\n": ".arff",
    b"@relation songs\n": ".arff",
    b"@relations\n": None,
    b"%\n": None,
    b'{"a": 1}\n': ".jsonl",
    b'{ "a": 1}\n': ".jsonl",
    b"{ }": ".jsonl",
    b"{a}": None,
    b'[ {"a": 1}]': ".jsonl",
    b"[[1, 2]]": "JSON whose rows are lists; they must be objects, which name their cells",
    b"[a], b": None,
    b"a,b\n1,2\n": None,
    b"": None,
}


@pytest.mark.parametrize(("start", "found"), STARTS.items(), ids=repr)
def test_a_file_is_what_its_first_bytes_say(start: bytes, found: str | None, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in (start, gzip.compress(start)):
        path.write_bytes(content)
        assert looks_like(path) == found
    path.write_bytes(b" " * 4096 + start)
    assert looks_like(path) is None, "what comes later does not count"


@pytest.mark.parametrize(("part", "found"), [("xl/workbook.xml", ".xlsx"), ("a.csv", "a zip archive; unpack it first")])
def test_an_archive_is_a_workbook_if_it_has_the_parts_of_one(part: str, found: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr(part, "")
    assert looks_like(tmp_path / "file") == found


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.arff", ".arff"),
        ("a.CSV.gz", ".csv"),
        ("a.tab", ".tsv"),
        ("a.tsv.BZ2", ".tsv"),
        ("a.ndjson", ".jsonl"),
        ("a.pq", ".parquet"),
        ("a.xlsm", ".xlsx"),
    ],
)
def test_the_ending_of_a_name_says_what_a_file_is_in_any_case(name: str, kind: str) -> None:
    assert file_format(Path(name)) == kind
