"""Plans: what they come down to, and what they refuse."""

import re
from dataclasses import replace

import pytest

from comitia.aggregation import AGGREGATIONS
from comitia.experiments import (
    Cell,
    DataSource,
    EnsembleSetting,
    Plan,
    PlanError,
    paper_plans,
    parse_plan,
    read_plan,
    write_plan,
)
from comitia.experiments._plan import file_name

MINIMAL = 'name = "mine"\ndatasets = ["emotions"]\n[[ensembles]]\nkind = "ecc"\n'


def test_every_cell_has_a_key_of_its_own():
    names = ["a b", "a-b", "a.b", "ä", "漢字", "x" * 300, "..", "/etc/passwd"]
    plan = Plan("p", tuple(map(DataSource, names)), (EnsembleSetting("ecc"), EnsembleSetting("ecc", name="e.c")))
    keys = [cell.key for cell in plan.cells()]
    assert len(set(keys)) == len(keys) == len(names) * 2 * 10
    assert all("/" not in key and not key.startswith(".") and len(key) < 200 for key in keys)


def test_a_file_is_called_as_what_it_is_of_if_that_is_short_and_plain():
    for name in ("x" * 40, "A-b_9"):
        assert file_name(name) == name
    for name, plain in (("x" * 41, "x" * 40 + "-"), ("-a", "a-"), ("a  b", "a-b-"), ("\u00e4", "")):
        assert re.fullmatch(f"{plain}[0-9a-f]{{8}}", file_name(name)), name
    assert re.fullmatch("[0-9a-f]{16}", parse_plan(MINIMAL).digest())


def test_seeds_are_the_same_in_every_process_and_on_every_machine():
    plan, cell = parse_plan(MINIMAL), Cell("emotions", "ecc", 0, 3)
    assert (plan.seed_of_folds(cell), plan.seed_of_members(cell)) == (2993448289, 3700258680)


def test_seeds_of_members_differ_between_cells_and_follow_the_plans_seed():
    plan = replace(read_plan("table2"), repeats=2)
    seeds = {plan.seed_of_members(cell) for cell in plan.cells()}
    assert len(seeds) == len(list(plan.cells()))
    assert not seeds & {replace(plan, seed=1).seed_of_members(cell) for cell in plan.cells()}


def test_all_ensembles_see_the_same_folds_and_repeats_see_others():
    plan = replace(read_plan("table2"), repeats=2)
    seeds = {(cell.dataset, cell.repeat): set() for cell in plan.cells()}
    for cell in plan.cells():
        seeds[cell.dataset, cell.repeat].add(plan.seed_of_folds(cell))
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds)


def test_the_papers_plans_are_its_protocol():
    assert paper_plans() == ["figure2", "table2"]
    table, figure = read_plan("table2"), read_plan("figure2")
    assert [(setting.name, setting.n_members) for setting in table.ensembles] == [
        ("emodt", 50),
        ("ecc", 50),
        ("ebr", 50),
    ]
    assert (table.folds, table.repeats, table.stratified, table.sizes) == (10, 1, False, ())
    assert table.losses == figure.losses == ("hamming", "subset01", "f1")
    assert table.aggregations == (*AGGREGATIONS, "oob")
    assert [source.name for source in table.datasets] == [
        *("cal500", "emotions", "scene", "yeast", "flags", "medical", "bibtex", "mediamill-2000")
    ]
    assert figure.sizes == (1, 5, *range(10, 101, 10))
    assert (figure.folds, figure.repeats, len(list(figure.cells()))) == (10, 10, 400)


def test_a_plan_that_is_written_reads_as_it_was():
    sources = (DataSource("emotions"), DataSource('a "b"\\\n\x7f é', "some file.csv", ("a, b", "c")))
    settings = (
        EnsembleSetting("ecc", {"n_estimators": 7, "bootstrap": False, "max_samples": 0.5, "chain_method": "predict"}),
        EnsembleSetting("emodt", {"max_features": 3}, name="small trees"),
    )
    plan = Plan("odd", sources, settings, ("f1",), ("ctp",), ("median",), (1, 7), 4, 2, True, 99, "cuda:1")
    assert parse_plan(write_plan(plan)) == plan
    assert parse_plan(write_plan(plan)).digest() == plan.digest()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"folds": 5},
        {"losses": ("f1",)},
        {"stratified": True},
        {"device": "cuda"},
        {"datasets": (DataSource("scene"),)},
        {"ensembles": (EnsembleSetting("ecc", {"n_estimators": 49}),)},
    ],
)
def test_whatever_changes_the_outcome_changes_the_digest(change):
    plan = parse_plan(MINIMAL)
    assert replace(plan, **change).digest() != plan.digest()
    assert "device" not in plan.identity(), "what was computed before there were devices is still known"


def test_names_in_a_plan_are_taken_as_they_are_printed():
    text = 'name = "mine"\ndatasets = ["emotions"]\nensembles = [{names[0]}]\nlosses = [{names[1]}]\n'
    text += "aggregations = [{names[2]}]"
    printed = parse_plan(
        text.format(names=['"EMODT", { kind = "ECC" }', '"F1", "Hamming loss"', '"PTC-mbr", "OOB choice"'])
    )
    assert printed == parse_plan(
        text.format(names=['"emodt", { kind = "ecc" }', '"f1", "hamming"', '"ptc-mbr", "oob"'])
    )


