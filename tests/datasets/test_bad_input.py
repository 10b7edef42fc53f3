"""Malformed files are refused with the file, the line and what was expected; nothing is guessed."""

from __future__ import annotations

import bz2
import gzip
import tracemalloc
from pathlib import Path

import pytest

from comitia.datasets import DataFormatError, load_dataset, load_meka, load_mulan
from comitia.datasets._arff import read_arff

HEAD = "@relation r\n@attribute a numeric\n@attribute c {x,z}\n@attribute y {0,1}\n@data\n"

ROWS = {
    "too few values": ("1,x\n", 6, "expected 3 values, one for each attribute, found 2"),
    "too few in a later row": ("1,x,0\n\n% no\n1\n", 9, "expected 3 values"),
    "too many values": ("1,x,0,4\n", 6, "expected 3 values, one for each attribute, found more"),
    "an empty value": ("1,,0\n", 6, "expected a value"),
    "a trailing comma": ("1,x,0,\n", 6, "found more"),
    "no number": ("abc,x,0\n", 6, "'a': expected a number, found 'abc'"),
    "a letter": ("x,x,0\n", 6, "'a': expected a number, found 'x'"),
    "a sign alone": ("1,x,0\n-,x,0\n", 7, "'a': expected a number, found '-'"),
    "a number of Python": ("1_0,x,0\n", 6, "expected a number"),
    "a number too large": ("1e999,x,0\n", 6, "within the range of a double"),
    "an undeclared value": ("1,w,0\n", 6, "'c': expected one of 'x', 'z', found 'w'"),
    "a missing label": ("1,x,?\n", 6, "'y': expected a label to be 0 or 1, found a missing value"),
    "a label that is not binary": ("1,x,2\n", 6, "'y': expected one of '0', '1', found '2'"),
    "an open quote": ("1,'x,0\n", 6, "expected a closing quote"),
    "text after a quote": ("1,'x'z,0\n", 6, "expected a comma"),
    "an open weight": ("1,x,0,{1\n", 6, "weight"),
    "a negative weight": ("1,x,0,{-1}\n", 6, "weight"),
    "a weight that is none": ("1,x,0,{w}\n", 6, "weight"),
    "a negative weight in quotes": ("1,x,0,{'-1'}\n", 6, "expected a finite weight of at least 0, found -1.0"),
    "a weight without end": ("1,x,0,{inf}\n", 6, "expected a finite weight of at least 0, found inf"),
    "a weight that is no number": ("1,x,0,{nan}\n", 6, "expected a finite weight of at least 0, found nan"),
    "a sparse row among dense ones": ("1,x,0\n{0 1}\n", 7, "expected all rows dense or all rows sparse"),
    "a dense row among sparse ones": ("{0 1}\n1,x,0\n", 7, "expected all rows dense or all rows sparse"),
    "an index out of range": ("{3 1}\n", 6, "expected an index below 3"),
    "an index beyond all integers": ("{99999999999999999999999999 1}\n", 6, "expected an index below 3"),
    "a negative index": ("{-1 1}\n", 6, "expected the index of an attribute"),
    "a repeated index": ("{0 1,2 1,0 2}\n", 6, "found index 0 again"),
    "an index without value": ("{0}\n", 6, "expected the index of an attribute"),
    "an open row": ("{0 1,2 1\n", 6, "expected } at the end"),
    "text after a sparse row": ("{0 1} x\n", 6, "expected the end of the row"),
    "no rows": ("% nothing\n", 6, "expected rows after @data"),
}

HEADERS = {
    "no header": ("1,2,0\n3,4,1\n", 1, "expected @relation, @attribute or @data, found '1,2,0'"),
    "no @data": ("@relation r\n@attribute a numeric\n", 2, "expected @data"),
    "no @relation": ("@attribute a numeric\n@data\n1\n", 1, "expected @relation before"),
    "no attributes": ("@relation r\n@data\n1\n", 2, "expected an @attribute"),
    "two relations": ("@relation r\n@relation s\n@data\n", 2, "expected one @relation"),
    "no name": ("@relation r\n@attribute {0,1}\n@data\n", 2, "expected the name"),
    "no type": ("@relation r\n@attribute a\n@data\n", 2, "expected a type"),
    "an unknown type": ("@relation r\n@attribute a relational\n@data\n", 2, "expected a type"),
    "text after the type": ("@relation r\n@attribute a numeric x\n@data\n", 2, "expected the end of the line"),
    "a repeated name": ("@relation r\n@attribute a real\n@attribute a real\n@data\n", 3, "'a' again (first in line 2)"),
    "an open list": ("@relation r\n@attribute a {0,1\n@data\n", 2, "expected"),
    "an empty list": ("@relation r\n@attribute a {}\n@data\n", 2, "expected values"),
    "an empty value": ("@relation r\n@attribute a {0,,1}\n@data\n", 2, "expected values"),
    "a repeated value": ("@relation r\n@attribute a {0,1,0}\n@data\n", 2, "expected values that differ, found '0'"),
    "a date of unknown form": ("@relation r\n@attribute a date 'QQ'\n@data\n", 2, "expected a date format"),
    "half a character": ("@relation r\n@attribute 'a\\ud800' real\n@data\n", 2, "expected text"),
}


@pytest.mark.parametrize("case", ROWS)
def test_wrong_rows_are_refused_with_their_line(case: str, tmp_path: Path) -> None:
    rows, line, message = ROWS[case]
    _assert_refused(HEAD + rows, line, message, tmp_path)


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        ("{a,b}", "{a,b}"),
        ("{a,b,c,d,e,f}", "{a,b,c,d}"),
        ("{0,1,2}", "{0,1,2}"),
        ("string", "string"),
        ("date", "date"),
    ],
)
def test_a_label_that_is_declared_otherwise_is_refused_with_what_it_is(
    declared: str, found: str, tmp_path: Path
) -> None:
    text = f"@relation r\n@attribute a numeric\n@attribute y {declared}\n@data\n1,0\n"
    _assert_refused(text, 3, f"expected label 'y' to be declared {{0,1}}, found {found}", tmp_path)


