"""What holds on every cluster, and a classifier that can be watched and killed while it learns."""

import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
import zlib
from collections import Counter
from concurrent.futures import Future
from dataclasses import fields
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from comitia import (
    ComitiaError,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
    _clusters,
)
from comitia._clusters import Common, on_cluster
from comitia._compare import read_run
from comitia.datasets import Dataset
from comitia.experiments import DataSource, EnsembleSetting, LossSetting, Plan, Store, run_plan, write_plan
from tests.experiments.conftest import small_plan

PATIENCE_SECONDS = 120

RUNNER = """
import signal, sys
from comitia.experiments import read_plan, run_plan
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may have been started in the background of a shell
run_plan(read_plan(sys.argv[1]), sys.argv[2], cluster=sys.argv[3])
"""


FITS = [
    pytest.param(
        EMODTClassifier(n_estimators=40, max_features=2, min_samples_split=2, random_state=0),
        marks=pytest.mark.slow,
        id="trees",
    ),
    pytest.param(
        EBRClassifier(n_estimators=40, C=1.0, scaling="none", random_state=0), marks=pytest.mark.long, id="lines"
    ),
    pytest.param(
        MultilabelBaggingClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=40, random_state=0),
        marks=pytest.mark.long,
        id="any",
    ),
]
"""Fits whose parts are many and short."""


class Watched(ClassifierMixin, BaseEstimator):
    """A tree that leaves a file while it learns, so that others can tell that its process is busy with it.

    The file is named after the data and the process.  It stays when the process is killed.
    """

    def __init__(self, folder="", seconds=0.0, deadly=False):
        self.folder = folder
        self.seconds = seconds
        self.deadly = deadly

    def fit(self, X, Y):
        mark = Path(self.folder) / f"{zlib.crc32(np.ascontiguousarray(X).tobytes()):08x}-{os.getpid()}"
        mark.write_text("")
        if self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(self.seconds)
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, Y)
        self.classes_ = self.tree_.classes_
        mark.unlink()
        return self

    def predict(self, X):
        return self.tree_.predict(X)

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)


class Killer(threading.Thread):
    """Kills processes that are busy, no cell more often than it may be tried again."""

    def __init__(self, folder: Path, kills: int, of_one_cell: int):
        super().__init__(daemon=True)
        self.folder, self.kills, self.of_one_cell = folder, kills, of_one_cell
        self.hit: set[str] = set()
        self.ended = threading.Event()

    def run(self) -> None:
        of_cells: Counter[str] = Counter()
        while len(self.hit) < self.kills and not self.ended.wait(0.005):
            for mark in self.folder.iterdir():
                cell, _, process = mark.name.partition("-")
                if mark.name not in self.hit and of_cells[cell] < self.of_one_cell and len(self.hit) < self.kills:
                    os.kill(int(process), signal.SIGKILL)
                    of_cells[cell] += 1
                    self.hit.add(mark.name)


def rows_are_those_of_one_process(plan, cluster, tmp_path):
    run_plan(plan, tmp_path / "alone", n_jobs=1)
    spread = run_plan(plan, tmp_path / "spread", cluster=cluster)
    assert (spread.computed, spread.failures) == (6, ())
    for cell in plan.cells():
        name = f"cells/{cell.key}.jsonl"
        assert (tmp_path / "spread" / name).read_bytes() == (tmp_path / "alone" / name).read_bytes()
    assert len(spread.roundings) == 1
    assert all(kept["processor"] for kept in spread.cells.values())
    assert len({kept["worker"] for kept in spread.cells.values()}) >= 2, "one worker did everything"
    page = read_run(tmp_path / "spread").html()
    assert all(kept["worker"] in page and kept["rounding"] in page for kept in spread.cells.values())


def killed_workers_change_no_row(path, cluster, tmp_path, *, kills, repeats=1, of_one_cell=1):
    marks = tmp_path / "marks"
    marks.mkdir()
    watched = EnsembleSetting(estimator=Watched(str(marks), seconds=0.4), name="watched")
    plan = small_plan(path, ensembles=(watched,), folds=5, repeats=repeats)
    undisturbed = run_plan(plan, n_jobs=1).rows
    assert not list(marks.iterdir())
    killer = Killer(marks, kills, of_one_cell)
    killer.start()
    try:
        found = run_plan(plan, cluster=cluster)
    finally:
        killer.ended.set()
        killer.join()
    assert {mark.name for mark in marks.iterdir()} == killer.hit, "who is killed while he is busy leaves his mark"
    assert len(killer.hit) == kills, "too few were hit"
    assert found.failures == ()
    assert found.rows == undisturbed


