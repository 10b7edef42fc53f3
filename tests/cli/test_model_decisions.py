"""Models on the command line: measures, limits, what is left open, and what training tells."""

import os

import numpy as np
import pandas as pd
import pytest

from comitia import ENSEMBLES
from comitia._baselines import BASELINES
from comitia.losses import FLoss
from comitia.model_file import Model, load
from tests.cli.conftest import comitia, write
from tests.conftest import LABELS

FEW = ("-l", "y*", "--ensemble", "ebr", "-m", 2)


@pytest.fixture(scope="module")
def judged(joint_csv, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "judged.skops"
    ended = comitia("train", joint_csv, "-l", "y*", "--ensemble", "emodt", "--loss", "macro-f1", "-m", 20, "-o", path)
    assert (ended.code, "for macro-f1, decided by ctp" in ended.said) == (0, True)
    return path


def test_a_model_for_a_measure_predicts_what_the_classifier_does(judged, joint, features, tmp_path):
    forest = ENSEMBLES["emodt"](20, loss="macro-f1", oob_score=True, random_state=0).fit(joint.X, joint.Y)
    ended = comitia("predict", judged, write(tmp_path / "new.csv", features), "-o", tmp_path / "out.csv")
    assert ended.code == 0
    assert (pd.read_csv(tmp_path / "out.csv").to_numpy() == forest.predict(joint.X)).all()


def test_predictions_keep_the_limits_that_are_asked_for(trained, features, tmp_path):
    data = write(tmp_path / "new.csv", features)
    ended = comitia("predict", trained, data, "--at-least", 1, "--at-most", 1, "-o", tmp_path / "out.csv")
    assert ended.code == 0
    assert (pd.read_csv(tmp_path / "out.csv").sum(axis=1) == 1).all()
    ended = comitia("predict", trained, data, "--at-least", 2, "--at-most", 1, "-o", tmp_path / "other.csv")
    assert ended.code
    assert "contradict" in ended.said


def test_cells_of_labels_that_are_left_open_are_empty(judged, joint, features, tmp_path):
    data, forest = write(tmp_path / "new.csv", features), Model.open(judged).ensemble
    for option, wish in (("--abstain-rate", {"rate": 0.2}), ("--guarantee", {"guarantee": 0.9})):
        out = tmp_path / f"out{option}.csv"
        assert comitia("predict", judged, data, option, next(iter(wish.values())), "-o", out).code == 0
        expected = forest.predict_partial(joint.X, **wish)
        assert (expected == -1).any()
        assert (pd.read_csv(out).fillna(-1).to_numpy() == expected).all()
        assert {cell for line in out.read_text().splitlines()[1:] for cell in line.split(",")} == {"", "0", "1"}


def test_wishes_that_cannot_be_had_together_are_refused(judged, trained, features, tmp_path):
    data = write(tmp_path / "new.csv", features)
    for wishes in (
        ["--abstain-rate", 0.1, "--guarantee", 0.9],
        ["--abstain-rate", 0.1, "--at-most", 2],
        ["--proba", "--at-most", 2],
    ):
        assert comitia("predict", judged, data, *wishes, "-o", tmp_path / "out.csv").code == 2
    ended = comitia("predict", trained, data, "--abstain-rate", 0.1, "-o", tmp_path / "out.csv")
    assert (ended.code, "comitia train --oob" in ended.said) == (1, True)
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("options", [(), ("--loss", "F1", "--aggregation", "PTC-mbr"), ("--loss", "macro-f1")])
def test_training_tells_its_out_of_bag_loss_beside_answers_that_learn_nothing(options, joint, joint_csv, tmp_path):
    asked = ("train", joint_csv, "-l", "y*", "--ensemble", "EMODT", "-m", 12, *options, "-o", tmp_path / "m.skops")
    ended = comitia(*asked)
    assert "loss out of bag: this model 0." in ended.said
    assert "Judged by what members had not seen: " in ended.said
    assert "which learns nothing" in ended.said
    told = comitia(*asked, "--force", "--json").json["out_of_bag"]
    assert list(told) == ["this model", *BASELINES.values()]
    if not options:
        forest = ENSEMBLES["emodt"](n_estimators=12, oob_score=True, random_state=0).fit(joint.X, joint.Y)
        assert told["this model"] == forest.oob_loss_
        assert told["no label at all"] == pytest.approx(joint.Y.mean())


def test_what_was_only_told_is_not_kept_in_the_file(joint_csv, tmp_path):
    asked = ("train", joint_csv, "-l", "y*", "--ensemble", "ebr", "-m", 5, "--force", "-o", tmp_path / "m.skops")
    for option, kept, told in (((), False, True), (("--oob",), True, True), (("--no-oob",), False, False)):
        ended = comitia(*asked, *option)
        assert (ended.code, "out of bag" in ended.said) == (0, told)
        assert hasattr(Model.open(tmp_path / "m.skops").ensemble, "_oob") == kept


def test_predictions_are_scored_where_labels_stand_in_one_column(mine, joint):
    frame = pd.read_csv(mine)
    tags = [";".join(name for name, one in zip(LABELS, row, strict=True) if one) for row in joint.Y]
    frame.drop(columns=list(LABELS)).assign(tags=tags).to_csv("tags.csv", index=False)
    assert comitia("train", "tags.csv", "--labels-in", "tags", "--separator", ";", *FEW[2:], "-o", "m.skops").code == 0
    ended = comitia(
        "predict", "m.skops", "tags.csv", "--labels-in", "tags", "--separator", ";", "-o", "o.csv", "--json"
    )
    model = Model.open("m.skops")
    columns = [LABELS.index(name) for name in model.labels]
    expected = (model.ensemble.predict(joint.X) != joint.Y[:, columns]).mean()
    assert ended.json["loss_here"] == pytest.approx(expected)
    ended = comitia("predict", "m.skops", "tags.csv", "--labels-in", "tag", "-o", "p.csv")
    assert (ended.code, "--labels-in: tags.csv: unknown column 'tag': did you mean 'tags'?" in ended.said) == (2, True)
    ended = comitia("predict", "m.skops", "tags.csv", "--separator", ";", "-o", "p.csv")
    assert (ended.code, "--separator: is for --labels-in" in ended.said) == (2, True)
    ended = comitia("predict", "m.skops", "tags.csv", "--labels-in", "tags", "--positive", "ja", "-o", "p.csv")
    assert (ended.code, "positive must be left out with --labels-in tags; got 'ja'." in ended.said) == (1, True)


def test_the_shell_completes_commands_options_and_names(monkeypatch):
    import subprocess
    import sys

    def completed(line: str) -> list[str]:
        asked = {"_COMITIA_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        program = "import sys; sys.argv = ['comitia']; from comitia.cli._app import app; app(prog_name='comitia')"
        return subprocess.run(
            [sys.executable, "-c", program], env=os.environ | asked, capture_output=True, text=True
        ).stdout.split()

    assert {"compare", "predict", "train"} <= set(completed("comitia "))
    assert "--labels-in-one-column" in completed("comitia predict --labels-in")
    assert completed("comitia train --ensemble emo") == ["emodt", "emobt"]


def test_the_package_can_be_run():
    import subprocess
    import sys

    ended = subprocess.run([sys.executable, "-m", "comitia", "--version"], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout[:8]) == (0, "comitia ")


def test_training_on_noise_says_that_nothing_was_learnt(tmp_path):
    random = np.random.default_rng(0)
    noise = pd.DataFrame(random.normal(size=(80, 2)), columns=["a", "b"])
    data = write(tmp_path / "noise.csv", noise.assign(y=random.permutation(80) < 24, z=random.permutation(80) < 24))
    ended = comitia("train", data, "-l", "y,z", "--ensemble", "emodt", "-m", 10, "-o", tmp_path / "m.skops")
    assert (ended.code, "Nothing was learnt that helps." in ended.said) == (0, True)


def test_losses_with_parameters_are_trained_for_and_predicted_by(joint, joint_csv, features, tmp_path):
    ended = comitia("train", joint_csv, "-l", "y*", "--ensemble", "ebr", "-m", 9, "--loss", "F1(beta=2)",
                    "-o", tmp_path / "m.skops")  # fmt: skip
    assert ended.code == 0, ended.said
    assert "ebr of 9 members for f1(beta=2); 3 labels" in ended.said
    assert "Judged by what members had not seen: the f1(beta=2) is" in ended.said
    assert load(tmp_path / "m.skops").loss == FLoss(beta=2)
    for loss, name in (((), "f1(beta=2)"), (("--loss", "hamming(false_negative=3)"), "hamming(false_negative=3)")):
        ended = comitia(
            "predict", tmp_path / "m.skops", joint_csv, *loss, "--json", "--force", "-o", tmp_path / "p.csv"
        )
        assert (ended.json["loss"], ended.json["loss_here"] > 0) == (name, True)
    ended = comitia("predict", tmp_path / "m.skops", joint_csv, "--force", "-o", tmp_path / "p.csv")
    truth, found = joint.Y, pd.read_csv(tmp_path / "p.csv").to_numpy()
    assert f"the f1(beta=2) is {100 * (1 - FLoss(beta=2).value(truth, found).mean()):.1f} %" in ended.said


@pytest.mark.parametrize(
    ("loss", "answer"),
    [
        ("f1(gamma=2)", "unknown parameter of 'f1': 'gamma'"),
        ("f2(beta=2)", "unknown loss 'f2'"),
        ("f1(beta=2", "must be a name or a call"),
        ("subprocess.call(args=1)", "names code of others"),
        ("f1(beta=subprocess.call(args=1))", "names code of others"),
    ],
)
def test_losses_that_are_written_wrongly_are_refused_and_code_of_others_is_not_run(loss, answer, joint_csv, tmp_path):
    ended = comitia("train", joint_csv, "-l", "y*", "--loss", loss, "-o", tmp_path / "m.skops")
    assert (ended.code, answer in ended.said) == (2, True), ended.said
