"""Files as spreadsheets and databases write them, from `comitia train` to the predictions of rows never seen."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from comitia.model_file import Model
from tests.cli.conftest import comitia
from tests.cli.songs import FEW, SONGS, N, csv_of, songs


@pytest.mark.parametrize(
    "encode",
    [
        lambda frame: csv_of(frame).encode(),
        lambda frame: csv_of(frame, lineterminator="\r\n").encode("utf-8-sig"),
        lambda frame: csv_of(frame, sep="\t").encode("utf-16"),
        lambda frame: csv_of(frame.replace("rock", "Schläger"), sep=";", lineterminator="\r\n").encode("cp1252"),
    ],
    ids=["plain", "BOM and CRLF", "UTF-16 with tabs", "Windows-1252 with semicolons"],
)
def test_a_table_of_everything_is_trained_and_new_rows_are_predicted(encode, here):
    (here / "songs.CSV").write_bytes(encode(songs()))
    ended = comitia("train", "songs.CSV", *SONGS, *FEW, "-o", "m.skops")
    assert ended.code == 0, ended.said
    assert "columns: numbers 2; categories 1: genre, 2 values; dates 1; text 1: title," in ended.said
    assert "left out 1: uuid, every row differs" in ended.said
    assert Model.open(here / "m.skops").labels == ("jazz, cool", "loud")
    new = songs()[:2].assign(genre=["polka", None], title=["thunder and nothing else", None], tempo=[None, "1"])
    (here / "new.csv").write_text(csv_of(new.drop(columns="tags").assign(released=["31.12.2031", None])))
    ended = comitia("predict", "m.skops", "new.csv", "--keep", "id,uuid", "--labels-in-one-column", "-o", "out.csv")
    assert ended.code == 0, ended.said
    found = pd.read_csv(here / "out.csv", dtype=str, keep_default_na=False)
    assert found.columns.tolist() == ["id", "uuid", "labels"]
    assert found["id"].tolist() == ["1", "2"]
    assert found["labels"][0] == "loud"


def as_excel(frame: pd.DataFrame, path: Path) -> None:
    dates = pd.to_datetime(frame["released"], format="%d.%m.%Y")
    frame.assign(released=dates, price=range(len(frame))).to_excel(path, index=False)


def as_german_csv(frame: pd.DataFrame, path: Path) -> None:
    commas = frame.assign(
        tempo=[None if pd.isna(one) else f"{one},5" for one in frame["tempo"]],
        price=[f"1.{i:03},50 €" for i in range(len(frame))],
    )
    path.write_bytes(csv_of(commas.replace("rock", "Schläger"), sep=";", lineterminator="\r\n").encode("cp1252"))


def as_lists(frame: pd.DataFrame) -> pd.DataFrame:
    """As a program writes them: numbers, dates and lists are what they are."""
    dates = pd.to_datetime(frame["released"], format="%d.%m.%Y")
    numbers = {"tempo": pd.to_numeric(frame["tempo"]), "price": range(len(frame))}
    listed = {} if "tags" not in frame else {"tags": [one.split(";") if one else [] for one in frame["tags"]]}
    return frame.assign(released=dates, **numbers, **listed)


WRITERS = {
    "songs.xlsx": (as_excel, ("--separator", ";")),
    "songs.csv": (as_german_csv, ("--separator", ";", "--numbers", "1.234,5")),
    "songs.tsv": (
        lambda frame, path: frame.to_csv(path, sep="\t", index=False, encoding="utf-16"),
        ("--separator", ";", "--numbers", "1,234.5"),
    ),
    "songs.parquet": (lambda frame, path: as_lists(frame).to_parquet(path), ()),
    "songs.jsonl": (
        lambda frame, path: as_lists(frame).to_json(path, orient="records", lines=True, date_format="iso"),
        (),
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_every_program_writes_is_learnt_from_and_new_rows_with_unseen_values_are_predicted(name, here):
    write, options = WRITERS[name]
    write(songs(), here / name)
    columns = ("--text", "title", "--ignore", "i*")
    ended = comitia("train", name, "--labels-in", "tags", *options, *columns, *FEW, "-o", "m.skops")
    assert ended.code == 0, ended.said
    assert "columns: numbers 2; categories 1: genre, 2 values; dates 1; text 1: title," in ended.said
    assert "left out 1: uuid, every row differs" in ended.said
    new = songs()[:3].assign(
        genre=["polka", None, "rock"],
        title=["thunder and nothing else", None, "rain"],
        released=["31.12.2031", None, "01.01.1999"],
        uuid=["new", None, "other"],
    )
    write(new.drop(columns=["tags", "id"]), here / f"new-{name}")
    ended = comitia("predict", "m.skops", f"new-{name}", "--labels-in-one-column", "-o", "out.csv")
    assert ended.code == 0, ended.said
    found = pd.read_csv(here / "out.csv", keep_default_na=False)["labels"].tolist()
    assert len(found) == 3
    assert ("loud" in found[0], "loud" in found[2]) == (True, False)


def test_a_column_that_counts_the_rows_is_noted_with_the_option_that_leaves_it_out(here):
    (here / "songs.csv").write_text(csv_of(songs()[["id", "tempo"]].assign(y=np.arange(N) % 2)))
    note = "note: 'id' counts the rows, and is learnt from as any number: --ignore id leaves it out."
    how = ("songs.csv", "-l", "y", *FEW, "--force", "-o", "m.skops")
    assert note in comitia("train", *how).said
    assert "counts the rows" not in comitia("train", *how, "--ignore", "id").said


def test_features_categories_and_columns_to_leave_out_are_named(here):
    frame = songs().assign(code=np.arange(N) % 7, other=np.arange(N) % 5, more="?")
    (here / "songs.csv").write_text(csv_of(frame))
    how = ("--labels-in", "tags", "--separator", ";", *FEW, "-o", "m.skops")
    ended = comitia(
        "train", "songs.csv", *how, "--features", "tempo,code,genre", "--categories", "code", "--ignore", "g*"
    )
    assert ended.code == 0, ended.said
    assert "columns: numbers 1; categories 1: code, 7 values" in ended.said
    assert Model.open(here / "m.skops").features == ("tempo", "code")


@pytest.mark.parametrize("cell", ["json", "lists"])
def test_labels_in_lists_and_files_of_other_programs_are_read(cell, here):
    lists = [text.split(";") if text else [] for text in songs()["tags"]]
    frame = songs().assign(tags=lists)[["tempo", "genre", "tags"]]
    if cell == "json":
        frame.to_json(here / "songs.jsonl", orient="records", lines=True)
    else:
        frame.to_parquet(here / "songs.parquet")
    data = "songs.jsonl" if cell == "json" else "songs.parquet"
    assert comitia("train", data, "--labels-in", "tags", *FEW, "-o", "m.skops").code == 0
    assert Model.open(here / "m.skops").labels == ("jazz, cool", "loud")


def test_words_for_yes_and_a_note_on_rare_labels(here):
    holds = np.arange(N) % 2 == 0
    frame = songs()[["tempo"]].assign(
        a=np.where(holds, "Yes", "No"), b=np.where(holds, "x", ""), c=["Y"] * 3 + ["N"] * (N - 3)
    )
    (here / "songs.csv").write_text(csv_of(frame))
    ended = comitia("train", "songs.csv", "-l", "a,b,c", *FEW, "-o", "m.skops")
    assert ended.code == 0, ended.said
    assert "note: 1 label holds for fewer than 10 instances only: 'c'." in ended.said
    positive = frame.assign(a=np.where(holds, "ja", "nein")).drop(columns=["b", "c"])
    (here / "songs.csv").write_text(csv_of(positive))
    assert comitia("train", "songs.csv", "-l", "a", *FEW, "-o", "n.skops").code == 1
    assert comitia("train", "songs.csv", "-l", "a", "--positive", "ja", *FEW, "-o", "n.skops").code == 0


def test_what_databases_write_is_read(here):
    lists = songs()["tags"].str.split(";")
    tables = {
        "postgres.csv": ["{" + ",".join(f'"{tag}"' for tag in row if tag) + "}" for row in lists],
        "brackets.csv": ["".join(f"<{tag}>" for tag in row if tag) for row in lists],
    }
    for name, tags in tables.items():
        tempo = [r"\N" if i % 7 == 0 else f"{i}.5" for i in range(N)]
        (here / name).write_text(csv_of(songs()[["genre"]].fillna("NULL").assign(tempo=tempo, tags=tags)))
        ended = comitia("train", name, "--labels-in", "tags", *FEW, "-o", f"{name}.skops")
        assert ended.code == 0, ended.said
        assert "columns: numbers 1; categories 1: genre, 2 values" in ended.said
        assert Model.open(here / f"{name}.skops").labels == ("jazz, cool", "loud")


def test_labels_whose_names_hold_commas_are_named_in_quotes(here):
    frame = songs()[["tempo"]].assign(**{"loud, fast": np.arange(N) % 2, "calm": np.arange(N) % 3 == 0})
    (here / "songs.csv").write_text(csv_of(frame))
    assert comitia("train", "songs.csv", "-l", '"loud, fast"', "-l", "calm", *FEW, "-o", "m.skops").code == 0
    assert Model.open(here / "m.skops").labels == ("loud, fast", "calm")
    said = comitia("train", "songs.csv", *FEW, "-o", "n.skops").said
    assert "labels: --labels calm; or which one" in said
    assert 'It has: tempo, "loud, fast", calm.' in said
    wrong = comitia("train", "songs.csv", "-l", "loud", *FEW, "-o", "n.skops")
    assert "unknown column 'loud'" in wrong.said
    assert 'There are: tempo, "loud, fast", calm.' in wrong.said


def test_cells_that_are_no_numbers_are_named_with_a_way_out(here):
    frame = songs()[["tempo"]].assign(y=np.arange(N) % 2)
    frame.loc[3, "tempo"] = "unknown"
    (here / "songs.csv").write_text(csv_of(frame))
    ended = comitia("train", "songs.csv", "-l", "y", *FEW, "-o", "m.skops")
    assert ended.code == 1
    assert "column 'tempo': expected numbers, found 'unknown' in row 4" in ended.said
    assert "--missing-values unknown counts them as missing; --categories tempo takes" in ended.said
    assert comitia("train", "songs.csv", "-l", "y", *FEW, "--missing-values", "unknown", "-o", "m.skops").code == 0


def test_options_of_columns_that_are_not_there_are_refused(here):
    (here / "songs.csv").write_text(csv_of(songs()))
    ended = comitia("train", "songs.csv", "--labels-in", "tags", "--separator", ";", "--text", "titel", "-o", "m.skops")
    assert ended.code == 1
    assert "text: unknown column 'titel': did you mean 'title'?" in ended.said
    ended = comitia("train", "songs.csv", "--labels-in", "tgas", "-o", "m.skops")
    assert (ended.code, "unknown column 'tgas': did you mean 'tags'?" in ended.said) == (2, True)
    ended = comitia("train", "seven-segment", "--labels-in", "tags", "-o", "m.skops")
    assert (ended.code, "knows its labels" in ended.said) == (2, True)
    ended = comitia("train", "songs.csv", "-l", "tags", "--numbers", "1'234.5", "-o", "m.skops")
    assert (ended.code, "unknown notation" in ended.said) == (2, True)


def test_days_and_months_are_told_apart_by_an_option(here):
    day = np.arange(N) % 12 + 1
    frame = songs()[["tempo"]].assign(released=[f"{d}/{d}/2020" for d in day], y=day % 2)
    (here / "songs.csv").write_text(csv_of(frame))
    ended = comitia("train", "songs.csv", "-l", "y", *FEW, "-o", "m.skops")
    assert "left out 1: released, dates in which day and month could be exchanged" in ended.said
    few = ("--ensembles", "EBR", "--losses", "F1", "-m", 3, "--folds", 2, "-j", 1)
    ended = comitia("compare", "songs.csv", "-l", "y", "--month-first", *few, "-o", "run", "--json")
    assert "columns: numbers 1; dates 1" in ended.said
    (advice,) = ended.json["recommendations"]
    assert "--month-first" in advice["command"]
    assert "with_columns(day_first=False)" in advice["python"]
    assert comitia(*shlex.split(advice["command"])[1:]).code == 0


def test_a_new_file_may_be_written_otherwise_than_the_one_that_was_trained_on(here):
    frame = as_lists(songs())[["tempo", "price", "genre", "released"]].assign(y=np.arange(N) % 2)
    frame.to_parquet(here / "songs.parquet")
    assert comitia("train", "songs.parquet", "-l", "y", *FEW, "-o", "m.skops").code == 0
    assert comitia("predict", "m.skops", "songs.parquet", "--proba", "-o", "expected.csv").code == 0
    german = frame.drop(columns="y").assign(
        tempo=[None if pd.isna(one) else f"{one:g},00" for one in frame["tempo"]],
        price=[f"{one},0 €" for one in frame["price"]],
        released=frame["released"].dt.strftime("%d/%m/%Y"),
    )
    german.loc[3, "price"] = "unknown"
    german[:12].to_csv(here / "new.csv", sep=";", index=False, encoding="cp1252")
    steps = [
        ((), "and 9 more. --numbers 1.234,5 reads thousands separators, currency and per cent signs; --missing-values"),
        (("--numbers", "1.234,5"), "found 'unknown' in row 4. --missing-values unknown counts them as missing."),
        (("--missing-values", "unknown"), "as '01/01/2020'; --day-first or --month-first says which is which."),
        (("--day-first",), ""),
    ]
    options = ()
    for more, said in steps:
        options = (*options, *more)
        ended = comitia("predict", "m.skops", "new.csv", *options, "--proba", "-o", "out.csv")
        assert (ended.code, said in ended.said) == (int(bool(said)), True), ended.said
    rows = [i for i in range(12) if i != 3]
    found, expected = (pd.read_csv(here / name)["y"].to_numpy()[rows] for name in ("out.csv", "expected.csv"))
    np.testing.assert_array_equal(found, expected)
