"""A disk that takes no more, made by a limit on the size of files: a sentence names the file, nothing is half there."""

import subprocess
import sys

import pytest

resource = pytest.importorskip("resource", reason="limits on the size of files are POSIX's")

COMMAND = [sys.executable, "-c", "from comitia.cli import main; main()"]


def run(arguments, most_bytes=None):
    def limit():
        if most_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return subprocess.run([*COMMAND, *map(str, arguments)], preexec_fn=limit, capture_output=True, text=True)


def test_a_model_that_has_no_room_is_named_and_leaves_nothing(joint_csv, tmp_path):
    model = tmp_path / "model.skops"
    done = run(["train", joint_csv, "--labels", "y0,y1,y2", "--ensemble", "emodt", "-m", 3, "-o", model], 2000)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, f"error: {model}: File too large")
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_has_no_room_is_told_so_and_goes_on_when_there_is(joint_csv, tmp_path):
    folder = tmp_path / "run"
    asked = ["compare", joint_csv, "--labels", "y0,y1,y2", "--ensembles", "emodt", "-m", 3, "--folds", 3]
    asked += ["-j", 1, "-o", folder]
    done = run(asked, 8000)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"error: {folder}/")
    assert "File too large" in done.stderr
    assert not (folder / "report.html").exists()
    done = run(asked)
    assert done.returncode == 0, done.stderr
    assert (folder / "report.html").exists()
