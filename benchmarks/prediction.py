"""Memory of predicting many instances: it follows the chunk, not the input (Linux only)."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.case import Case

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from comitia import EBRClassifier, ECCClassifier, EMODTClassifier

name, loss, aggregation, n = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 120))
Y = (rng.random((2000, 101)) < 0.044).astype(np.int8)
ensemble = {"ebr": EBRClassifier, "ecc": ECCClassifier, "emodt": EMODTClassifier}[name](
    n_estimators=50, loss=loss, aggregation=aggregation, random_state=0, n_jobs=2)
ensemble.fit(X, Y)
ensemble.predict(X[:5])
new = rng.normal(size=(n, 120))

def memory(entry):
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines()
                if line.startswith(entry))

before = memory("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # forget the peak of the fit
predicted = ensemble.predict(new)
assert predicted.shape == (n, 101)
print((memory("VmHWM") - before) / 2**20)
"""


def run(quick: bool = False) -> list[Case]:
    n = 20_000 if quick else 200_000
    cases = []
    for ensemble in ("ebr", "ecc", "emodt"):
        for loss, aggregation in (("f1", "ctp"), ("f1", "ptc-mbr"), ("subset01", "ptc-mode")):
            command = [sys.executable, "-c", SCRIPT, ensemble, loss, aggregation, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            name = f"memory of {ensemble} {aggregation} {loss}, {n} x 101, M = 50"
            cases.append(
                Case(
                    name,
                    "1 GiB",
                    float(done.stdout),
                    1,
                    f"{float(done.stdout):.2f} GiB above model and input",
                    at_most=True,
                )
            )
    return cases