def a_cell_that_always_kills_its_worker_fails_alone(path, cluster, tmp_path):
    deadly = EnsembleSetting(estimator=Watched(str(tmp_path), deadly=True), name="deadly")
    gentle = EnsembleSetting("emodt", {"n_estimators": 5})
    plan = small_plan(path, ensembles=(deadly, gentle), folds=2)
    cells = [cell for cell in plan.cells() if (cell.ensemble, cell.fold) != ("deadly", 1)]
    found = run_plan(plan, cells=cells, cluster=cluster)
    (failure,) = found.failures
    assert "deadly" in failure["cell"]
    assert failure["error"].startswith("CrashError: 4 workers ended while they worked on this")
    assert len(list(tmp_path.iterdir())) == 4
    assert found.rows == run_plan(plan, cells=cells[1:], n_jobs=1).rows


def a_stopped_runner_goes_on_where_it_was(path, address, tmp_path, **environment):
    settings = (EnsembleSetting("emodt", {"n_estimators": 30}), EnsembleSetting("ebr", {"n_estimators": 30}))
    plan = small_plan(path, ensembles=settings, folds=4, repeats=4)
    file, folder = tmp_path / "plan.toml", tmp_path / "run"
    file.write_text(write_plan(plan))
    command = [sys.executable, "-c", RUNNER, file, folder, address]
    finished = 0
    for how in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen(command, env=os.environ | environment, stderr=subprocess.DEVNULL) as runner:
            end = time.monotonic() + PATIENCE_SECONDS
            while len(list(folder.glob("cells/*.jsonl"))) <= finished:
                assert runner.poll() is None, "the runner ended"
                assert time.monotonic() < end, "the runner writes nothing"
                time.sleep(0.002)
            runner.send_signal(how)
        assert runner.returncode != 0, "it ended before it was stopped"
        finished = len(list(folder.glob("cells/*.jsonl")))
    assert 0 < finished < 32, "nothing was left to go on with"
    last = run_plan(plan, folder, cluster=address)
    assert (last.kept, last.computed, last.failures) == (finished, 32 - finished, ())
    assert Store.read(folder).rows() == run_plan(plan, n_jobs=1).rows


def data_is_read_there_or_sent(path, cluster, tmp_path):
    file, lines = tmp_path / "there.csv", path.read_text().splitlines(keepends=True)
    plan = small_plan(file, ensembles=(EnsembleSetting("emodt", {"n_estimators": 3}),))
    tamper = {"leave": lambda: None, "change": lambda: file.write_text("".join(lines[:50])), "remove": file.unlink}
    for count, (how, change) in enumerate(tamper.items()):
        file.write_text("".join(lines[: 100 + count]))  # other data each time: what was read before is not read again
        data = {"joint": plan.source("joint").load()}
        change()
        found = run_plan(plan, data=data, cluster=cluster)
        assert found.failures == ()
        came = "by its path" if how == "leave" else "from the runner"
        assert {kept["data came"] for kept in found.cells.values()} == {came}, how
        assert found.rows == run_plan(plan, data=data, n_jobs=1).rows


class Counted(Dataset):
    """Data that leaves a file wherever it arrives, named after the process and otherwise at random."""

    def __reduce__(self):
        return _arrived, (self.name, *(getattr(self, field.name) for field in fields(Dataset)))


def _arrived(folder, *parts):
    (Path(folder) / f"{os.getpid()}-{uuid.uuid4().hex}").write_text("")
    return Counted(*parts)


def arrivals_of_data_that_only_the_runner_has(joint, cluster, tmp_path):
    """Hand out more cells than there are workers, and count how often the data came to each process."""
    arrivals = tmp_path / "arrivals"
    arrivals.mkdir()
    parts = {field.name: getattr(joint, field.name) for field in fields(Dataset)} | {"name": str(arrivals)}
    plan = Plan("once", (DataSource("mine"),), (EnsembleSetting("emodt", {"n_estimators": 2}),), folds=4, repeats=2)
    found = run_plan(plan, data={"mine": Counted(**parts)}, cluster=cluster)
    assert (found.computed, found.failures) == (8, ())
    assert {kept["data came"] for kept in found.cells.values()} == {"from the runner"}
    assert found.rows == run_plan(plan, data={"mine": joint}, n_jobs=1).rows
    return Counter(int(mark.name.partition("-")[0]) for mark in arrivals.iterdir())


def arrivals_of_what_a_fit_shares(joint, backend, tmp_path):
    """Do work in several goes that share data, and count how often that came to each process."""
    arrivals = tmp_path / "arrivals"
    arrivals.mkdir()
    parts = {field.name: getattr(joint, field.name) for field in fields(Dataset)} | {"name": str(arrivals)}
    shared = Common(lambda: Counted(**parts))
    with joblib.parallel_config(backend=backend):
        for _ in range(3):
            done = on_cluster(who_works, shared, range(16), None)
            assert [part for part, _ in done] == list(range(16))
    return Counter(int(mark.name.partition("-")[0]) for mark in arrivals.iterdir())


