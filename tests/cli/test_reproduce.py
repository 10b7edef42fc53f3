"""`comitia reproduce` and `comitia datasets`."""

import pytest

from comitia.experiments import DataSource, EnsembleSetting, Plan, Store, write_plan
from tests.cli.conftest import comitia
from tests.conftest import LABELS


@pytest.fixture
def plan_file(joint_csv, tmp_path):
    plan = Plan(
        "mine",
        (DataSource("joint", str(joint_csv), LABELS), DataSource("gone", str(tmp_path / "gone.csv"), LABELS)),
        (EnsembleSetting("emodt", {"n_estimators": 12}),),
        losses=("subset01",),
        aggregations=("gmv", "ptc-mode"),
        sizes=(4, 12),
        folds=2,
    )
    path = tmp_path / "mine.toml"
    path.write_text(write_plan(plan))
    return path


def test_a_part_of_a_plan_is_run_and_the_rest_later_with_failures_told(plan_file, tmp_path):
    folder = tmp_path / "run"
    part = comitia("reproduce", plan_file, "--datasets", "joint", "-j", 1, "-o", folder, "--json")
    assert part.code == 0
    assert (part.json["cells"], part.json["computed"], part.json["failures"]) == (2, 2, [])
    rest = comitia("reproduce", plan_file, "-j", 1, "-o", folder)
    assert rest.code == 1
    assert "2 of 4 cells failed" in rest.said
    assert "gone.emodt.r0.f0, gone.emodt.r0.f1" in rest.said
    assert "gone.csv is neither a file nor a dataset of the catalogue" in rest.said
    assert "Subset 0/1 loss in percent" in rest.said
    assert Store.read(folder).provenance()["sessions"][0]["cells"] == 2


def test_a_plan_of_which_nothing_succeeds_ends_with_the_errors(plan_file, tmp_path):
    ended = comitia("reproduce", plan_file, "--datasets", "gone", "-j", 1, "-o", tmp_path / "run")
    assert ended.code == 1
    assert "2 of 2 cells failed" in ended.said
    assert not (tmp_path / "run" / "report.html").exists()


def test_json_is_written_also_where_nothing_succeeds(plan_file, tmp_path):
    ended = comitia("reproduce", plan_file, "--datasets", "gone", "-j", 1, "-o", tmp_path / "run", "--json")
    assert ended.code == 1
    assert (ended.json["cells"], ended.json["computed"], len(ended.json["failures"])) == (2, 0, 2)


def test_a_folder_without_the_papers_values_is_refused_before_the_run(plan_file, tmp_path):
    ended = comitia("reproduce", plan_file, "--paper", tmp_path, "-o", tmp_path / "run")
    assert ended.code == 2
    assert "--paper" in ended.said
    assert not (tmp_path / "run").exists()


def test_a_report_of_a_part_says_that_it_is_one(plan_file, tmp_path):
    comitia("reproduce", plan_file, "-j", 1, "-o", tmp_path / "run")
    ended = comitia("report", tmp_path / "run")
    assert "2 of 4 cells are finished, 2 failed" in ended.said
    facts = comitia("report", tmp_path / "run", "--json").json
    assert (facts["cells"], facts["finished"], len(facts["failures"])) == (4, 2, 2)


def test_names_are_shown_as_they_are_whatever_a_terminal_makes_of_them(joint_csv, tmp_path):
    plan = Plan(
        "x[/b]y",
        (DataSource("[red]", str(joint_csv), LABELS),),
        (EnsembleSetting("emodt", {"n_estimators": 2}, "[/x]"),),
        aggregations=("gmv",),
        folds=2,
    )
    (tmp_path / "plan.toml").write_text(write_plan(plan))
    ended = comitia("reproduce", tmp_path / "plan.toml", "-j", 1, "-o", tmp_path / "run")
    assert ended.code == 0
    assert "x[/b]y: 2 of 2 cells" in ended.said
    assert "[/x]" in ended.said
    page = tmp_path / "[/x].md"
    page.parent.mkdir(exist_ok=True)
    assert comitia("report", tmp_path / "run", "--markdown", page).code == 0


def test_ensembles_that_saw_different_datasets_are_not_compared(joint_csv, tmp_path):
    sources = tuple(DataSource(name, str(joint_csv), LABELS) for name in ("one", "other"))
    ensembles = tuple(EnsembleSetting(kind, {"n_estimators": 2}) for kind in ("emodt", "ebr"))
    plan = Plan("parts", sources, ensembles, losses=("f1",), aggregations=("gmv", "ctp"), folds=2)
    (tmp_path / "plan.toml").write_text(write_plan(plan))
    for dataset, ensemble in (("one", "emodt"), ("other", "ebr")):
        part = ("--datasets", dataset, "--ensembles", ensemble, "-j", 1, "-o", tmp_path / "run")
        ended = comitia("reproduce", tmp_path / "plan.toml", *part)
        assert ended.code == 0
    assert "their numbers do not compare: EMODT on one; EBR on other." in ended.said
    assert "F1-measure: use EMODT with" in ended.said
    assert "F1-measure: use EBR with" in ended.said


