"""The folder of a run: what it takes in, and what it refuses."""

import contextlib
import errno
import json
import sys
from dataclasses import replace

import pytest

from comitia._files import whole_file
from comitia.experiments import Cell, EnsembleSetting, Store, StoreError
from comitia.experiments._lock import only_runner
from comitia.experiments._store import _differences

ROW = {"dataset": "joint", "value": 0.1 + 0.2}


def test_rows_come_back_as_they_were_and_in_the_order_of_the_plan(tmp_path, plan):
    store = Store.create(tmp_path / "run", plan)
    cells = list(plan.cells())
    for cell in reversed(cells):
        store.write_cell(cell, [ROW | {"key": cell.key}], {})
    assert [row["key"] for row in store.rows()] == [cell.key for cell in cells]
    assert {row["value"] for row in store.rows()} == {0.1 + 0.2}


def test_the_same_plan_takes_up_its_folder(tmp_path, plan):
    first = Store.create(tmp_path / "run", plan)
    first.write_cell(next(plan.cells()), [ROW], {})
    again = Store.create(tmp_path / "run", replace(plan))
    assert [again.finished(cell) for cell in plan.cells()] == [True] + [False] * 5
    assert Store.read(tmp_path / "run").plan == plan


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"seed": 7}, "seed: 0 in the folder, 7 now"),
        ({"folds": 4}, "folds: 3 in the folder, 4 now"),
        ({"losses": ("f1",)}, 'losses: ["hamming", "subset01", "f1"] in the folder, ["f1"] now'),
        ({"ensembles": (EnsembleSetting("emodt", {"n_estimators": 9}),)}, "ensembles.emodt.n_estimators: 12 in the"),
        ({"ensembles": (EnsembleSetting("emodt", {"n_estimators": 12}),)}, "ensembles.ebr: only in the folder"),
        ({"name": "größer"}, 'name: "small" in the folder, "größer" now'),
        ({"name": "n" * 78}, '"' + 78 * "n" + '" now'),
        ({"name": "n" * 79}, '"' + 76 * "n" + "... now"),
    ],
)
def test_a_folder_of_a_different_plan_is_refused_with_the_difference(tmp_path, plan, change, named):
    Store.create(tmp_path, plan).write_cell(next(plan.cells()), [ROW], {})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreError) as caught:
        Store.create(tmp_path, replace(plan, **change))
    assert named in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_made_with_other_defaults_is_refused(tmp_path, plan):
    Store.create(tmp_path, plan)
    identity = json.loads((tmp_path / "identity.json").read_text())
    identity["ensembles"]["emodt"]["min_samples_leaf"] = 77
    (tmp_path / "identity.json").write_text(json.dumps(identity))
    with pytest.raises(StoreError, match=r"ensembles\.emodt\.min_samples_leaf: 77 in the folder"):
        Store.create(tmp_path, plan)


def test_a_folder_made_by_another_version_is_refused(tmp_path, plan):
    Store.create(tmp_path, plan)
    identity = json.loads((tmp_path / "identity.json").read_text())
    (tmp_path / "identity.json").write_text(json.dumps(identity | {"comitia": "0.0.1"}))
    with pytest.raises(StoreError, match=r'comitia: "0\.0\.1" in the folder'):
        Store.create(tmp_path, plan)


def test_a_folder_with_other_things_in_it_is_refused(tmp_path, plan):
    (tmp_path / "thesis.tex").write_text("dear diary")
    with pytest.raises(StoreError, match=r"is not empty and holds no run \(thesis\.tex is in it\)"):
        Store.create(tmp_path, plan)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(StoreError, match="must be a folder for the results; it is a file"):
        Store.create(tmp_path / "thesis.tex", plan)


def test_data_that_changed_is_refused(tmp_path, plan):
    store = Store.create(tmp_path, plan)
    store.write_dataset({"name": "joint", "n": 150, "checksum": "abc"})
    store.write_dataset({"name": "joint", "n": 150, "checksum": "abc"})
    with pytest.raises(StoreError, match=r"(?s)dataset 'joint' is not what it was.*n: 150 in the folder, 151 now"):
        store.write_dataset({"name": "joint", "n": 151, "checksum": "abd"})


def test_a_folder_that_is_no_run_cannot_be_read(tmp_path):
    with pytest.raises(StoreError, match=r"it has no plan\.toml"):
        Store.read(tmp_path)


def truncated(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:-1])


def emptied(text: str) -> str:
    return ""


def cut_in_a_line(text: str) -> str:
    return text[:-5]


def with_another_value(text: str) -> str:
    return text.replace("0.30000000000000004", "0.2")


@pytest.mark.parametrize("damage", [truncated, emptied, cut_in_a_line, with_another_value])
def test_a_damaged_cell_is_not_finished_and_is_named(tmp_path, plan, damage):
    store = Store.create(tmp_path, plan)
    first, second, *_ = plan.cells()
    for cell in (first, second):
        store.write_cell(cell, [ROW, ROW], {})
    path = tmp_path / "cells" / f"{first.key}.jsonl"
    path.write_text(damage(path.read_text()))
    assert (store.finished(first), store.finished(second)) == (False, True)
    assert store.rows() == [ROW, ROW]
    (failure,) = Store.read(tmp_path).failures()
    assert failure["cell"] == first.key
    assert "joint.emodt.r0.f0.jsonl is damaged" in failure["error"]


