"""The oldest versions that pyproject declares: install every one of them into a new environment and run the fast tests.

    python tests/oldest.py [--environment FOLDER] [--without-clusters] [pytest arguments]

A lower bound nobody has tried is a guess.  Packages that only check the code itself (types, style, imports) are not
installed; what is not named in pyproject is as new as the named ones allow.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHECKERS = {"build", "import-linter", "mypy", "playwright", "ruff"}
FAST = [
    "-m",
    "not slow and not long and not browser",
    "-q",
    "-p",
    "no:cacheprovider",
    "-n",
    "2",
    "--hypothesis-profile",
    "landing",
]
"""Examples in docstrings are left out: they print what today's versions print."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--environment", type=Path, help="folder that keeps the environment; a temporary one by default"
    )
    parser.add_argument("--without-clusters", action="store_true", help="leave Dask and Ray out, and their tests")
    asked, for_pytest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as temporary:
        environment = asked.environment or Path(temporary) / "oldest"
        started = time.monotonic()
        python = install(environment, oldest(LEFT_OUT + CLUSTERS * asked.without_clusters))
        print(f"installed in {time.monotonic() - started:.0f} s", flush=True)
        clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        clean |= {"NUMBA_CACHE_DIR": str(environment / "numba"), "MPLCONFIGDIR": str(environment / "matplotlib")}
        started = time.monotonic()
        done = subprocess.run(
            [python, "-m", "pytest", *(for_pytest or [*FAST, "tests"])], cwd=ROOT, env=clean, check=False
        )
        print(f"tested in {time.monotonic() - started:.0f} s")
        return done.returncode


# Extras that no test needs, and those that only tests of clusters do.
LEFT_OUT = ("docs", "gpu", "peers")
CLUSTERS = ("dask", "ray")


def oldest(left_out: tuple[str, ...] = LEFT_OUT) -> list[str]:
    """Return every package of pyproject, but for some extras, with the lowest version that may be had.

    Examples
    --------
    >>> "joblib==1.4" in oldest()
    True
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [
        *project["dependencies"],
        *(line for name, extra in project["optional-dependencies"].items() if name not in left_out for line in extra),
    ]
    lines = []
    for line in declared:
        name, bound, version = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?(?:(>=)([\w.]+))?", line).groups()
        if name == project["name"] or name in CHECKERS:
            continue
        if bound is None:
            raise ValueError(f"every dependency must have a lowest version; got {line!r}.")
        lines.append(f"{name}=={version}")
    return lines


def install(environment: Path, versions: list[str]) -> str:
    """Return the Python of an environment that has these versions and the project itself."""
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *versions], check=True)
    subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=True)
    return str(python)


if __name__ == "__main__":
    sys.exit(main())
