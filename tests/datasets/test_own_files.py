"""Files as spreadsheets, databases and programs write them."""

from __future__ import annotations

import bz2
import datetime
import gzip
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas
import pytest

from comitia import ComitiaError
from comitia.datasets import DataFormatError, Dataset, load_dataset, load_features, load_table

TEXT = "width,colour,y\n0.5,rot,1\n1.5,größer,0\n"


def load(path: Path, content: bytes) -> Dataset:
    path.write_bytes(content)
    return load_dataset(path, ["y"])


def check(dataset: Dataset) -> None:
    assert dataset.feature_names == ("width", "colour")
    assert dataset.X["width"].tolist() == [0.5, 1.5]
    assert dataset.X["colour"].tolist() == ["rot", "größer"]
    assert dataset.Y.tolist() == [[1], [0]]


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", None),
        ("utf-8-sig", None),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16 without a byte order mark"),
        ("utf-16-be", "UTF-16 without a byte order mark"),
        ("latin-1", "Windows-1252 (Latin-1), for it is not UTF-8"),
        ("cp1252", "Windows-1252 (Latin-1), for it is not UTF-8"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_and_line_ends_are_recognised_and_said(
    encoding: str, note: str | None, end: str, tmp_path: Path
) -> None:
    dataset = load(tmp_path / "t.csv", TEXT.replace("\n", end).encode(encoding))
    check(dataset)
    assert [f"The text is read as {note}."] * (note is not None) == [s for s in dataset.notes if "read as" in s]


def test_bytes_that_windows_does_not_know_are_latin_1(tmp_path: Path) -> None:
    dataset = load(tmp_path / "t.csv", b"a,c,y\n1,\x81\xe4,1\n")
    assert dataset.X["c"].tolist() == ["\x81ä"]
    assert "The text is read as Latin-1, for it is not UTF-8." in dataset.notes


def test_a_zero_byte_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match=r"line 2: expected text, found a byte of zero"):
        load(tmp_path / "t.csv", b"a,y\n1\x00,1\n" + b"1,1\n" * 10)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_separators_and_decimal_commas_are_recognised_and_said(delimiter: str, tmp_path: Path) -> None:
    text = TEXT.replace(",", delimiter).replace("0.5", "0,5").replace("1.5", "1,5")
    dataset = load(tmp_path / "t.csv", text.encode())
    check(dataset)
    assert dataset.notes[:2] == (
        f"Cells are separated by {'tabs' if delimiter == chr(9) else repr(delimiter)}.",
        "Decimals are written with a comma, as in 1,5.",
    )


def test_semicolons_with_points_and_lists_with_commas_are_left_alone(tmp_path: Path) -> None:
    dataset = load(tmp_path / "t.csv", b"a;tags;y\n0.5;1,2;1\n1.5;2,3;0\n")
    assert dataset.X["a"].tolist() == [0.5, 1.5]
    assert dataset.X["tags"].tolist() == ["1,2", "2,3"]


def test_the_first_line_of_excel_names_the_separator(tmp_path: Path) -> None:
    dataset = load(tmp_path / "t.csv", b"sep=;\r\na;y\r\n0,5;1\r\n1,5;0\r\n")
    assert dataset.X.tolist() == [[0.5], [1.5]]


def test_tabs_are_what_a_tsv_file_has(tmp_path: Path) -> None:
    check(load(tmp_path / "t.tsv", TEXT.replace(",", "\t").encode()))
    assert load(tmp_path / "u.TAB", b"a, b\ty\n1\t0\n").feature_names == ("a, b",)


@pytest.mark.parametrize("name", ["t.CSV", "t.Csv.GZ", "t.csv.Bz2", "t.TSV"])
def test_endings_count_in_any_case(name: str, tmp_path: Path) -> None:
    pack = gzip.compress if name.endswith("GZ") else bz2.compress if name.endswith("Bz2") else bytes
    dataset = load(tmp_path / name, pack(TEXT.replace(",", "\t" if "TSV" in name else ",").encode()))
    check(dataset)
    assert dataset.name == "t"


def test_arff_and_parquet_count_in_any_case(tmp_path: Path) -> None:
    assert load(tmp_path / "t.ARFF", b"@relation r\n@attribute a real\n@attribute y {0,1}\n@data\n1,1\n").X == [[1]]
    pandas.DataFrame({"a": [1.0], "y": [1]}).to_parquet(tmp_path / "t.PARQUET")
    assert load_dataset(tmp_path / "t.PARQUET", ["y"]).X.tolist() == [[1]]


