"""Two runners that start at the same time on one new folder: one of them gets it, and all that is in it is its own."""

import json
import subprocess
import sys
from pathlib import Path

from comitia.experiments import Store

FOLDERS = 15
RUNNER = """
import sys, time
from pathlib import Path
from comitia.datasets import make_joint
from comitia.experiments import DataSource, EnsembleSetting, Plan, StoreError, run_plan

root, me, other, folders = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
data = {"joint": make_joint(40, 3, 2, dependence=0.5, random_state=0).dataset}
setting = EnsembleSetting("emodt", {"n_estimators": 2})
plan = Plan("race", (DataSource("joint"),), (setting,), ("f1",), ("ctp",), folds=2, seed=int(me))
run_plan(plan, data=data, n_jobs=1)  # compiled loops are loaded before the race
for number in range(folders):
    (root / f"ready-{me}-{number}").touch()
    while not (root / f"ready-{other}-{number}").exists():
        pass
    try:
        run_plan(plan, root / f"run-{number}", data=data, n_jobs=1)
    except StoreError as error:
        assert "another process is writing" in str(error) or "results of a different plan" in str(error), error
        print("refused")
    else:
        print("won")
"""


def test_of_two_plans_that_start_at_once_one_gets_the_folder_and_nothing_is_mixed(tmp_path):
    pairs = [("1", "2"), ("2", "1")]
    runners = [
        subprocess.Popen(
            [sys.executable, "-c", RUNNER, tmp_path, *pair, str(FOLDERS)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for pair in pairs
    ]
    ended = [runner.communicate(timeout=120) for runner in runners]
    assert [runner.returncode for runner in runners] == [0, 0], ended
    outcomes = list(zip(*(out.split() for out, _ in ended), strict=True))
    assert len(outcomes) == FOLDERS
    for number, outcome in enumerate(outcomes):
        assert sorted(outcome) == ["refused", "won"]
        assert_whole(tmp_path / f"run-{number}", seed=1 + outcome.index("won"))


def assert_whole(folder: Path, seed: int) -> None:
    store = Store.read(folder)
    assert json.loads((folder / "identity.json").read_text())["seed"] == store.plan.seed == seed
    assert store.provenance()["seed"] == seed
    assert store.failures() == []
    assert all(store.finished(cell) for cell in store.plan.cells())
    for cell in store.plan.cells():
        assert store.cell_provenance(cell)["seed_of_members"] == store.plan.seed_of_members(cell)
