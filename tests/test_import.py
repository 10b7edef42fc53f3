"""Importing the library does no work."""

import subprocess
import sys

COUNT = """
import sys
import comitia, comitia.datasets
from numba.core.registry import CPUDispatcher
loops = {id(v): v for m in list(sys.modules.values()) if m.__name__.startswith("comitia")
         for v in vars(m).values() if isinstance(v, CPUDispatcher)}
print(len(loops), sum(len(loop.signatures) for loop in loops.values()))
print(sorted({"pandas", "matplotlib", "typer", "rich", "plotly", "pooch", "skops"} & set(sys.modules)))
"""


def test_importing_compiles_nothing_and_loads_no_extra():
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    counts, extras = done.stdout.splitlines()
    loops, compiled = map(int, counts.split())
    assert loops > 20
    assert compiled == 0
    assert "typer" not in extras
    assert "matplotlib" not in extras
    assert "plotly" not in extras
