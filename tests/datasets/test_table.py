"""CSV and Parquet files."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas
import pytest

from comitia.datasets import DataFormatError, load_table


def test_csv_and_parquet_of_numbers_give_the_same_dense_array(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"y": [1, 0, 1], "a": [0.1, None, 3], "b": [1, 2, 3], "t": [True, False, True]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((tmp_path / "t.csv").read_bytes()))
    for name in ("t.csv", "t.csv.gz", "t.parquet"):
        dataset = load_table(tmp_path / name, labels=["t", "y"])
        assert dataset.name == "t"
        assert dataset.feature_names == ("a", "b")
        assert dataset.label_names == ("t", "y")
        assert dataset.X.dtype == np.float64
        np.testing.assert_array_equal(dataset.X, [[0.1, 1], [np.nan, 2], [3, 3]])
        assert dataset.Y.dtype == np.int8
        assert dataset.Y.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_texts_stay_texts_and_dates_stay_dates(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('c,d,n,y\nred,2020-01-31,1,0\n"dark, blue",2021-02-01,,1\n,,3.5,1\nred,?,NA,0\n')
    X = load_table(path, labels=["y"]).X
    assert pandas.api.types.is_string_dtype(X["c"].dropna())
    assert X.attrs["source"] == str(path)
    assert X["c"].astype(object).where(X["c"].notna(), None).tolist() == ["red", "dark, blue", None, "red"]
    assert pandas.api.types.is_datetime64_any_dtype(X["d"])
    assert X["d"][0].isoformat() == "2020-01-31T00:00:00"
    np.testing.assert_array_equal(X["n"], [1, np.nan, 3.5, np.nan])


def test_the_type_of_a_column_follows_from_all_its_values(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,0\n" * 400_000 + "0.5,1\n")
    assert load_table(path, labels=["y"]).X[-1, 0] == 0.5


REFUSED = {
    "too few values": ("a,y\n1,0\n2\n", "row 2: expected 2 cells, one for each column, found 1: '2'"),
    "too many values": ("a,y\n1,0\n2,0,3\n", "row 2: expected 2 cells, one for each column, found 3: '2,0,3'"),
    "no such label": ("a,b\n1,0\n", "unknown column 'y'. There are: a, b"),
    "two columns of one name": ("a,a,y\n1,0,1\n", "'a' twice"),
    "a label that is not binary": ("a,y\n1,0\n1,2\n", "row 2, 'y': expected a label to be 0 or 1, found 2"),
    "a label that is text": ("a,y\n1,good\n1,bad\n", "row 1, 'y': expected a label to be 0 or 1, found 'good'"),
    "a label that is missing": ("a,y\n1,0\n1,\n", "row 2, 'y': expected a label to be 0 or 1, found an empty cell"),
    "no rows": ("a,y\n", "expected rows, found the names of 2 columns alone"),
    "no features": ("y\n1\n", "expected columns to learn from beside those of labels, found none"),
    "nothing": ("", "expected a CSV file, found an empty file"),
    "no CSV": ("PAR1 but no more", "looks like a Parquet file; a name that ends in .parquet has it read"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_wrong_tables_are_refused(case: str, tmp_path: Path) -> None:
    text, message = REFUSED[case]
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataFormatError, match=r"t\.csv") as refused:
        load_table(path, labels=["y"])
    assert message in str(refused.value)


def test_columns_of_lists_and_objects_are_texts_that_can_be_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pandas.DataFrame({"a": [[1, 2], None], "b": [0.5, 1.5], "y": [0, 1]}).to_parquet(path)
    read = load_table(path, labels=["y"])
    assert read.X["a"].fillna("").tolist() == ["[1, 2]", ""]
    assert read.with_columns(ignore=["a"]).feature_names == ("b",)
    lines = tmp_path / "t.jsonl"
    lines.write_text('{"a": {"b": 1}, "y": 0}\n{"a": {"b": 2}, "y": 1}\n')
    assert load_table(lines, labels=["y"]).X["a"].tolist() == ['{"b": 1}', '{"b": 2}']


def test_numbers_that_begin_with_a_zero_are_codes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("n,zip,z,y\n10,01067,0,1\n20,99084,0.05,0\n")
    read = load_table(path, labels=["y"])
    assert read.X["zip"].tolist() == ["01067", "99084"]
    assert read.X[["n", "z"]].to_numpy().tolist() == [[10, 0], [20, 0.05]]


def test_more_than_fits_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pandas.DataFrame({"a": np.zeros(100_000), "y": np.zeros(100_000, dtype=int)}).to_parquet(path)
    assert path.stat().st_size < 10_000
    with pytest.raises(DataFormatError, match="max_bytes"):
        load_table(path, labels=["y"], max_bytes=1_000_000)


@pytest.mark.parametrize("labels", [[], "y", ["y", "y"]])
def test_labels_is_a_list_of_different_names(labels: list[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n1,0\n")
    with pytest.raises(ValueError, match="labels must be a list"):
        load_table(tmp_path / "t.csv", labels=labels)


def test_damaged_tables_are_read_or_refused_and_nothing_else(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"a": rng.normal(size=20), "c": list("xyzw" * 5), "y": rng.integers(0, 2, 20)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        whole = (tmp_path / name).read_bytes()
        for _ in range(300):
            text = bytearray(whole)
            for position in rng.integers(0, len(text), rng.integers(1, 4)):
                text[position] = rng.integers(0, 256)
            (tmp_path / name).write_bytes(text[: rng.integers(len(text)) if rng.random() < 0.1 else len(text)])
            try:
                dataset = load_table(tmp_path / name, labels=["y"])
            except DataFormatError:
                continue
            assert dataset.n_instances <= 21