def test_rows_of_another_plan_or_of_other_data_are_not_finished(tmp_path, plan):
    store = Store.create(tmp_path / "one", plan)
    other = Store.create(tmp_path / "other", replace(plan, seed=1))
    cell = next(plan.cells())
    for kept, checksum in ((store, "abc"), (other, "abc")):
        kept.write_dataset({"name": "joint", "checksum": checksum})
        kept.write_cell(cell, [ROW], {})
    assert store.finished(cell)
    for suffix in (".json", ".jsonl"):
        name = f"cells/{cell.key}{suffix}"
        (tmp_path / "one" / name).write_bytes((tmp_path / "other" / name).read_bytes())
    assert "has rows of another plan" in store.damaged()[0]["error"]
    (tmp_path / "other" / "datasets" / "joint.json").write_text(json.dumps({"name": "joint", "checksum": "abd"}))
    assert "has rows of other data" in other.damaged()[0]["error"]


def test_a_finished_cell_has_no_failure_any_more(tmp_path, plan):
    store = Store.create(tmp_path, plan)
    cell = Cell("joint", "ebr", 0, 1)
    store.write_failure(cell, {"error": "ValueError: no"})
    assert store.failures() == [{"cell": "joint.ebr.r0.f1", "error": "ValueError: no"}]
    store.write_cell(cell, [ROW], {})
    assert store.failures() == []


def test_only_one_process_may_write(tmp_path, plan):
    with (
        Store.taken(tmp_path / "run", plan),
        pytest.raises(StoreError, match="another process is writing"),
        Store.taken(tmp_path / "run", plan),
    ):
        pass
    with Store.taken(tmp_path / "run", plan):
        pass


def test_a_folder_that_another_plan_took_a_moment_ago_is_refused(tmp_path, plan, monkeypatch):
    @contextlib.contextmanager
    def late(folder):
        monkeypatch.undo()
        Store.create(folder, replace(plan, seed=7))
        with only_runner(folder):
            yield

    monkeypatch.setattr("comitia.experiments._store.only_runner", late)
    with pytest.raises(StoreError, match="seed: 7 in the folder, 0 now"):
        Store.create(tmp_path / "run", plan)
    assert Store.read(tmp_path / "run").plan.seed == 7


def test_a_lock_that_is_a_link_is_refused_and_what_it_points_to_stays(tmp_path, plan):
    diary = tmp_path / "diary.txt"
    diary.write_text("dear diary")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".lock").symlink_to(diary)
    with pytest.raises(StoreError, match="is a symbolic link, which is not followed"):
        Store.create(tmp_path / "run", plan)
    assert diary.read_text() == "dear diary"
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_without_the_package_for_locks_the_error_says_what_to_install(tmp_path, plan, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    with pytest.raises(ValueError, match=r"needs filelock: pip install .comitia\[cli\]"):
        Store.create(tmp_path / "run", plan)


def test_a_full_disk_is_told_in_a_sentence(tmp_path, plan, monkeypatch):
    store = Store.create(tmp_path, plan)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("comitia._files.os.fsync", full)
    with pytest.raises(StoreError, match=r"f0\.json cannot be written: No space left on device\. What is finished"):
        store.write_cell(next(plan.cells()), [ROW], {})
    assert not store.finished(next(plan.cells()))


@pytest.mark.parametrize("content", ["[]", "{}", '{"sessions": 3}', '{"sessions": [{"command": "x"}]}', "\x00", '"a"'])
def test_a_provenance_of_a_wrong_form_is_named(tmp_path, plan, content):
    store = Store.create(tmp_path, plan)
    (tmp_path / "provenance.json").write_text(content)
    with pytest.raises(StoreError, match=r"provenance\.json is damaged: expected"):
        store.provenance()


@pytest.mark.parametrize(
    "name", ["identity.json", "datasets/joint.json", "failures/joint.emodt.r0.f0.json", "digits.json"]
)
@pytest.mark.parametrize("content", ["[]", "null", "3", "{", "[" * 100_000])
def test_every_other_file_of_a_wrong_form_is_named(tmp_path, plan, name, content):
    Store.create(tmp_path, plan)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content)
    store = Store.read(tmp_path)
    with pytest.raises(StoreError, match="is damaged: expected"):
        [store.identity(), store.datasets(), store.failures(), store.digits()]


def test_a_file_whose_writing_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("before")

    def write():
        with whole_file(path) as file:
            file.write(b"half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path):
    path = tmp_path / "file.txt"
    with whole_file(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        file.write(b" and half")
    assert path.read_text() == "half and half"


@pytest.mark.parametrize(("n", "cut"), [(78, False), (79, True)])
def test_values_that_differ_are_named_by_their_place_and_shown_in_eighty_letters(n, cut):
    long = "x" * n
    before = {"a": {"b": 1, "c": [1, 2], "only": 0}, "same": {"d": None}, "text": long}
    now = {"a": {"b": 2, "c": [2, 1]}, "same": {"d": None}, "text": "y", "new": 3}
    shown = f'"{long[:76]}...' if cut else f'"{long}"'
    assert len(shown) == 80
    assert _differences(before, now) == [
        "a.b: 1 in the folder, 2 now",
        "a.c: [1, 2] in the folder, [2, 1] now",
        "a.only: only in the folder",
        f'text: {shown} in the folder, "y" now',
        "new: not in the folder",
    ]
    assert _differences(before, before) == []
