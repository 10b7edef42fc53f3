"""The folder of a run: what it takes in, and what it refuses."""

import json
from dataclasses import replace

import pytest

from comitia._files import whole_file
from comitia.experiments import Cell, EnsembleSetting, Store, StoreError

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
    with pytest.raises(StoreError, match="is a file: expected a folder"):
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


def test_a_damaged_file_is_named(tmp_path, plan):
    store = Store.create(tmp_path, plan)
    cell = next(plan.cells())
    store.write_cell(cell, [ROW], {})
    (tmp_path / "cells" / f"{cell.key}.jsonl").write_text('{"dataset": ')
    with pytest.raises(StoreError, match=r"joint\.emodt\.r0\.f0\.jsonl is damaged"):
        store.rows()


def test_a_finished_cell_has_no_failure_any_more(tmp_path, plan):
    store = Store.create(tmp_path, plan)
    cell = Cell("joint", "ebr", 0, 1)
    store.write_failure(cell, {"error": "ValueError: no"})
    assert store.failures() == [{"cell": "joint.ebr.r0.f1", "error": "ValueError: no"}]
    store.write_cell(cell, [ROW], {})
    assert store.failures() == []


def test_only_one_process_may_write(tmp_path, plan):
    store = Store.create(tmp_path, plan)
    with store.locked(), pytest.raises(StoreError, match="another process is writing"), store.locked():
        pass
    with store.locked():
        pass


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