def test_json_lines_are_tables(tmp_path: Path) -> None:
    lines = (
        b'{"width": 0.5, "colour": "rot", "y": true}\n\n{"y": false, "width": 1.5, "colour": "gr\xc3\xb6\xc3\x9fer"}'
    )
    check(load(tmp_path / "t.jsonl", lines))
    check(load(tmp_path / "t.ndjson", lines.replace(b"\n", b"\r\n")))
    missing = load(tmp_path / "u.jsonl", b'{"a": 1, "y": 1}\n{"b": 2, "y": 0}\n')
    np.testing.assert_array_equal(missing.X, [[1, np.nan], [np.nan, 2]])


def test_objects_in_a_list_are_tables_and_so_are_files_of_either_kind_that_are_called_json(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"width": [0.5, 1.5], "colour": ["rot", "größer"], "y": [True, False]})
    frame.to_json(tmp_path / "list.json", orient="records", indent=2, force_ascii=False)
    frame.to_json(tmp_path / "LINES.JSON", orient="records", lines=True)
    for name in ("list.json", "LINES.JSON"):
        check(load_dataset(tmp_path / name, ["y"]))
    lacking = load(tmp_path / "u.json", b'[{"a": 1, "y": 1}, {"b": 2, "y": 0}]')
    np.testing.assert_array_equal(lacking.X, [[1, np.nan], [np.nan, 2]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1, "y": 1}\n{"a": 1,\n', "line 2: expected an object of JSON"),
        (b'{"a": 1, "y": 1}\n[1]\n', "line 2: expected an object of JSON, found '[1]'"),
        (b"[]", "expected an object of JSON a line, found none"),
        (b'{"a":' + b"[" * 100_000, "line 1: expected an object of JSON"),
        (b'{"a": 1, "y": 1}\n{"a": "x", "y": 1}\n', "expected JSON lines"),
        (b"[[1, 2], [3, 4]]", "JSON whose rows are lists; they must be objects, which name their cells"),
        (b'[{"a": 1, "y": 1}, 3]', "row 2: expected an object of JSON, found '3'"),
        (b'[{"a": 1, "y": 1}, ', "expected a list of objects of JSON, found: "),
    ],
)
def test_other_lines_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataFormatError) as refused:
        load(tmp_path / "t.jsonl", content)
    assert message in str(refused.value)


def test_a_new_key_in_every_line_does_not_take_all_memory(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"k{i}": 1, "y": 1}}\n' for i in range(2000)))
    with pytest.raises(DataFormatError, match="max_bytes"):
        load_table(path, ["y"], max_bytes=10_000_000)


