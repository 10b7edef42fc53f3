"""Memory of predicting many instances: it follows the chunk, not the input."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.case import Case

SCRIPT = """
import resource, sys
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
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
predicted = ensemble.predict(new)
assert predicted.shape == (n, 101)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20)
"""


def run(quick: bool = False) -> list[Case]:
    n = 20_000 if quick else 200_000
    cases = []
    for ensemble in ("ebr", "ecc", "emodt"):
        for loss, aggregation in (("f1", "ctp"), ("f1", "ptc-mbr"), ("subset01", "ptc-mode")):
            command = [sys.executable, "-c", SCRIPT, ensemble, loss, aggregation, str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            name = f"memory of {ensemble} {aggregation} {loss}, {n} x 101, M = 50"
            cases.append(Case(name, "1 GiB", float(done.stdout), 1, "above model and input", at_most=True))
    return cases
