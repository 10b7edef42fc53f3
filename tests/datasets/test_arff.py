"""ARFF as it occurs in the wild."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.sparse import issparse

from comitia.datasets import DataFormatError, Dataset, load_dataset, load_meka, load_mulan
from comitia.datasets._arff_header import read_header

HEADER = "@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute y {0,1}\n@data\n"


def read(text: str | bytes, folder: Path, labels: list[str] | None = None) -> Dataset:
    path = folder / "file.arff"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_dataset(path, ["y"] if labels is None else labels)


def test_numeric_real_and_integer_attributes_are_numbers_in_any_case(tmp_path: Path) -> None:
    text = "@RELATION r\n@Attribute a NUMERIC\n@attribute b Real\n@attribute c integer\n@attribute y {0,1}\n@DATA\n"
    dataset = read(text + "1,-2.5e3,.5,1\n+7,0,5.,0\n", tmp_path)
    np.testing.assert_array_equal(dataset.X, [[1, -2500, 0.5], [7, 0, 5]])
    assert dataset.X.dtype == np.float64
    assert dataset.Y.dtype == np.int8
    assert dataset.Y.tolist() == [[1], [0]]


def test_missing_features_are_nan(tmp_path: Path) -> None:
    np.testing.assert_array_equal(read(HEADER + "?,1,0\n2,?,1\n", tmp_path).X, [[np.nan, 1], [2, np.nan]])
    sparse = read(HEADER + "{0 ?}\n{1 2,2 1}\n", tmp_path).X
    np.testing.assert_array_equal(sparse.toarray(), [[np.nan, 0], [0, 2]])


def test_comments_blank_lines_tabs_and_blanks_stand_anywhere(tmp_path: Path) -> None:
    text = (
        "% first\n\n\t@relation r % x\n  % between\n@attribute\ta\tnumeric % of a\n@attribute b numeric\n\n"
        "@attribute y\t{ 0 ,\t1 }\n@data % rows\n% none yet\n\n 1 ,\t2 , 0\t\n\t\n3\t4\t1 % tabs\n  %\n"
    )
    dataset = read(text, tmp_path)
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert dataset.Y.ravel().tolist() == [0, 1]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way_also_across_blocks(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read(HEADER + "1,2,0\n3,4,1\n5,6,1\n", tmp_path)
    text = (HEADER + "1,2,0\n3,4,1\n\n5,6,1").replace("\n", end)
    for size in range(1, 9):
        monkeypatch.setattr("comitia.datasets._text.BLOCK_BYTES", size)
        dataset = read(text, tmp_path)
        np.testing.assert_array_equal(dataset.X, expected.X)
        np.testing.assert_array_equal(dataset.Y, expected.Y)


def test_names_may_be_quoted_escaped_or_odd(tmp_path: Path) -> None:
    written_as = {
        "-": "-",
        "'s": "'s",
        "a b": "'a b'",
        'say "x"': "'say \"x\"'",
        "it's": "'it\\'s'",
        "tab\t": '"tab\\t"',
        "100%": "'100%'",
        "{x}": "'{x}'",
        "é": "é",
        "ü": "'\\u00fc'",
        "A": "'\\101'",
        "😀": "'\\ud83d\\ude00'",
    }
    names, written = list(written_as), written_as.values()
    lines = "".join(f"@attribute {name} numeric\n" for name in written)
    dataset = read(f"@relation 'r s'\n{lines}@attribute y{{0,1}}\n@data\n{'0,' * len(names)}1\n", tmp_path)
    assert list(dataset.feature_names) == names


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("{a\tb,c}", ("a", "b", "c")),
        ("{'a'\t'b','c'}", ("a", "b", "c")),
        ("{'a b' \t c}", ("a b", "c")),
        ("{a b\t,'c'}", ("a b", "c")),
        ("{'a' 'b'}", None),
        ("{'a'b}", None),
    ],
)
def test_tabs_part_nominal_values_and_blanks_do_not(given: str, values: tuple[str, ...] | None, tmp_path: Path) -> None:
    header = f"@relation t\n@attribute x {given}\n@attribute y {{0,1}}\n@data\n".encode()
    if values is None:
        with pytest.raises(DataFormatError, match="expected a comma or } after a value"):
            read_header(tmp_path / "t.arff", iter([header]))
    else:
        assert read_header(tmp_path / "t.arff", iter([header]))[0].attributes[0].values == values


def test_nominal_values_may_have_spaces_quotes_commas_and_braces(tmp_path: Path) -> None:
    text = (
        "@relation r\n@attribute town {New York, 'a, b', \"it's\", 'x}', '', '?'}\n@attribute y {0,1}\n@data\n"
        "New York,0\n'New York' ,1\n'a, b',0\n\"it's\",0\n'x}',1\n'',0\n?,0\n'?',0\n"
    )
    column = read(text, tmp_path).X["town"]
    assert isinstance(column.dtype, pandas.CategoricalDtype)
    assert list(column.cat.categories) == ["New York", "a, b", "it's", "x}", "", "?"]
    assert column.astype(object).where(column.notna(), None).tolist() == [
        "New York", "New York", "a, b", "it's", "x}", "", None, "?",
    ]  # fmt: skip


def test_strings_and_dates_are_columns_of_their_kind(tmp_path: Path) -> None:
    text = (
        "@relation r\n@attribute s string\n@attribute d date 'dd/MM/yyyy HH:mm'\n@attribute e date\n"
        "@attribute y {0,1}\n@data\nplain text,'03/02/2001 04:05',1999-12-31T23:59:59,1\n?,?,?,0\n"
        "'a\\nb','01/01/1970 00:00',?,0\n"
    )
    X = read(text, tmp_path).X
    assert X["s"].tolist() == ["plain text", pandas.NA, "a\nb"]
    assert X["d"].tolist() == [pandas.Timestamp("2001-02-03 04:05"), pandas.NaT, pandas.Timestamp("1970-01-01")]
    assert X["e"].isna().tolist() == [False, True, True]
    assert X["e"][0] == pandas.Timestamp("1999-12-31 23:59:59")


def test_sparse_rows_omit_zeros_and_first_values(tmp_path: Path) -> None:
    text = (
        "@relation r\n@attribute a numeric\n@attribute c {red,'dark blue'}\n@attribute up {1,0}\n@attribute y {1,0}\n"
        "@attribute z {0,1}\n@data\n{}\n{ 1 'dark blue', 0 2.5,3 0 , 4 1 }\n{\t2 0\t}\n"
    )
    dataset = read(text, tmp_path, ["y", "z"])
    assert dataset.X["c"].tolist() == ["red", "dark blue", "red"]
    assert dataset.X["a"].tolist() == [0, 2.5, 0]
    assert dataset.X["up"].tolist() == [1, 1, 0]
    assert dataset.Y.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_sparse_numeric_files_give_csr_with_sorted_indices_and_no_stored_zeros(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a numeric\n@attribute up {1,0}\n@attribute y {0,1}\n@data\n"
    X = read(text + "{1 0, 0 3}\n{}\n{0 0}\n{0 1e0}\n", tmp_path).X
    assert issparse(X)
    assert X.format == "csr"
    assert X.has_sorted_indices
    assert 0.0 not in X.data
    assert X.indices.dtype == X.indptr.dtype == np.int32  # scikit-learn's liblinear takes no others
    np.testing.assert_array_equal(X.toarray(), [[3, 0], [0, 1], [0, 1], [1, 1]])


def test_instance_weights_in_braces_become_sample_weights(tmp_path: Path) -> None:
    dense = read(HEADER + "1,2,0,{0.5}\n1,2,1 { 3 }\n1,2,1\n", tmp_path)
    sparse = read(HEADER + "{0 1},{0.5}\n{0 1} {3} % x\n{0 1}\n", tmp_path)
    for dataset in (dense, sparse):
        assert dataset.sample_weight is not None
        assert dataset.sample_weight.tolist() == [0.5, 3, 1]
    assert read(HEADER + "1,2,0\n", tmp_path).sample_weight is None
    quoted = read(HEADER + "1,2,0,{'2.5'}\n1,2,1,{0}\n1,2,1,{'0'}\n", tmp_path).sample_weight
    assert quoted is not None
    assert quoted.tolist() == [2.5, 0, 0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1"])
def test_utf8_and_latin1_are_told_apart(encoding: str, tmp_path: Path) -> None:
    text = "@relation r\n@attribute größe {groß,klein}\n@attribute y {0,1}\n@data\ngroß,1\nklein,0\n"
    dataset = read(text.encode(encoding), tmp_path)
    assert dataset.feature_names == ("größe",)
    assert dataset.X["größe"].tolist() == ["groß", "klein"]
    ascii_header = "@relation r\n@attribute s string\n@attribute y {0,1}\n@data\ngroß,1\n"
    assert read(ascii_header.encode(encoding), tmp_path).X["s"].tolist() == ["groß"]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_packed_files_are_unpacked_whatever_they_are_called(compress: object, tmp_path: Path) -> None:
    for name in ("tiny.arff.gz", "tiny.arff.bz2", "tiny.arff"):
        path = tmp_path / name
        path.write_bytes(compress((HEADER + "1,2,0\n").encode()))  # type: ignore[operator]
        dataset = load_dataset(path, ["y"])
        assert dataset.X.tolist() == [[1, 2]]
        assert dataset.name == "tiny"


def test_labels_stand_anywhere_and_come_in_the_order_of_the_xml_with_nested_ones_flattened(tmp_path: Path) -> None:
    arff, xml = tmp_path / "h.arff", tmp_path / "h.xml"
    arff.write_text(
        "@relation r\n@attribute child {0,1}\n@attribute f numeric\n@attribute other {0,1}\n@attribute top {0,1}\n"
        "@attribute g numeric\n@data\n1,5,0,0,6\n0,7,1,0,8\n0,9,0,1,10\n"
    )
    xml.write_text(
        '<?xml version="1.0"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n'
        '  <label name="top">\n    <label name="child"></label>\n  </label>\n  <label name="other"/>\n</labels>'
    )
    dataset = load_mulan(arff, xml)
    assert dataset.label_names == ("top", "child", "other")
    assert dataset.Y.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert dataset.feature_names == ("f", "g")
    assert dataset.X.tolist() == [[5, 6], [7, 8], [9, 10]]


@pytest.mark.parametrize(
    ("relation", "labels"),
    [("'Music: -C 2'", ("a", "b")), ("'Music: -C -1 -split 5'", ("c",)), ("x: -C 1", ("a",)), ("'-C 2'", ("a", "b"))],
)
def test_meka_counts_labels_from_the_front_or_from_the_back(
    relation: str, labels: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "m.arff"
    attributes = "".join(f"@attribute {name} {{0,1}}\n" for name in "abc")
    path.write_text(f"@relation {relation}\n{attributes}@data\n1,0,1\n")
    dataset = load_meka(path)
    assert dataset.label_names == labels
    assert dataset.Y.tolist() == [[{"a": 1, "b": 0, "c": 1}[label] for label in labels]]


def test_numeric_labels_are_labels_where_they_are_zero_and_one(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a numeric\n@attribute y numeric\n@data\n5,1.0\n6,0\n7,1e0\n"
    assert read(text, tmp_path).Y.ravel().tolist() == [1, 0, 1]
