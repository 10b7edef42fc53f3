"""Files as spreadsheets and databases write them, from `comitia train` to the predictions of rows never seen."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from comitia import EBRClassifier, EMODTClassifier, MultilabelVotingClassifier, save
from comitia.cli._options import names
from comitia.datasets import load_dataset
from comitia.model_file import Model
from tests.cli.conftest import comitia

N = 60
FEW = ("--ensemble", "ebr", "-m", 3)


def songs() -> pd.DataFrame:
    """Songs with what people have: a number with gaps, prices, a category, a date, an identifier and a title."""
    random = np.random.default_rng(0)
    loud = random.integers(0, 2, N)
    return pd.DataFrame(
        {
            "id": np.arange(1, N + 1),
            "uuid": [f"{i:06x}-f00" for i in range(N)],
            "tempo": [None if i % 9 == 0 else f"{100 + i}" for i in range(N)],
            "price": [f"$1,{i:03}.50" for i in range(N)],
            "genre": [("rock", "jazz", None)[i % 3] for i in range(N)],
            "released": pd.date_range("2020-01-01", periods=N).strftime("%d.%m.%Y"),
            "title": [f"a song of {'thunder' if one else 'rain'} and {i} stars" for i, one in enumerate(loud)],
            "tags": [";".join(["loud"] * one + ["jazz, cool"] * (i % 3 == 1)) for i, one in enumerate(loud)],
        }
    )


SONGS = ("--labels-in", "tags", "--separator", ";", "--text", "title", "--numbers", "1,234.5", "--ignore", "id")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def csv_of(frame: pd.DataFrame, **how) -> str:
    return frame.to_csv(index=False, **how)


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


@pytest.fixture
def trained(here):
    frame = songs()[["id", "tempo", "genre"]].assign(calm=np.arange(N) % 2, jazz=(np.arange(N) % 3 == 1).astype(int))
    (here / "songs.csv").write_text(csv_of(frame))
    ended = comitia("train", "songs.csv", "-l", "calm,jazz", "--ignore", "id", "--ensemble", "EMODT", "-m", 9,
                    "--aggregation", "OOB", "-o", "m.skops")  # fmt: skip
    assert ended.code == 0, ended.said
    assert "hamming loss out of bag: this model 0." in ended.said
    assert "no label at all 0.41" in ended.said
    return frame


def test_another_loss_needs_no_refit_and_predictions_are_scored_where_labels_are_there(trained, here):
    ended = comitia("predict", "m.skops", "songs.csv", "--loss", "F1", "--aggregation", "PTC-mbr", "--json",
                    "--keep", "id", "--expected-loss", "-o", "out.parquet")  # fmt: skip
    assert ended.code == 0, ended.said
    facts = json.loads(ended.out)
    assert facts["loss"] == "f1"
    assert 0 <= facts["loss_here"] < 0.5
    found = pd.read_parquet(here / "out.parquet")
    assert found.columns.tolist() == ["id", "calm", "jazz", "expected loss"]
    assert found["id"].tolist() == trained["id"].tolist()
    assert "the labels are known there: hamming loss" in comitia("predict", "m.skops", "songs.csv", "-o", "o.csv").said
    for name, read in (("all.csv", pd.read_csv), ("ALL.PARQUET", pd.read_parquet)):
        assert comitia("predict", "m.skops", "songs.csv", "--keep", "all", "-o", name).code == 0
        assert read(here / name).columns.tolist() == ["id", "tempo", "genre", "calm", "jazz"]
    trained.drop(columns="jazz").to_csv(here / "new.csv", index=False)
    assert "known there" not in comitia("predict", "m.skops", "new.csv", "-o", "p.csv").said
    ended = comitia("predict", "m.skops", "songs.csv", "--keep", "jazz", "-o", "q.csv")
    assert (ended.code, "is what a column of predictions is called" in ended.said) == (2, True)
    ended = comitia("predict", "m.skops", "songs.csv", "--keep", "idd", "-o", "q.csv")
    assert (ended.code, "did you mean 'id'?" in ended.said) == (2, True)
    ended = comitia("predict", "m.skops", "songs.csv", "--proba", "--labels-in-one-column", "-o", "q.csv")
    assert ended.code == 2


def test_standard_input_and_output_are_files_too(trained, here):
    # In a process of its own: the runner of the tests has a standard input of another kind.
    command = [sys.executable, "-m", "comitia", "predict", "m.skops", "-", "-o", "-"]
    ended = subprocess.run(command, input=(here / "songs.csv").read_bytes(), capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.decode().splitlines()[0] == "calm,jazz"
    assert len(ended.stdout.decode().splitlines()) == N + 1
    assert f"labels of {N} instances: standard output" in ended.stderr.decode()
    assert "the labels are known there: hamming loss 0." in ended.stderr.decode()


def test_who_has_read_enough_ends_the_command_without_a_word(trained, here):
    many = pd.concat([trained] * 1000)
    content = many.drop(columns=["calm", "jazz"]).to_csv(index=False).encode()
    command = [sys.executable, "-m", "comitia", "predict", "m.skops", "-", "-o", "-", "--keep", "all"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdin.write(content)
        running.stdin.close()
        assert running.stdout.readline() == b"id,tempo,genre,calm,jazz\n"
        running.stdout.close()
        said = running.stderr.read().decode()
    assert (said, running.returncode) == ("", 1)


def test_lines_of_json_may_lack_keys_and_columns_that_were_left_out_are_not_asked_for(here):
    frame = songs()[["uuid", "tempo", "genre", "title"]].assign(tags=songs()["tags"].str.split(";"))
    frame.to_json(here / "songs.jsonl", orient="records", lines=True)
    how = ("--labels-in", "tags", "--text", "title", *FEW)
    assert comitia("train", "songs.jsonl", *how, "-o", "m.skops").code == 0
    (here / "one.jsonl").write_text('{"title": "thunder", "genre": "polka"}\n')
    ended = comitia("predict", "m.skops", "one.jsonl", "--labels-in-one-column", "-o", "out.csv")
    assert (ended.code, "note: missing in every row: tempo." in ended.said) == (0, True)
    assert "labels of 1 instance: out.csv" in ended.said
    assert pd.read_csv(here / "out.csv")["labels"].tolist() == ["loud"]
    (here / "one.csv").write_text("title,genre,tempo\nthunder,polka,\n")
    assert comitia("predict", "m.skops", "one.csv", "-o", "out2.csv").code == 0
    (here / "one.csv").write_text("title,genre\nthunder,polka\n")
    ended = comitia("predict", "m.skops", "one.csv", "-o", "out3.csv")
    assert (ended.code, "lacks 1 of the 3 columns that the model needs: tempo" in ended.said) == (1, True)
    (here / "one.jsonl").write_text('{"uuid": "0"}\n')
    assert "lacks 3 of the 3 columns" in comitia("predict", "m.skops", "one.jsonl", "-o", "out4.csv").said


def test_a_vote_that_was_saved_in_python_predicts_on_the_command_line(trained, here):
    data = load_dataset("songs.csv", ["calm", "jazz"]).with_columns(ignore=["id"])
    vote = MultilabelVotingClassifier([("trees", EMODTClassifier(3)), ("labels", EBRClassifier(n_estimators=2))])
    save(vote.fit(data.X, pd.DataFrame(data.Y, columns=data.label_names)), "vote.skops")
    (here / "new.csv").write_text("genre,tempo\npolka,\n,100\n")
    ended = comitia("predict", "vote.skops", "new.csv", "-o", "out.csv", "--json")
    assert ended.code == 0, ended.said
    assert (ended.json["ensemble"], ended.json["instances"]) == ("voting", 2)


def test_what_cannot_be_scored_is_told_before_anything_is_written(trained, here):
    for wrong in (("--labels-in", "genre"), ("--positive", "ja")):
        assert comitia("predict", "m.skops", "songs.csv", *wrong, "-o", "out.csv").code == 1
        assert not (here / "out.csv").exists()
    ended = comitia("predict", "m.skops", "songs.csv", "-o", "-", "--json")
    assert (ended.code, "where the predictions go" in ended.said) == (2, True)


def test_a_column_of_names_that_is_taken_for_a_label_is_told_how_it_is_read(here):
    (here / "songs.csv").write_text(csv_of(songs()))
    ended = comitia("train", "songs.csv", "-l", "tags", *FEW, "-o", "m.skops")
    assert ended.code == 1
    assert "--positive loud takes this cell for yes and all others for no, and --labels-in tags all cells" in ended.said
    assert "--labels-in tags" in comitia("compare", "songs.csv").said


def test_labels_in_words_of_ones_own_are_scored(trained, here):
    said = trained.assign(calm=np.where(trained["calm"], "ja", "nein"), jazz=np.where(trained["jazz"], "ja", "nein"))
    said.to_csv(here / "words.csv", index=False)
    known = (
        "the labels are known there: "
        + comitia("predict", "m.skops", "songs.csv", "-o", "o.csv").said.split("the labels are known there: ")[1]
    )
    assert known in comitia("predict", "m.skops", "words.csv", "--positive", "ja", "-o", "p.csv").said
    ended = comitia("predict", "m.skops", "words.csv", "-o", "q.csv")
    assert (ended.code, "known there" in ended.said) == (0, False)
    assert "predictions are not compared with the labels that are there: words.csv: row 1, 'calm'" in ended.said
    assert "--positive nein or --positive ja says which" in ended.said
    said.assign(calm="", jazz="").to_csv(here / "words.csv", index=False)
    assert "compared" not in comitia("predict", "m.skops", "words.csv", "-o", "r.csv").said


@pytest.mark.parametrize(
    ("kind", "given", "known", "found"),
    [
        ("ensemble", "EMODT, Ecc", ["emodt", "ecc"], ("emodt", "ecc")),
        ("aggregation", "PTC-mbr,ptc-mbr", ["ctp", "ptc-mbr"], ("ptc-mbr",)),
        ("loss", "F1,Hamming loss", ["hamming", "f1"], ("f1", "hamming")),
        ("loss", "F1-measure,Subset 0/1", ["subset01", "f1"], ("f1", "subset01")),
        ("loss", "f1 loss,Subset 0/1 loss", ["subset01", "f1"], ("f1", "subset01")),
        ("aggregation", "OOB choice", ["ctp", "oob"], ("oob",)),
        ("aggregation", "CTP · median,GMV", ["ctp", "gmv"], ("ctp · median", "gmv")),
    ],
)
def test_names_are_taken_as_they_are_printed(kind, given, known, found):
    assert names("--it", kind, given, known) == found


def test_an_aggregation_with_its_pool_is_trained_and_predicted_by_as_it_is_printed(trained, here):
    data = load_dataset("songs.csv", ["calm", "jazz"]).with_columns(ignore=["id"])
    how = ("train", "songs.csv", "-l", "calm,jazz", "--ignore", "id", "--ensemble", "EMODT", "-m", 9)
    ended = comitia(*how, "--aggregation", "CTP · median", "-o", "median.skops")
    assert (ended.code, "for hamming, decided by ctp · median;" in ended.said) == (0, True)
    expected = EMODTClassifier(9, pool="median", random_state=0).fit(data.X, data.Y)
    for model, asked in (("median.skops", ()), ("m.skops", ("--aggregation", "CTP · median"))):
        for proba in ((), ("--proba",)):
            ended = comitia("predict", model, "songs.csv", *asked, *proba, "-o", "out.csv", "--force")
            assert ended.code == 0, ended.said
            found = pd.read_csv(here / "out.csv").to_numpy()
            np.testing.assert_array_equal(found, (expected.predict_proba if proba else expected.predict)(data.X))
    assert (
        comitia("predict", "median.skops", "songs.csv", "--aggregation", "CTP", "--proba", "-o", "mean.csv").code == 0
    )
    mean = expected.set_params(pool="mean").predict_proba(data.X)
    told = pd.read_csv(here / "mean.csv", dtype=str).map(
        float
    )  # to the last digit, which pandas 2 does not read by itself
    np.testing.assert_array_equal(told.to_numpy(), mean)
    ended = comitia("predict", "median.skops", "songs.csv", "--aggregation", "OOB choice", "-o", "oob.csv")
    assert (ended.code, "--aggregation: aggregation='oob' chooses by the out-of-bag loss" in ended.said) == (2, True)


def test_how_new_data_were_read_is_said(trained, here):
    german = "genre;tempo\r\nrock;100,5\r\nSchläger;\r\n;\r\n"
    (here / "new.csv").write_bytes(german.encode("cp1252"))
    ended = comitia("predict", "m.skops", "new.csv", "-o", "-")
    assert (ended.code, len(ended.out.splitlines())) == (0, 3)
    for note in ("as Windows-1252 (Latin-1), for", "separated by ';'", "1 row without values at the end is left out."):
        assert note in " ".join(ended.err.split())


def test_a_comparison_of_such_a_table_names_all_of_it_in_the_command_to_train(here):
    (here / "songs.csv").write_text(csv_of(songs()))
    few = ("--ensembles", "EBR", "--losses", "F1", "-m", 3, "--folds", 2, "-j", 1)
    ended = comitia("compare", "songs.csv", *SONGS, *few, "-o", "run", "--json")
    assert ended.code == 0, ended.said
    assert "columns: numbers 2" in ended.err
    plan = (here / "run" / "plan.toml").read_text()
    assert 'labels_in = "tags"' in plan
    assert 'text = ["title"]' in plan
    again = comitia("report", "run", "--json")
    assert [one["python"] for one in again.json["recommendations"]] == [
        one["python"] for one in ended.json["recommendations"]
    ]
    text = json.dumps(ended.json["recommendations"])
    for part in ("--labels-in tags", "--text title", "--ignore id"):
        assert part in text
