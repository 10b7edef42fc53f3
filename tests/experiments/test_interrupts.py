"""Ctrl-C, pressed once or impatiently: a run stops, its workers end, and the last line says how to go on."""

import contextlib
import importlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from pathlib import Path

import pytest
import typer

from comitia import ComitiaError
from comitia._interrupts import one_interrupt
from comitia.cli._errors import explained
from comitia.experiments import Store, run_plan
from tests.attack.runs import processes_of
from tests.experiments.conftest import small_plan

PATIENCE_SECONDS = 120
COMMAND = [sys.executable, "-c", "from _comitia_start import main; main()", "compare", "seven-segment", "-m", "40"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="sends signals to a group of processes")


def until(reached) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("n_jobs", "times", "cells"), [(2, 1, 0), (2, 3, 1), (1, 2, 1)], ids=["once", "impatiently", "one process"]
)
def test_a_run_that_is_interrupted_stops_without_a_traceback_and_goes_on(tmp_path, n_jobs, times, cells):
    folder = tmp_path / "run"
    command = [*COMMAND, "-j", str(n_jobs), "-o", str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        until(lambda: (folder / "plan.toml").exists() and len(list(folder.glob("cells/*.jsonl"))) >= cells)
        for _ in range(times):
            os.killpg(run.pid, signal.SIGINT)
            time.sleep(0.05)
        out, err = run.communicate(timeout=PATIENCE_SECONDS)
    assert run.returncode == 1, err
    assert "Traceback" not in out + err
    assert "cancelled" not in err, "tasks are, and nobody needs to know"
    assert err.splitlines()[-1] == (
        f"Stopped. What is finished is kept: the same command with --output {folder} goes on."
    )
    if Path("/proc").is_dir():
        until(lambda: not processes_of(run.pid))
    store = Store.read(folder)
    assert store.failures() == []
    assert cells <= sum(map(store.finished, store.plan.cells())) < len(list(store.plan.cells()))


def test_interrupts_that_follow_the_first_closely_are_ignored():
    seen = []
    with one_interrupt():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        for _ in range(3):
            signal.raise_signal(signal.SIGINT)
        seen.append("went on")
    assert seen == ["went on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def until_interrupted(work) -> None:
    work()
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        time.sleep(0.01)


def test_an_interrupt_that_python_swallows_is_sent_again():
    class Referred:
        pass

    referred = [Referred()]
    watch = weakref.ref(referred[0], lambda _: signal.raise_signal(signal.SIGINT))
    with one_interrupt(), pytest.raises(KeyboardInterrupt):
        until_interrupted(referred.clear)
    assert watch() is None


def test_finalisers_and_imports_come_to_their_end_before_an_interrupt_is_raised(tmp_path, monkeypatch):
    done = []

    class Finalised:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.1)
            done.append("finalised")

    name = "interrupted_module"
    (tmp_path / f"{name}.py").write_text(
        "import signal, time\nsignal.raise_signal(signal.SIGINT)\ntime.sleep(0.1)\nDONE = 'imported'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def imported():
        done.append(importlib.import_module(name).DONE)

    for work in (Finalised, imported):
        with one_interrupt(), pytest.raises(KeyboardInterrupt):
            until_interrupted(work)
    assert done == ["finalised", "imported"]


def said_by(script: str) -> tuple[int, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    return done.returncode, done.stderr.split("\n")


def test_one_that_comes_long_after_the_first_ends_a_command_at_once_with_its_last_words():
    script = """
        import os, signal, time
        from comitia import _interrupts
        _interrupts._PATIENCE_SECONDS = 0.1
        with _interrupts.one_interrupt(to_the_end=True):
            _interrupts.say_when_stopped("Stopped. Go on.")
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                time.sleep(0.2)
                signal.raise_signal(signal.SIGINT)
                print("not reached")
    """
    assert said_by(script) == (1, ["", "Stopped. Go on.", ""])


def test_one_that_comes_while_the_command_is_imported_ends_it_without_a_traceback():
    script = """
        import signal, sys

        class Interrupting:
            def find_spec(self, name, *_):
                if name == "numpy":
                    signal.raise_signal(signal.SIGINT)

        sys.meta_path.insert(0, Interrupting())
        from _comitia_start import main
        main()
    """
    assert said_by(script) == (1, ["", "Stopped.", ""])


def test_one_that_comes_after_the_end_of_a_command_says_nothing():
    script = """
        import atexit, signal, threading
        from comitia._interrupts import one_interrupt
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        atexit.register(signal.raise_signal, signal.SIGINT)
        with one_interrupt(to_the_end=True):
            pass
        signal.raise_signal(signal.SIGINT)
    """
    assert said_by(script) == (0, [""])


def test_nobody_complains_of_what_a_runner_that_ended_early_has_left():
    script = """
        import os, time
        from comitia.experiments._engines import Processes
        engine = Processes(2, 1)
        engine.start({"": None})
        outcomes = engine.outcomes(lambda item, _: time.sleep(item), {0: "", 600: "", 601: ""})
        next(outcomes)
        os._exit(3)
    """
    assert said_by(script) == (3, [""])


def test_threads_and_other_handlers_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=lambda: one_interrupt().__enter__())
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGINT) is before
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with one_interrupt():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_of_which_an_import_has_made_another_error_is_one(capsys):
    @explained
    def command() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise RuntimeError("Error calling __set_name__ on '_axis_method_wrapper'") from error

    with pytest.raises(typer.Exit):
        command()
    assert capsys.readouterr().err.split() == ["Stopped."]


def disguised(*_, **__):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as interrupt:
        raise SystemError("CPUDispatcher returned a result with an exception set") from interrupt


@pytest.mark.parametrize("place", ["comitia.experiments._cell.fit_cell", "comitia.experiments._plan.DataSource.load"])
def test_an_interrupt_of_which_a_compiled_loop_has_made_another_error_ends_a_run(
    place, joint_csv, tmp_path, monkeypatch
):
    monkeypatch.setattr(place, disguised)
    with pytest.raises(KeyboardInterrupt):
        run_plan(small_plan(joint_csv), tmp_path / "run", n_jobs=1)
    assert Store.read(tmp_path / "run").failures() == [], "it is no error of a cell or of the data"


@pytest.mark.parametrize("waits", [False, True])
def test_an_error_that_follows_an_interrupt_is_told_as_one(waits, capsys):
    """What processes lose by it may be told before it is raised, or hide it."""

    class Finalised:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    @explained
    def command() -> None:
        if waits:
            Finalised().__del__()  # where it is put off
        else:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        raise ComitiaError("work could not be handed to other processes: A task has failed to un-serialize.")

    with one_interrupt():
        with pytest.raises(typer.Exit):
            command()
        time.sleep(0.1)  # one that was put off is not raised any more
    assert capsys.readouterr().err.split() == ["Stopped."]
    with pytest.raises(typer.Exit):
        explained(refused)()
    assert capsys.readouterr().err.split() == ["error:", "as", "ever"]


def refused() -> None:
    raise ComitiaError("as ever")
