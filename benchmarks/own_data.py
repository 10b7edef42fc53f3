"""What columns that are no numbers cost: ``comitia train`` on a table as people have them, beside its numbers alone."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import numpy as np

from benchmarks.case import Case

_TRAIN = """
import json, sys
from benchmarks.case import peak_memory
from comitia.cli._app import app
app(sys.argv[1:], standalone_mode=False)
print(json.dumps(peak_memory()))
"""
_NUMBERS = 5
_NOT_NUMBERS = "genre,city,maker,uuid,title"


def run(quick: bool = False) -> list[Case]:
    rows = 10_000 if quick else 100_000
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        _write(path, rows)
        few = Path(folder) / "few.csv"
        _write(few, 1000)
        for ensemble in ("ebr", "ecc", "emodt"):
            _trained(few, ensemble)  # who comes first compiles
            alone, _ = _trained(path, ensemble, "--ignore", _NOT_NUMBERS)
            whole, memory = _trained(path, ensemble)
            name = f"train --ensemble {ensemble}, {rows:,} rows"
            note = f"{whole:.1f} s of processor time; {alone:.1f} s for the numbers"
            found.append(Case(name, "numbers alone", whole / alone, 2.0, note, at_most=True))
            found.append(Case(name, "nothing", memory / 1e9, 1.5, "peak of the process", at_most=True, unit="GB"))
    return found


def _write(path: Path, rows: int) -> None:
    """Five numbers, three categories of 50 values, an identifier, a title, and five labels that follow some of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, _NUMBERS))
    places = rng.integers(0, 50, size=(rows, 3))
    effects = rng.normal(size=(3, 50, 5))
    scores = X @ rng.normal(size=(_NUMBERS, 5)) + sum(effects[j][places[:, j]] for j in range(3))
    Y = (scores + rng.logistic(size=scores.shape) > 1).astype(int)
    words = np.array(["rain", "thunder", "river", "night", "road", "summer", "stone", "fire", "winter", "glass"])
    picked = words[rng.integers(0, len(words), size=(rows, 4))]
    with path.open("w", encoding="utf-8") as file:
        file.write("a,b,c,d,e,genre,city,maker,uuid,title," + ",".join(f"y{k}" for k in range(5)) + "\n")
        for i in range(rows):
            numbers = ",".join(f"{value:.5f}" for value in X[i])
            names = ",".join(f"{kind}{place}" for kind, place in zip("gcm", places[i], strict=True))
            identifier = uuid.UUID(bytes=rng.bytes(16))
            title = f"{' '.join(picked[i])} {i}"
            file.write(f"{numbers},{names},{identifier},{title},{','.join(map(str, Y[i]))}\n")


def _trained(path: Path, ensemble: str, *options: str) -> tuple[float, int]:
    """Processor seconds of the whole command in a process of its own, and the most memory that it had."""
    arguments = ["train", str(path), "-l", "y*", "--ensemble", ensemble, *options, "--force", "-o", f"{path}.skops"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run([sys.executable, "-c", _TRAIN, *arguments], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, json.loads(said.stdout.splitlines()[-1])