def test_a_mistake_in_a_plan_is_told_with_its_file(plan_file, tmp_path):
    plan_file.write_text("flods = 3\n" + plan_file.read_text())
    ended = comitia("reproduce", plan_file, "-o", tmp_path / "run")
    assert ended.code == 1
    assert "mine.toml: unknown entry 'flods': did you mean 'folds'?" in ended.said


def test_datasets_are_listed_with_their_sizes():
    ended = comitia("datasets")
    assert ended.code == 0
    assert "seven-segment 1,797 64 7 built in" in ended.said
    assert "mediamill 43,907 120 101 can be downloaded" in ended.said
    assert "mediamill-2000 1,999 120 101 only from a data folder" in ended.said
    assert {"name", "instances", "features", "labels", "where"} == set(comitia("datasets", "--json").json[0])


def test_datasets_in_a_folder_are_found_there(shared_data):
    ended = comitia("datasets", "flags", "mediamill-2000", "--data-home", shared_data, "--fetch", "--json")
    assert ended.code == 0
    assert {row["name"]: row["where"] for row in ended.json} == {
        "flags": "in the data folder",
        "mediamill-2000": "in the data folder",
    }
    assert "Dataset(name='flags', n=194" in ended.err


def test_a_dataset_that_cannot_be_had_is_told(tmp_path):
    ended = comitia("datasets", "mediamill-2000", "--fetch", "--data-home", tmp_path)
    assert ended.code == 1
    assert "mediamill-2000 is not published and is read from a folder only" in ended.said
    assert "mediamill-2000 1,999" in ended.said


def test_plans_of_one_name_in_different_folders_have_folders_of_their_own(tmp_path):
    from comitia.cli._reproduce import _default_folder

    files = [tmp_path / name / "study.toml" for name in ("one", "two")]
    for file in files:
        file.parent.mkdir()
        file.touch()
    folders = [_default_folder(str(file)) for file in files]
    assert len(set(folders)) == 2
    assert all(folder.name.startswith("study-") for folder in folders)
    assert str(_default_folder("table2")) == "comitia-runs/table2"


def test_code_that_a_plan_names_is_run_with_trust_only(joint_csv, tmp_path):
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nfolds = 2\naggregations = ["gmv", "ctp"]\n'
        'losses = [{function = "tests.experiments.own_code.urgent"}, {kind = "f1", name = "f2", beta = 2}]\n'
        f'[[datasets]]\nname = "joint"\npath = "{joint_csv.as_posix()}"\nlabels = ["y*"]\n'
        '[[ensembles]]\nkind = "bagging"\nn_estimators = 2\n'
        'estimator = {class = "tests.experiments.own_code.Stump"}\n'
    )
    command = ("reproduce", tmp_path / "mine.toml", "-o", tmp_path / "run", "-j", "1")
    refused = comitia(*command)
    assert refused.code != 0
    assert "own_code.urgent would be imported, which runs code" in refused.said
    done = comitia(*command, "--trust")
    assert done.code == 0
    assert "MultilabelBaggingClassifier(n_estimators=2, estimator=Stump(), loss=" in done.out
    assert comitia("report", tmp_path / "run").code == 0


def test_compare_takes_parameters_and_paths_in_its_lists(joint_csv, tmp_path):
    own = "tests.experiments.own_code"
    lists = ("--losses", f"hamming,f1(beta=2),{own}.urgent", "--ensembles", f"bagging(estimator={own}.Stump(depth=2))")
    command = ("compare", joint_csv, "-l", "y*", *lists, "--folds", "2", "-m", "2", "-j", "1", "-o", tmp_path / "run")
    assert "--trust" in comitia(*command).said
    done = comitia(*command, "--json", "--trust")
    assert {one["loss"] for one in done.json["recommendations"]} == {"hamming", "f1(beta=2)", "urgent"}


def test_a_device_that_is_not_there_is_refused_before_anything_is_run(plan_file, tmp_path):
    ended = comitia("reproduce", plan_file, "--device", "cuda:77", "-o", tmp_path / "run")
    assert ended.code == 2
    assert "--device" in ended.said
    assert not (tmp_path / "run").exists()