def test_a_numeric_label_is_zero_or_one(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a numeric\n@attribute y numeric\n@data\n1,1.0\n"
    _assert_refused(text + "2,'2'\n", 6, "expected a label to be 0 or 1, found '2'", tmp_path)


@pytest.mark.parametrize("case", HEADERS)
def test_wrong_headers_are_refused_with_their_line(case: str, tmp_path: Path) -> None:
    _assert_refused(*HEADERS[case], tmp_path)


def _assert_refused(text: str, line: int, message: str, folder: Path) -> None:
    path = folder / "wrong.arff"
    path.write_text(text)
    with pytest.raises(DataFormatError) as refused:
        load_dataset(path, ["y"])
    assert str(refused.value).startswith(f"{path}, line {line}: ")
    assert message in str(refused.value)


def test_the_line_is_right_in_later_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("comitia.datasets._text.BLOCK_BYTES", 16)
    _assert_refused(HEAD + "1,x,0\n" * 50 + "% no row\n\n1,x,0\n1,x,7\n", 5 + 54, "found '7'", tmp_path)


def test_a_label_declared_one_way_only_may_not_be_the_other(tmp_path: Path) -> None:
    _assert_refused(
        "@relation r\n@attribute a real\n@attribute y {1}\n@data\n2,0\n", 5, "expected one of '1'", tmp_path
    )


@pytest.mark.parametrize("kind", ["{a,b}", "{0,1,2}", "string", "date"])
def test_labels_that_cannot_be_binary_are_refused_at_their_declaration(kind: str, tmp_path: Path) -> None:
    text = f"@relation r\n@attribute a real\n@attribute y {kind}\n@data\n2,0\n"
    _assert_refused(text, 3, "expected label 'y' to be declared {0,1}", tmp_path)


def test_labels_of_the_xml_that_the_arff_lacks_are_named(tmp_path: Path) -> None:
    arff, xml = tmp_path / "a.arff", tmp_path / "a.xml"
    arff.write_text(HEAD + "1,x,0\n")
    xml.write_text("<labels>\n<label name='y'/>\n<label name='nowhere'/>\n</labels>")
    with pytest.raises(DataFormatError, match=r"a\.xml, line 3: expected label 'nowhere' to be an attribute"):
        load_mulan(arff, xml)


def test_all_attributes_labels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    path.write_text("@relation r\n@attribute y {0,1}\n@data\n1\n")
    with pytest.raises(DataFormatError, match="expected attributes that are not labels"):
        load_dataset(path, ["y"])


@pytest.mark.parametrize("relation", ["r", "'r: -C 0'", "'r: -C 3'", "'r: -C -3'", "'r: -C x'", "'r: -C 99999999999'"])
def test_meka_files_without_a_usable_count_are_refused(relation: str, tmp_path: Path) -> None:
    path = tmp_path / "a.arff"
    path.write_text(HEAD.replace("@relation r", f"@relation {relation}") + "1,x,0\n")
    with pytest.raises(DataFormatError, match=r"a\.arff, line 1: expected the number of labels, -C from 1 to 2"):
        load_meka(path)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_truncated_and_damaged_archives_are_refused(compress: object, tmp_path: Path) -> None:
    whole: bytes = compress((HEAD + "1,x,0\n" * 2000).encode())  # type: ignore[operator]
    path = tmp_path / "a.arff.gz"
    for packed in (whole[:-9], whole[: len(whole) // 2], whole[:20] + b"\xff\xff\xff" + whole[23:]):
        path.write_bytes(packed)
        with pytest.raises(DataFormatError, match=r"expected a whole archive|expected @data|line"):
            load_dataset(path, ["y"])


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_meka(tmp_path / "nowhere.arff")


BOMBS = {
    "blank lines": HEAD.encode() + b"\n" * (1 << 24),
    "comments before @data": b"%\n" * (1 << 21),
    "one endless line": HEAD.encode() + b"1" * (1 << 27),
    "rows that take no room": b"@relation r\n" + b"".join(b"@attribute y%d {0,1}\n" % k for k in range(4000))
    + b"@attribute a numeric\n@data\n" + b"{}\n" * (1 << 16),
    "rows that omit ones": b"@relation r\n" + b"".join(b"@attribute y%d {1,0}\n" % k for k in range(4000))
    + b"@attribute a numeric\n@data\n" + b"{}\n" * (1 << 16),
    "short rows": b"@relation r\n" + b"".join(b"@attribute y%d {0,1}\n" % k for k in range(4000))
    + b"@attribute a numeric\n@data\n" + b"1\n" * (1 << 18),
    "a long run of blanks in a list": b"@relation r\n@attribute a {x" + b" " * (1 << 20) + b"{\n@data\n1\n",
    "a long run of quotes": HEAD.encode() + b"'\\" * (1 << 20) + b"\n",
}  # fmt: skip


@pytest.mark.parametrize("case", BOMBS)
def test_small_archives_cannot_take_much_memory(case: str, tmp_path: Path) -> None:
    path = tmp_path / "bomb.arff.gz"
    path.write_bytes(gzip.compress(BOMBS[case], compresslevel=1))
    tracemalloc.start()
    try:
        with pytest.raises(DataFormatError):
            _load_bomb(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 28


def _load_bomb(path: Path) -> None:
    read_arff(path, lambda header: range(len(header.attributes) - 1), max_bytes=1 << 26)
