"""How data reaches workers, without a cluster: an engine of the tests stands for it."""

from collections import OrderedDict
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from comitia.datasets import list_datasets, load_dataset
from comitia.experiments import DataSource, _handing
from comitia.experiments._cell import Computed
from comitia.experiments._handing import Handing, Named, compute_sent, named
from comitia.experiments._provenance import checksum
from tests.conftest import LABELS, write_csv

CATALOGUED = list_datasets()[0].name


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch):
    monkeypatch.setattr(_handing, "_HELD", OrderedDict())
    monkeypatch.setattr(_handing, "_ARRIVED", set())
    monkeypatch.delenv("COMITIA_DATA", raising=False)


@pytest.fixture
def source(joint_csv):
    return DataSource("joint", str(joint_csv), LABELS)


def in_folder(folder: Path) -> Path:
    (folder / CATALOGUED).mkdir(parents=True)
    (folder / CATALOGUED / f"{CATALOGUED}.arff").write_text("@relation nothing")
    return folder


def test_data_is_there_where_its_file_or_its_folder_is(source, tmp_path, monkeypatch):
    assert Named(source, "").there == ""
    assert Named(replace(source, path=str(tmp_path)), "").there is None, "a folder is no file"
    assert Named(DataSource("seven-segment"), "").there == ""
    kept = Named(DataSource(CATALOGUED), "", str(tmp_path / "runner"))
    assert kept.there is None
    own = in_folder(tmp_path / "worker")
    monkeypatch.setenv("COMITIA_DATA", str(own))
    assert kept.there == Named(DataSource(CATALOGUED), "").there == str(own)
    assert kept.there != str(in_folder(tmp_path / "runner"))
    assert kept.there == str(tmp_path / "runner"), "the runner's comes first"
    assert _handing._seen({"a": kept, "b": Named(replace(source, path="gone.csv"), ""), "c": kept}) == ["a", "c"]


def test_data_is_found_if_it_is_what_it_must_be_and_is_read_once(source, joint_csv, monkeypatch):
    data = load_dataset(joint_csv, LABELS)
    one = Named(source, checksum(data))
    found = one.found()
    assert checksum(found) == checksum(data)
    monkeypatch.setattr(DataSource, "load", None)
    assert one.found() is found
    assert Named(source, "another").found() is None, "what cannot be read is not here"


def test_data_that_is_another_or_cannot_be_read_is_not_found(source, tmp_path):
    assert Named(source, "another").found() is None
    assert Named(replace(source, path="gone.csv"), "").found() is None
    (tmp_path / "damaged.csv").write_text("nothing that has these labels")
    assert Named(replace(source, path=str(tmp_path / "damaged.csv")), "").found() is None
    assert not _handing._HELD


def test_of_data_that_was_read_the_four_used_last_are_held(joint, tmp_path):
    every = []
    for n in range(10, 16):
        path = tmp_path / f"{n}.csv"
        write_csv(path, joint.take(range(n)))
        data = load_dataset(path, LABELS)
        every.append(Named(DataSource(str(n), str(path), LABELS), checksum(data)))
    for one in every[:4]:
        one.found()
    every[0].found()
    every[4].found()
    assert list(_handing._HELD) == [every[i].checksum for i in (2, 3, 0, 4)]


def test_a_worker_is_told_where_to_look_or_gets_the_data(source, tmp_path, monkeypatch):
    monkeypatch.chdir(Path(source.path).parent)
    absolute = str(Path(source.path).resolve())
    relative = replace(source, path=Path(source.path).name)
    assert named(relative, "c", "home") == Named(replace(source, path=absolute), "c")
    assert named(replace(relative, folder=str(Path(absolute).parent)), "c", None) == Named(
        replace(source, path=absolute, folder=None), "c"
    )
    assert named(replace(source, path="-"), "c", None) is None
    assert named(DataSource("mine"), "c", None) is None
    assert named(DataSource("seven-segment"), "c", None) == Named(DataSource("seven-segment"), "c")
    assert named(DataSource(CATALOGUED), "c", "data") == Named(DataSource(CATALOGUED), "c", str(Path("data").resolve()))


class Workers:
    """An engine that computes here, with what it was started with."""

    def __init__(self, answers):
        self.answers, self.started = answers, []

    def start(self, data):
        self.started.append(data)

    def everywhere(self, ask):
        return {name: ask() if answer == "asked" else answer for name, answer in self.answers.items()}

    def outcomes(self, work, cells):
        return ((cell, work(cell, self.started[-1][name])) for cell, name in cells.items())


@pytest.mark.parametrize(
    ("answers", "first"),
    [
        ({"w": ["joint"], "v": ["joint", "other"]}, "by its path"),
        ({"w": "asked"}, "by its path"),
        ({"w": ["joint"], "v": []}, "from the runner"),
        ({"w": ["joint"], "v": OSError()}, "from the runner"),
        ({}, "from the runner"),
    ],
)
def test_data_that_all_workers_have_is_not_sent(answers, first, plan, source, joint_csv):
    data = load_dataset(joint_csv, LABELS)
    handing = Handing({"joint": data}, {"joint": Named(source, checksum(data))}, {"joint": checksum(data)})
    engine, cells = Workers(answers), list(plan.cells())[::3]
    found = dict(handing.outcomes(engine, partial(compute_sent, plan, 1), cells))
    assert [result.provenance["data came"] for result in found.values()] == [first] * 2
    assert list(found) == cells
    assert len(engine.started) == 1
    assert all(result.provenance["worker"] for result in found.values())


def test_cells_whose_worker_turns_out_to_lack_the_data_are_computed_again(plan, source, joint_csv):
    data = load_dataset(joint_csv, LABELS)
    lost = Named(replace(source, path="gone.csv"), checksum(data))
    handing = Handing({"joint": data}, {"joint": lost}, {"joint": checksum(data)})
    engine, cells = Workers({"w": ["joint"]}), list(plan.cells())[:2]
    found = dict(handing.outcomes(engine, partial(compute_sent, plan, 1), cells))
    assert [result.provenance["data came"] for result in found.values()] == ["from the runner"] * 2
    assert engine.started == [{"joint": lost}, {"joint": (data, checksum(data))}]


def test_data_without_names_is_sent_and_nobody_is_asked(plan, joint_csv):
    data = load_dataset(joint_csv, LABELS)
    engine = Workers(None)
    found = list(Handing({"joint": data}, {}, {"joint": "changed"}).outcomes(
        engine, partial(compute_sent, plan, 1), list(plan.cells())[:1]
    ))  # fmt: skip
    ((_, result),) = found
    assert isinstance(result, Computed)
    assert f"was changed on its way: expected checksum changed; got {checksum(data)}" in result.error["error"]