def test_a_default_written_out_is_the_same_plan():
    assert parse_plan(MINIMAL + "n_estimators = 50\n").digest() == parse_plan(MINIMAL).digest()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "must be TOML"),
        ('name = "mine"\n', "must have an entry 'datasets'; got name"),
        ("fold = 3\n" + MINIMAL, "unknown entry 'fold': did you mean 'folds'?"),
        ('folds = "3"\n' + MINIMAL, "folds must be a whole number; got '3'"),
        ("folds = true\n" + MINIMAL, "folds must be a whole number; got True"),
        ("folds = 1\n" + MINIMAL, "folds must be an integer, at least 2; got 1"),
        ('device = "gpu"\n' + MINIMAL, "device must be 'cpu', 'cuda' or 'cuda:N' with the number of a GPU; got 'gpu'"),
        ("repeats = 0\n" + MINIMAL, "repeats must be an integer, at least 1 and at most 1000000; got 0"),
        ('losses = ["haming"]\n' + MINIMAL, "unknown loss 'haming': did you mean 'hamming'?"),
        ("losses = []\n" + MINIMAL, "at least one loss; got none"),
        ("losses = [1]\n" + MINIMAL, "losses, entry 1: an entry must be a name or a table"),
        ('losses = "f1"\n' + MINIMAL, "losses must be a list; got 'f1'"),
        ('aggregations = ["ptc"]\n' + MINIMAL, "unknown aggregation 'ptc'"),
        ('pools = ["average"]\n' + MINIMAL, "unknown pool 'average'"),
        ("sizes = [5, 1]\n" + MINIMAL, "must be ascending numbers"),
        ("sizes = [10, 60]\n" + MINIMAL, "sizes goes up to 60, but ensemble 'ecc' has 50 members"),
        (MINIMAL + "n_estimator = 3\n", "unknown parameter of 'ecc': 'n_estimator': did you mean 'n_estimators'?"),
        (MINIMAL + "random_state = 3\n", "ensembles, entry 1: parameter 'random_state' of 'ecc' follows from the plan"),
        (MINIMAL + '[[ensembles]]\nkind = "ecc"\n', "ensemble 'ecc' occurs twice"),
        (
            MINIMAL + '[[ensembles]]\nkind = "eccc"\n',
            "ensembles, entry 2: unknown ensemble 'eccc': did you mean 'ecc'?",
        ),
        (MINIMAL.replace('["emotions"]', '[{name = "a", labels = ["b"]}]'), "labels must go with a path"),
        (MINIMAL.replace('["emotions"]', '[{path = "a.csv"}]'), "must be a name or a table with 'name'"),
        (MINIMAL.replace('["emotions"]', '[{name = "a", file = "b"}]'), "datasets, entry 1: unknown entry 'file'"),
        (MINIMAL.replace('["emotions"]', '["a", "A"]'), "dataset 'A' occurs twice"),
    ],
)
def test_a_mistake_in_a_plan_is_named(text, message):
    with pytest.raises(PlanError) as caught:
        parse_plan(text)
    assert message in str(caught.value)


def test_a_mistake_in_a_file_names_the_file(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text("folds = 1\n" + MINIMAL)
    with pytest.raises(PlanError, match=r"plan\.toml: folds must be"):
        read_plan(path)


def test_a_plan_that_does_not_exist_says_which_do():
    with pytest.raises(PlanError, match=r"unknown plan 'table3': did you mean 'table2'\? There are: figure2, table2"):
        read_plan("table3")


def test_selecting_takes_the_first_folds_of_some_datasets():
    plan = read_plan("table2")
    cells = plan.select(datasets=["scene"], ensembles=["ebr", "ecc"], folds=2)
    assert cells == [Cell("scene", ensemble, 0, fold) for ensemble in ("ecc", "ebr") for fold in (0, 1)]
    assert set(cells) < set(plan.cells())


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        ({"datasets": ["emotion"]}, "unknown dataset of plan 'table2': 'emotion': did you mean 'emotions'?"),
        ({"ensembles": ["forest"]}, "unknown ensemble of plan 'table2'"),
        ({"folds": 11}, "folds must lie in 1..10, as plan 'table2' has so many; got 11"),
        ({"repeats": 0}, "repeats must lie in 1..1, as plan 'table2' has so many; got 0"),
    ],
)
def test_selecting_what_a_plan_does_not_have_is_refused(selection, message):
    with pytest.raises(PlanError) as caught:
        read_plan("table2").select(**selection)
    assert message in str(caught.value)


def test_measures_of_a_set_need_members_that_leave_instances_out():
    assert parse_plan('losses = ["macro-f1"]\n' + MINIMAL).losses == ("macro-f1",)
    with pytest.raises(PlanError, match=r"loss 'macro-f1' is tuned out of bag, and members of ensemble 'ecc' leave"):
        parse_plan('losses = ["f1", "macro-f1"]\n' + MINIMAL + "bootstrap = false\n")
