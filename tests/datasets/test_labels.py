"""Labels as people have them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest

from comitia import ComitiaError
from comitia._yes_and_no import labels_in_words
from comitia.datasets import DataFormatError, label_matrix, label_notes, load_dataset, load_table

Y = [[0, 1, 1], [0, 0, 0], [1, 0, 0]]
LISTS = [["rock", "live"], [], ["jazz"]]


@pytest.mark.parametrize(
    "y",
    [
        LISTS,
        [{"rock", "live"}, set(), {"jazz"}],
        [("live", "rock", "rock"), None, ("jazz",)],
        pandas.Series(LISTS),
        pandas.Series([LISTS[0], None, LISTS[2]]),
        polars.Series(LISTS, dtype=polars.List(polars.String)),
    ],
)
def test_lists_of_names_are_a_matrix_of_labels(y: Any) -> None:
    matrix, names = label_matrix(y)
    assert names == ("jazz", "live", "rock")
    assert matrix.dtype == np.int8
    assert matrix.tolist() == Y


def test_names_that_are_given_fix_the_columns() -> None:
    matrix, names = label_matrix([[1], [3, 1]], names=["3", "2", "1"])
    assert names == ("3", "2", "1")
    assert matrix.tolist() == [[0, 0, 1], [1, 0, 1]]
    assert label_matrix([["a, b"]])[1] == ("a, b",)


@pytest.mark.parametrize(
    ("y", "names", "message"),
    [
        (["rock", "jazz"], None, "row 1 of y must be a list of names; got 'rock'"),
        ([["a"], [1.5]], None, "row 2 of y must be a list of names; got '1.5' in it"),
        ([["a"], [None]], None, "row 2 of y must be a list of names; got 'None' in it"),
        ([["a"], 3], None, "row 2 of y"),
        ([[], []], None, "y must hold names of labels"),
        ([["a"], ["b"]], ["a"], "row 2 of y must hold labels out of"),
    ],
)
def test_other_lists_are_refused(y: Any, names: Any, message: str) -> None:
    with pytest.raises(ComitiaError, match=message):
        label_matrix(y, names)


CELLS = {
    ";": ["rock; live", "", "jazz"],
    "|": ["rock|live", "", " jazz "],
    ", ": ["rock, live", "", "jazz"],
    None: ['["rock", "live"]', "[]", "['jazz']"],
}


@pytest.mark.parametrize("separator", CELLS)
def test_labels_in_one_column_of_text(separator: str | None, tmp_path: Path) -> None:
    pandas.DataFrame({"x": [1, 2, 3], "tags": CELLS[separator]}).to_csv(tmp_path / "t.csv", index=False)
    dataset = load_dataset(tmp_path / "t.csv", labels_in="tags", separator=separator)
    assert dataset.feature_names == ("x",)
    assert dataset.label_names == ("jazz", "live", "rock")
    assert dataset.Y.tolist() == Y


def test_labels_in_lists_of_parquet_and_json(tmp_path: Path) -> None:
    frame = pandas.DataFrame({"x": [1, 2, 3], "tags": LISTS})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    polars.DataFrame({"x": [1, 2, 3], "tags": LISTS}).write_parquet(tmp_path / "u.parquet")
    for name in ("t.parquet", "t.jsonl", "u.parquet"):
        dataset = load_dataset(tmp_path / name, labels_in="tags")
        assert dataset.label_names == ("jazz", "live", "rock")
        assert dataset.Y.tolist() == Y


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["{a,b}", "{}", "{b}"], [[1, 1], [0, 0], [0, 1]]),
        (['{"a, c",b}', r'{"a, c"}', "{NULL}"], [[1, 1], [1, 0], [0, 0]]),
        (["<a><b>", "", "<b>"], [[1, 1], [0, 0], [0, 1]]),
    ],
    ids=["arrays", "quotes", "brackets"],
)
def test_arrays_of_databases_are_lists_of_labels(cells: list[str], expected: list[list[int]], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pandas.DataFrame({"x": range(3), "tags": cells}).to_csv(path, index=False)
    assert load_table(path, labels_in="tags").Y.tolist() == expected


@pytest.mark.parametrize(
    "cell", ["{a,b", "a,b}", "{a,{b}}", "{a:b}", "<a><b", "a><b>", "<a> <b>", "<a<b>>", "[a", "(a)"]
)
def test_what_only_looks_like_an_array_is_no_list_of_labels(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pandas.DataFrame({"x": range(2), "tags": ["{a}", cell]}).to_csv(path, index=False)
    with pytest.raises(DataFormatError, match=r"row 2, 'tags': expected a list"):
        load_table(path, labels_in="tags")


@pytest.mark.parametrize("cell", ['["a", ["b"]]', "[1.5]", "(None,)", '[{"a": 1}]', "[True, 2.0]"])
def test_a_list_that_holds_something_else_than_names_is_refused_where_it_stands(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pandas.DataFrame({"x": range(3), "tags": ['["a"]', '["b"]', cell]}).to_csv(path, index=False)
    with pytest.raises(DataFormatError, match=r"t\.csv: row 3, 'tags': .*must be a list of names; got "):
        load_table(path, labels_in="tags")


def test_the_sign_that_most_cells_hold_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,tags\n1,a\n2,a|b\n3,b|a\n")
    with pytest.raises(
        DataFormatError, match=r"row 1, 'tags': expected a list .* found 'a'; separator='\|' cuts texts"
    ):
        load_table(path, labels_in="tags")


def test_patterns_stand_for_all_columns_that_they_fit(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("tag_b,x,tag_a,y\n1,5,0,1\n0,6,1,0\n")
    (tmp_path / "t.arff").write_text(
        "@relation t\n@attribute tag_b {0,1}\n@attribute x real\n@attribute tag_a {0,1}\n@attribute y {0,1}\n@data\n"
        "1,5,0,1\n0,6,1,0\n"
    )
    for name in ("t.csv", "t.arff"):
        found = load_dataset(tmp_path / name, ["y", "tag_*", "tag_a"])
        assert (found.label_names, found.feature_names) == (("y", "tag_b", "tag_a"), ("x",))
        assert found.Y.tolist() == [[1, 1, 0], [0, 0, 1]]
        with pytest.raises(DataFormatError, match=r"no column is like 'z\*'\. It has: tag_b, x, tag_a, y\."):
            load_dataset(tmp_path / name, ["z*"])
    with pytest.raises(ComitiaError, match=r"labels_in must name one column; got 'tag_\*'"):
        load_dataset(tmp_path / "t.csv", labels_in="tag_*")


def test_labels_can_be_chosen_among_those_of_a_column(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,tags\n1,rock;live\n2,jazz\n")
    dataset = load_table(path, ["rock", "folk"], labels_in="tags", separator=";")
    assert dataset.Y.tolist() == [[1, 0], [0, 0]]
    assert dataset.notes[0] == "2 labels in 'tags' were not asked for: 'jazz', 'live'."


def test_a_column_that_holds_no_lists_says_how_to_cut_it(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,tags\n1,rock|live\n2,jazz\n")
    with pytest.raises(DataFormatError, match=r"row 1, 'tags': expected a list .* found 'rock\|live'; separator='\|'"):
        load_dataset(path, labels_in="tags")
    path.write_text("x,tags\n1,\n2,\n")
    with pytest.raises(DataFormatError, match="expected names of labels in 'tags', found none"):
        load_dataset(path, labels_in="tags", separator=";")
    with pytest.raises(DataFormatError, match="unknown column 'tag': did you mean 'tags'"):
        load_dataset(path, labels_in="tag", separator=";")
    path.write_text("x,tags\n" + "".join(f"1,t{i}\n" for i in range(1000)))
    with pytest.raises(DataFormatError, match="found 1000 labels in 'tags'"):
        load_table(path, labels_in="tags", separator=";", max_bytes=100_000)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["yes", "no", "Yes"], [1, 0, 1]),
        (["Y", "N", "n"], [1, 0, 0]),
        (["TRUE", "FALSE", "true"], [1, 0, 1]),
        (["t", "f", "F"], [1, 0, 0]),
        (["x", "", "X"], [1, 0, 1]),
        (["1", "", "1"], [1, 0, 1]),
        (["1", '" "', "1"], [1, 0, 1]),
        (["1.0", "0.0", "1"], [1, 0, 1]),
        (["no", "no", "no"], [0, 0, 0]),
    ],
)
def test_yes_and_no_are_labels(cells: list[str], expected: list[int], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    dataset = load_dataset(path, ["y"])
    assert dataset.Y[:, 0].tolist() == expected
    said = "Blank and missing cells of label 'y' are taken to mean that it does not hold."
    assert (said in dataset.notes) == any(not cell.strip('" ') for cell in cells)


@pytest.mark.parametrize(
    ("cells", "row"),
    [
        (["yes", "maybe"], 1),
        (["yes", "no", ""], 3),
        (["0", ""], 2),
        (["", ""], 1),
        (['" "', '" "'], 1),
        (["2", "1"], 1),
    ],
)
def test_cells_that_are_neither_are_refused(cells: list[str], row: int, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    with pytest.raises(DataFormatError, match=f"row {row}, 'y': expected a label to be 0 or 1"):
        load_dataset(path, ["y"])


def test_the_value_that_holds_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y,z\n1,good,2\n2,bad,1\n3,,2\n")
    assert load_dataset(path, ["y"], positive="good").Y[:, 0].tolist() == [1, 0, 0]
    assert load_dataset(path, ["z"], positive="2").Y[:, 0].tolist() == [1, 0, 1]
    with pytest.raises(DataFormatError, match="where a cell is 'great', found none"):
        load_dataset(path, ["y"], positive="great")


def test_a_word_for_yes_leaves_columns_that_speak_for_themselves_at_their_own_words(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = ["Ja,x,1,Nein,5", "nein,,0,Nein,0", "JA,x,1,,1"]
    path.write_text("a,said,crossed,counted,never,stars\n" + "".join(f"{i},{row}\n" for i, row in enumerate(rows)))
    read = load_dataset(path, ["said", "crossed", "counted", "never"], positive="ja")
    assert read.Y.tolist() == [[1, 1, 1, 0], [0, 0, 0, 0], [1, 1, 1, 0]]
    assert "Blank and missing cells of label 'crossed' are taken to mean that it does not hold." in read.notes
    frame = pandas.read_csv(path)[["said", "crossed", "counted", "never"]]
    assert labels_in_words(frame.to_numpy(object), "Y", "ja").tolist() == read.Y.tolist()
    # A rating that happens to be zero or one is no yes or no.
    assert load_dataset(path, ["stars", "counted"], positive="5").Y.tolist() == [[1, 0], [0, 0], [0, 0]]
    for wrong in ("oui", "5"):
        with pytest.raises(DataFormatError, match=f"where a cell is '{wrong}', found none"):
            load_dataset(path, ["said", "crossed"], positive=wrong)


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["Nein", "Ja"], "found 'Nein' and 'Ja'; positive='Nein' or positive='Ja' says which of them is yes$"),
        (["2", "1"], "row 1, 'y': .* found 2 and '1'; positive='2' or positive='1' says which"),
        (["Ja", ""], "row 1, 'y': .* found 'Ja'; positive='Ja' takes this cell for yes and all others for no$"),
        (["Yes", "No", ""], "row 3, 'y': .* found an empty cell; positive='Yes' takes empty cells for no$"),
        (["a", "b", "a b"], "'a'; positive='a' takes this cell .*, and labels_in='y' all cells for names of labels"),
    ],
)  # fmt: skip
def test_a_column_that_is_no_label_says_what_it_holds_and_how_it_would_be_one(
    cells: list[str], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    with pytest.raises(DataFormatError, match=message):
        load_dataset(path, ["y"])


def test_the_separator_that_is_offered_is_one_that_stands_between_names(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for cells, sign in (
        (["sale, big|eu", "sale, big", "new|eu", "sale, big"], "|"),
        (["a, b", "a", "b, c"], ","),
        (["rock/pop", "a,b;c", "b;c"], ";"),
    ):
        path.write_text("a,tags\n" + "".join(f'{i},"{cell}"\n' for i, cell in enumerate(cells)))
        with pytest.raises(DataFormatError, match=re.escape(f"separator={sign!r} cuts texts")):
            load_dataset(path, labels_in="tags")


def test_a_separator_that_stands_in_no_cell_is_told_with_one_that_does(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,tags\n1,rock|live\n2,rock\n")
    told = "No cell of 'tags' holds ';'; separator='|' would cut 1 of 2."
    assert told in load_dataset(path, labels_in="tags", separator=";").notes
    assert told not in load_dataset(path, labels_in="tags", separator="|").notes
    path.write_text("a,tags\n1,rock\n2,live\n")
    assert not any("No cell" in note for note in load_dataset(path, labels_in="tags", separator=";").notes)


def test_options_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,1\n")
    (tmp_path / "t.arff").write_text("@relation r\n@attribute y {0,1}\n@attribute a real\n@data\n1,1\n")
    with pytest.raises(ComitiaError, match="separator must be left out"):
        load_dataset(path, ["y"], separator=";")
    with pytest.raises(ComitiaError, match="positive must be left out"):
        load_dataset(path, labels_in="y", positive="1")
    with pytest.raises(ComitiaError, match="separator must be one character or more"):
        load_dataset(path, labels_in="y", separator="")
    with pytest.raises(ComitiaError, match="labels_in='y' must be left out for the ARFF file"):
        load_dataset(tmp_path / "t.arff", labels_in="y")
    with pytest.raises(ComitiaError, match="labels must name the columns"):
        load_table(path)


def test_labels_that_can_hardly_be_learnt_are_noted(tmp_path: Path) -> None:
    Z = np.zeros((40, 4), np.int8)
    Z[:, 0] = 1
    Z[:20, 1] = 1
    Z[:3, 2] = 1
    assert label_notes(Z, ["all", "half", "few\x1b", "none"]) == (
        "1 label never holds: 'none'.",
        "1 label always holds: 'all'.",
        r"1 label holds for fewer than 10 instances only: 'few\\x1b'.",
    )
    many = label_notes(np.zeros((3, 7), np.int8), [f"y{k}" for k in range(7)])
    assert many == ("7 labels never hold: 'y0', 'y1', 'y2', 'y3', 'y4' and 2 more.",)
    for n, rows, noted in ((9, 40, True), (10, 40, False), (3, 4, True), (4, 4, False)):
        found = label_notes((np.arange(rows) < n).astype(np.int8)[:, None], ["y"])
        assert any("fewer than 10" in note for note in found) == noted
    for K, more in ((5, "'y4'."), (6, "'y4' and 1 more.")):
        assert label_notes(np.zeros((3, K), np.int8), [f"y{k}" for k in range(K)])[0].endswith(more)
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "1,0\n" * 40)
    assert load_dataset(path, ["y"]).notes == ("1 label never holds: 'y'.",)
