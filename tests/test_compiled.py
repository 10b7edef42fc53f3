"""Compiled loops are kept where that is safe, and work where it is not."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import comitia
from comitia._compiled import is_kept, njit, seconds_compiling, written_by_others
from comitia._labels import pack, pack_rows

SOURCE = Path(comitia.__file__).parent
NOBODY = 65534

USE = """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import comitia
from comitia._labels import pack
pack([[0, 1], [1, 1]])
from comitia._labels import pack_rows
stats = pack_rows.stats
print(json.dumps({
    "version": comitia.__version__,
    "warnings": [str(one.message) for one in caught if "comitia" in str(one.message)],
    "folder": stats.cache_path, "hits": sum(stats.cache_hits.values()), "misses": sum(stats.cache_misses.values()),
}))
"""


@pytest.fixture
def installed():
    """The library where somebody who is not root can read it, and no more."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv, to be somebody who may not write")
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        base.chmod(0o755)
        shutil.copytree(SOURCE, base / "comitia", ignore=shutil.ignore_patterns("__pycache__"))
        yield base


def run(installed, code=USE, user=NOBODY, **environment):
    clean = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    there = clean | {"PYTHONPATH": str(installed), "HOME": "/nonexistent", "PYTHONDONTWRITEBYTECODE": "1"} | environment
    command = [sys.executable, "-c", code]
    if user:
        command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *command]
    done = subprocess.run(command, env=there, capture_output=True, text=True, check=False)
    if "No module named" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip("another user cannot read this environment of Python")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_where_nothing_can_be_written_all_works_with_one_warning_that_names_the_variable(installed):
    found = run(installed)
    assert found["version"] == comitia.__version__
    assert found["folder"] is None
    (warning,) = found["warnings"]
    assert "NUMBA_CACHE_DIR" in warning


def test_what_is_compiled_is_kept_in_the_home_of_who_cannot_write_to_the_package(installed):
    home = installed / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    first, second = (run(installed, HOME=str(home)) for _ in range(2))
    assert Path(first["folder"]).is_relative_to(home)
    assert (first["hits"], first["misses"]) == (0, 1)
    assert (second["hits"], second["misses"]) == (1, 0)
    assert not first["warnings"]
    assert not second["warnings"]


def test_what_was_compiled_before_is_read_where_it_cannot_be_written(installed):
    """As in the image of a container: root compiles, somebody else runs."""
    run(installed, user=0)
    found = run(installed)
    assert Path(found["folder"]) == installed / "comitia" / "__pycache__"
    assert (found["hits"], found["misses"]) == (1, 0)


def test_a_cache_that_others_can_write_to_is_not_used(installed):
    folder = installed / "open"
    folder.mkdir()
    folder.chmod(0o777)
    found = run(installed, user=0, NUMBA_CACHE_DIR=str(folder))
    assert not Path(found["folder"]).is_relative_to(folder)
    (warning,) = found["warnings"]
    assert "NUMBA_CACHE_DIR is not used" in warning


@pytest.mark.skipif(os.name != "posix", reason="modes of folders are POSIX's")
def test_a_folder_is_open_if_it_or_one_above_is_open(tmp_path):
    for mode, inner, expected in ((0o755, 0o700, False), (0o777, 0o700, True), (0o1777, 0o700, False)):
        folder = tmp_path / f"{mode:o}" / "inner"
        folder.mkdir(parents=True)
        folder.chmod(inner)
        folder.parent.chmod(mode)
        assert written_by_others(folder) == expected
    sticky = tmp_path / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    assert written_by_others(sticky)


def test_loops_are_plain_functions_where_compiling_is_off(tmp_path):
    code = "from comitia._labels import pack, pack_rows; print(pack([[1, 1]]), type(pack_rows).__name__)"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["[[3]]", "function"], done.stderr


