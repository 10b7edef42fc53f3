"""How long importing takes, against importing scikit-learn."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.case import Case, median_time


def run(quick: bool = False) -> list[Case]:
    repeats = 3 if quick else 9
    ours, theirs = (
        median_time(lambda name=name: subprocess.run([sys.executable, "-c", f"import {name}"], check=True), repeats)
        for name in ("comitia", "sklearn.ensemble")
    )
    return [Case("import comitia", "import sklearn.ensemble", ours / theirs, 2, f"{ours:.2f} s; time", at_most=True)]