def own_code_is_computed_there(path, cluster):
    own = "tests.experiments.own_code"
    settings = (
        EnsembleSetting("bagging", {"estimator": {"class": f"{own}.Stump", "depth": 2}, "n_estimators": 3}),
        EnsembleSetting(f"{own}.Stump"),
    )
    losses = ("hamming", LossSetting("f1", {"beta": 2}), LossSetting(f"{own}.urgent"))
    plan = small_plan(path, ensembles=settings, losses=losses, aggregations=("gmv", "ctp"), folds=2)
    found = run_plan(plan, cluster=cluster)
    assert (found.computed, found.failures) == (4, ())
    assert found.rows == run_plan(plan, n_jobs=1).rows


def who_works(_, part):
    """Work of a fit that tells which process does it."""
    return part, os.getpid()


def fits_on_the_cluster_have_the_bits_of_one_thread(joint, backend):
    for classifier in (
        EBRClassifier(n_estimators=12),
        ECCClassifier(n_estimators=12),
        EMODTClassifier(n_estimators=12),
        EMOBTClassifier(n_estimators=3, max_rounds=5),
        ECCClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5),
        MultilabelBaggingClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5),
        MultilabelVotingClassifier([("tree", DecisionTreeClassifier(random_state=0))]),
    ):
        if "random_state" in classifier.get_params():
            classifier.set_params(random_state=0)
        here = clone(classifier).set_params(n_jobs=1).fit(joint.X, joint.Y)
        with joblib.parallel_config(backend=backend):
            there = clone(classifier).fit(joint.X, joint.Y)
            predicted = there.predict_proba(joint.X)
        assert joblib.hash(there.members_) == joblib.hash(here.members_)
        assert np.array_equal(predicted, here.predict_proba(joint.X))


def a_fit_whose_workers_are_killed_has_the_same_bits(classifier, joint, backend, tmp_path, monkeypatch):
    """Fit while two workers are killed, each in the middle of a task."""

    def marked(shared, whole, start, stop):
        from comitia._clusters import _do_parts

        mark, middle = tmp_path / f"{start}-{os.getpid()}", (start + stop) // 2
        mark.write_text("")
        first = _do_parts(shared, whole, start, middle)
        time.sleep(0.3)
        second = _do_parts(shared, whole, middle, stop)
        mark.unlink()
        if isinstance(first, list) and isinstance(second, list):
            return first + second
        return second if isinstance(first, list) else first  # what the work raised

    here = clone(classifier).set_params(n_jobs=1).fit(joint.X, joint.Y)
    monkeypatch.setattr(_clusters, "_do_parts", marked)
    killer = Killer(tmp_path, kills=2, of_one_cell=1)
    killer.start()
    try:
        there = fitted_in_time(clone(classifier), joint.X, joint.Y, backend)
    finally:
        killer.ended.set()
        killer.join()
    assert len(killer.hit) == 2, "too few were hit"
    assert {mark.name for mark in tmp_path.iterdir()} == killer.hit, "who is killed while he is busy leaves his mark"
    assert joblib.hash(there.members_) == joblib.hash(here.members_)


def a_fit_that_kills_its_workers_raises_one_error_and_fits_nothing(joint, backend, tmp_path):
    deadly = Watched(str(tmp_path), deadly=True)
    unfitted = MultilabelBaggingClassifier(deadly, n_estimators=1, random_state=0)
    fitted = MultilabelBaggingClassifier(Watched(str(tmp_path)), n_estimators=2, random_state=0).fit(joint.X, joint.Y)
    before = fitted.predict_proba(joint.X)
    with pytest.raises(ComitiaError, match="given to a cluster and lost there, and nothing is fitted"):
        fitted_in_time(unfitted, joint.X, joint.Y, backend)
    # Four for one task; where all who had the data are dead it is sent again, to be lost with four more.
    assert 4 <= len(list(tmp_path.iterdir())) <= 16
    with pytest.raises(ValueError, match="no such depth"):
        fitted_in_time(fitted.set_params(estimator=Refusing()), joint.X[:, :2], joint.Y[:, :2], backend)
    with pytest.raises(NotFittedError):
        unfitted.predict(joint.X)
    assert np.array_equal(fitted.predict_proba(joint.X), before)


def fitted_in_time(classifier, X, Y, backend):
    """Fit on a cluster, in a thread of its own: one that waits for a dead worker must not keep the tests waiting."""
    found = Future()

    def fit():
        try:
            with joblib.parallel_config(backend=backend):
                found.set_result(classifier.fit(X, Y))
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=contextvars.copy_context().run, args=(fit,), daemon=True).start()
    return found.result(timeout=PATIENCE_SECONDS)


class Refusing(Watched):
    """A classifier that does not like its parameters."""

    def fit(self, X, Y):
        raise ValueError("no such depth")
