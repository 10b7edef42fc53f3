"""Models of tables as people have them: new files, standard input, scores, and what is said."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from comitia import EBRClassifier, EMODTClassifier, MultilabelVotingClassifier, save
from comitia.cli._options import names
from comitia.datasets import load_dataset
from tests.cli.conftest import comitia
from tests.cli.songs import FEW, SONGS, N, csv_of, songs


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
