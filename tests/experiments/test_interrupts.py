"""Ctrl-C, pressed once or impatiently: a run stops, its workers end, and the last line says how to go on."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import typer

from comitia._interrupts import one_interrupt
from comitia.cli.errors import explained
from comitia.experiments import Store
from tests.attack.runs import processes_of

PATIENCE_SECONDS = 120
COMMAND = [sys.executable, "-c", "from comitia.cli import main; main()", "compare", "seven-segment", "-m", "40"]

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


def test_an_interrupt_that_a_finaliser_swallows_is_sent_again():
    class Swallows:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def work():
        Swallows()
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            time.sleep(0.01)

    with one_interrupt(), pytest.raises(KeyboardInterrupt):
        work()


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