def workbook(path: Path, *sheets: list[list[object]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for i, rows in enumerate(sheets):
        sheet = book.create_sheet(f"sheet {i}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_is_a_table(tmp_path: Path) -> None:
    day = datetime.datetime(2020, 1, 31)
    rows = [[], ["width", "colour", "when", "live", "y"], [0.5, "rot", day, True, 1], [2, None, None, False, 0], [None]]
    dataset = load_dataset(workbook(tmp_path / "t.xlsx", rows, [["more"]]), ["y"])
    assert dataset.X["width"].tolist() == [0.5, 2]
    assert dataset.X["colour"].isna().tolist() == [False, True]
    assert dataset.X["when"][0] == day
    assert dataset.X["live"].tolist() == [1, 0]
    assert dataset.notes[0] == "Of 2 sheets, 'sheet 0' is read."
    assert load_dataset(workbook(tmp_path / "u.XLSX", [["a", "y"], [1, "yes"], [2, "no"]]), ["y"]).Y.tolist() == [
        [1],
        [0],
    ]


def test_mixed_cells_of_a_workbook_are_texts_and_errors_are_missing(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a", "b", "y"], [1, "=1/0", 1], ["unknown", 2, 0], [2.5, "#N/A", 1]])
    X = load_dataset(path, ["y"]).X
    assert X["a"].tolist() == ["1", "unknown", "2.5"]
    np.testing.assert_array_equal(X["b"], [np.nan, 2, np.nan])


def test_damaged_workbooks_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "t.xlsx", [["a", "y"], [1, 1]])
    whole = path.read_bytes()
    with pytest.raises(DataFormatError, match=r"t\.xlsx: expected an Excel workbook, found a damaged one"):
        load(path, whole[: len(whole) // 2])
    with pytest.raises(DataFormatError, match="max_bytes=1000"):
        load_table(workbook(path, [["a", "y"], [1, 1]]), ["y"], max_bytes=1000)
    with pytest.raises(DataFormatError, match="an empty sheet"):
        load_dataset(workbook(path, [[]]), ["y"])


def zipped(name: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo(name), TEXT)  # of one date, as names of tests must be
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"<!DOCTYPE html>\n<html><body>not found</body></html>", "an HTML page"),
        (b"\n\n <html>", "an HTML page"),
        (b"<?xml version='1.0'?><a/>", "an XML file"),
        (zipped("t.csv"), "a zip archive; unpack it first"),
        (zipped("mimetypeapplication/vnd.oasis.opendocument.spreadsheet"), "a workbook of LibreOffice (.ods)"),
        (zipped("xl/workbook.xml"), "an Excel workbook; a name that ends in .xlsx has it read as one"),
        (b"PAR1....PAR1", "a Parquet file; a name that ends in .parquet has it read as one"),
        (b"% made by\n@RELATION r\n@attribute a real\n", "an ARFF file; a name that ends in .arff"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON lines; a name that ends in .jsonl"),
        (b"%PDF-1.7", "a PDF file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a workbook of old Excel (.xls)"),
        (b"\xfd7zXZ\x00", "a file packed by xz"),
        (b"SQLite format 3\x00", "an SQLite database"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a pointer of git LFS"),
    ],
)
def test_a_file_that_looks_like_something_else_says_what(content: bytes, words: str, tmp_path: Path) -> None:
    with pytest.raises(DataFormatError) as refused:
        load(tmp_path / "t.csv", content)
    assert f"t.csv: expected a CSV file, found what looks like {words}" in str(refused.value)
    (tmp_path / "t.dat").write_bytes(content)
    with pytest.raises(ComitiaError, match=r"\.dat, which looks like "):
        load_features(tmp_path / "t.dat")


def test_a_table_that_is_called_arff_or_parquet_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match="expected an ARFF file, found what looks like a Parquet file"):
        load(tmp_path / "t.arff", b"PAR1....")
    for name, words in (("t.parquet", "a Parquet file"), ("t.XLSX", "an Excel workbook")):
        with pytest.raises(DataFormatError, match=f"expected {words}, found what looks like a CSV file; a name"):
            load(tmp_path / name, TEXT.encode())


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.json", "t.jsonl", "t.parquet", "t.xlsx", "t.arff", "t.csv.gz"])
@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf\r\n  \r\n"])
def test_an_empty_file_is_called_empty(name: str, content: bytes, tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match=r", found an empty file$"):
        load(tmp_path / name, gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(DataFormatError, match=r", found an empty file$"):
        load_features(tmp_path / name)


def test_a_blank_first_line_does_not_make_values_names(tmp_path: Path) -> None:
    dataset = load(tmp_path / "t.csv", b"\n" + TEXT.encode())
    check(dataset)
    assert dataset.notes[0] == "The first line is blank; the names of the columns are in the next one."
    for blank in (b"\n", b"\r\n", b"  \n\n"):
        with pytest.raises(DataFormatError, match="line 1: expected the names of the columns, found a blank line"):
            load(tmp_path / "t.csv", blank + b"0.5,red,1\n0.7,blue,0\n")


def test_hexadecimal_digits_are_no_number(tmp_path: Path) -> None:
    dataset = load(tmp_path / "t.csv", b"a,b,c,y\n0x10,1,5,1\n2,3,0X1F,0\n")
    assert dataset.X["a"].tolist() == ["0x10", "2"]
    assert dataset.X["b"].tolist() == [1, 3]
    assert dataset.X["c"].tolist() == ["5", "0X1F"]
    with pytest.raises(DataFormatError, match="row 1, 'y': expected a label to be 0 or 1, found '0x1'"):
        load(tmp_path / "t.csv", b"a,y\n1,0x1\n2,0\n")


def test_what_a_spreadsheet_adds_is_left_out_and_said(tmp_path: Path) -> None:
    dataset = load(tmp_path / "t.csv", b"width,colour,y,,\n0.5,rot,1,,\n1.5,gr\xc3\xb6\xc3\x9fer,0,,\n,,,,\n,,,,\n")
    check(dataset)
    assert dataset.notes[:2] == (
        "2 rows without values at the end are left out.",
        "2 columns without a name and without values are left out.",
    )


def test_rows_without_values_count_where_no_spreadsheet_adds_them(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"width": [0.5, None], "colour": ["rot", None]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    for name in ("t.parquet", "t.jsonl"):
        assert load_features(tmp_path / name).n_instances == 2


def test_a_frame_that_pandas_writes_column_by_column_is_told_how_to_write_rows(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"width": [0.5, 1.5], "y": [0, 1]})
    with pytest.raises(DataFormatError, match=r"one with a value for each column; .* orient='records'"):
        load(tmp_path / "t.json", frame.to_json().encode())


def test_the_text_that_excel_writes_is_read(tmp_path: Path) -> None:
    dataset = load(tmp_path / "t.TXT", TEXT.replace(",", "\t").replace("\n", "\r\n").encode("utf-16"))
    check(dataset)
    assert dataset.notes[:2] == ("The text is read as UTF-16.", "Cells are separated by tabs.")


def test_the_index_that_pandas_writes_is_left_out_and_said(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"width": [0.5, 1.5], "colour": ["rot", "größer"], "y": [1, 0]})
    dataset = load(tmp_path / "t.csv", frame.to_csv().encode())
    check(dataset)
    assert dataset.notes[0] == "The first column has no name and only counts the rows: it is left out."
    shuffled = load(tmp_path / "t.csv", frame.set_index(pandas.Index([7, 3])).to_csv().encode())
    assert shuffled.feature_names == ("column 1", "width", "colour")
    frame.set_index(pandas.Index(["a", "b"])).to_parquet(tmp_path / "t.parquet")
    dataset = load_dataset(tmp_path / "t.parquet", ["y"])
    check(dataset)
    assert dataset.notes[0] == "1 column with the index of a pandas frame, '__index_level_0__', is left out."


def test_a_file_without_a_header_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataFormatError, match="has the file no line with the names of its columns"):
        load(tmp_path / "t.csv", b"0.5,1,2\n0.7,1,3\n")


def test_names_that_could_move_the_cursor_are_shown_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "t\x1b[31m.csv"
    path.write_bytes(b'"wi\x1b[2Jdth","line\nbreak","la\x1b]0;bel"\n0.5,1,1\n')
    dataset = load_dataset(path, ["la\x1b]0;bel"])
    assert dataset.feature_names == (r"wi\x1b[2Jdth", "line break")
    assert dataset.label_names == (r"la\x1b]0;bel",)
    assert dataset.name == r"t\x1b[31m"
    assert load_dataset(path, [r"la\x1b]0;bel"]).n_labels == 1
    path.write_bytes(b"a,y\n1,7\n")
    with pytest.raises(DataFormatError) as refused:
        load_dataset(path, ["y"])
    assert "\x1b" not in str(refused.value)


def test_names_in_arff_files_are_shown_as_they_are(tmp_path: Path) -> None:
    text = "@relation r\n@attribute 'a\x1b[2J' real\n@attribute 'y\x9b' {0,1}\n@attribute c {u,v}\n@data\n1,1,u\n"
    dataset = load(tmp_path / "t.arff", text.encode().replace(b"'y\xc2\x9b'", b"y"))
    assert dataset.feature_names == (r"a\x1b[2J", "c") == tuple(dataset.X.columns)


def give_input(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_standard_input_is_read_once_and_recognised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frame = pandas.DataFrame({"width": [0.5, 1.5], "colour": ["rot", "größer"], "y": [1, 0]})
    frame.to_parquet(tmp_path / "t.parquet")
    head = "@relation r\n@attribute width real\n@attribute colour string\n@attribute y {0,1}\n@data\n"
    arff = head + "0.5,rot,1\n1.5,größer,0\n"
    for content in (
        TEXT.encode(),
        TEXT.replace(",", ";").encode("utf-16"),
        gzip.compress(TEXT.encode()),
        frame.to_json(orient="records", lines=True).encode(),
        (tmp_path / "t.parquet").read_bytes(),
        arff.encode(),
    ):
        give_input(monkeypatch, content)
        assert load_features("-").feature_names == ("width", "colour", "y")
        dataset = load_dataset("-", ["y"])
        check(dataset)
        assert dataset.name == "stdin"
    give_input(monkeypatch, b"a,y\n1,7\n")
    with pytest.raises(DataFormatError, match=r"^standard input: row 1, 'y'"):
        load_dataset("-", ["y"])