PREDICT = """
import json, warnings
warnings.simplefilter("error", RuntimeWarning)
import numpy as np
from scipy.sparse import csr_array
from comitia import ENSEMBLES
from comitia.losses import LOSSES, Constraints, Matthews, Precision, TopK
from comitia.measures import MEASURES

rng = np.random.default_rng(0)
X = rng.standard_normal((24, 3))
Y = (X @ rng.standard_normal((3, 3)) + rng.standard_normal((24, 3)) > 0).astype(np.int8)
X[20:], Y[20:] = X[:4], Y[:4]
found = {}
for name, kind in ENSEMBLES.items():
    if name == "committee":
        members = [(few, ENSEMBLES[few](n_estimators=3)) for few in ("ebr", "emodt")]
        ensemble = kind(members, aggregation=None, random_state=0)
    else:
        ensemble = kind(n_estimators=4, oob_score=True, random_state=0)
    ensemble.fit(csr_array(X) if name == "ebr" else X, Y)
    found[name] = ensemble.predict_proba(X).tolist()
    for loss in (*LOSSES, *MEASURES, Precision(), Matthews(), TopK(2)):
        found[f"{name} {loss}"] = ensemble.set_params(loss=loss).predict(X).tolist()
    ensemble.set_params(loss="f1", constraints=Constraints(at_least=1, at_most=2))
    found[f"{name} within limits"] = ensemble.predict(X).tolist()
print(json.dumps(found))
"""


@pytest.mark.slow
def test_ensembles_predict_the_same_for_every_loss_where_compiling_is_off():
    answers = []
    for off in ("0", "1"):
        environment = os.environ | {"NUMBA_DISABLE_JIT": off, "PYTHONWARNINGS": "ignore::UserWarning"}
        done = subprocess.run([sys.executable, "-c", PREDICT], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    compiled, plain = answers
    for name, expected in compiled.items():
        np.testing.assert_allclose(plain[name], expected, atol=1e-7, err_msg=name)


@pytest.mark.slow
def test_ensembles_are_compared_where_compiling_is_off(tmp_path):
    rng = np.random.default_rng(0)
    rows = ["a,b,x,y", *(f"{i},{rng.random():.3f},{i % 2},{i // 10}" for i in range(20))]
    (tmp_path / "mine.csv").write_text("\n".join(rows), encoding="utf-8")
    words = ["compare", "mine.csv", "--labels=x,y", "--ensembles=ebr,emodt", "-m2", "--folds=2", "-j1", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "comitia", *words],
        cwd=tmp_path,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_a_loop_is_not_kept_unless_it_is_asked_for():
    @njit(cache=False, nogil=True)
    def twice(x):
        return 2 * x

    assert twice(np.int64(2)) == 4
    assert twice.stats.cache_path is None


def test_compiling_is_measured_once_and_what_is_kept_is_known():
    @njit(cache=False, nogil=True)
    def thrice(x):
        return 3 * x

    with seconds_compiling() as first:
        assert thrice(np.int64(2)) == 6
    with seconds_compiling() as second:
        assert thrice(np.int64(2)) == 6
    assert first() > 0
    assert second() == 0
    assert not is_kept(thrice)
    pack(np.ones((1, 2), np.int8))
    assert is_kept(pack_rows) == (pack_rows.stats.cache_path is not None)


def test_every_loop_is_compiled_by_the_one_decorator():
    for path in SOURCE.rglob("*.py"):
        if path.name != "_compiled.py":
            text = path.read_text(encoding="utf-8")
            assert "from numba import njit" not in text, path
            assert "numba.njit" not in text, path


def test_a_loop_that_loops_call_can_be_called_from_python_and_is_kept_for_both(tmp_path):
    code = """
import numpy as np
from comitia._compiled import njit

@njit(nogil=True)
def twice(x):
    return 2 * x

@njit(nogil=True)
def four_times(x):
    return twice(twice(x))
"""
    module = tmp_path / "loops.py"
    module.write_text(code, encoding="utf-8")
    use = (
        "import gc, loops; found = loops.four_times(3), loops.twice(3), gc.isenabled();"
        "hits = [sum(form.stats.cache_hits.values()) for form in (loops.four_times, loops.twice, loops.twice.within)];"
        "loops.four_times(3.0); hits.append(sum(loops.twice.within.stats.cache_misses.values())); print(*found, *hits)"
    )
    path = os.pathsep.join([str(tmp_path), str(SOURCE.parent)])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": path}
    for expected in ("12 6 True 0 0 0 2", "12 6 True 1 1 0 0"):
        done = subprocess.run([sys.executable, "-c", use], env=environment, capture_output=True, text=True)
        assert done.stdout.strip() == expected, done.stderr
