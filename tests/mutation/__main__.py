"""Faults put into the code by cosmic-ray's operators, one at a time: how many do the tests notice?

    python -m pip install --group mutation
    python -m tests.mutation --sample 30 --seed 1 --log mutants.jsonl

A place is drawn at random from each package, and one of the mutations that its operators know for it; every place is as
likely as any other.  Left out are annotations, which are never evaluated, imports for them, decorators that compile a
loop, without which it is only slower, and what is no Python any more.  Each mutant stands in a copy of the tree from
which no real data are found.

First the fast tests of every package run once, and what each of them calls is noted.  A mutant then meets the tests
that call the function it stands in, the quick ones first, until one fails; that one must pass without the fault.  A
compiled loop is compiled again, and so is what calls it.  Tests that reach a function in another process only are not
known to call it, those that start clusters are met by mutants of the file that does so, and tests that took more than
eight minutes together when they were watched are cut off there: the count of noticed mutants can be too low by them,
not too high.  `--again` tests those that survived once more, with `--slow` by all tests of the package, slow ones too.
A log that is there already is continued.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.mutation.bench import Bench
from tests.mutation.places import Mutant, drawn
from tests.mutation.watched import PACKAGES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=20, help="mutants a package")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--packages", nargs="+", choices=PACKAGES, default=list(PACKAGES))
    parser.add_argument("--log", type=Path, default=Path("mutants.jsonl"))
    parser.add_argument("--folder", type=Path, help="keep the copy, and what was compiled for it, there")
    parser.add_argument("--again", action="store_true", help="test the survivors of the log again")
    parser.add_argument("--slow", action="store_true", help="by all tests of the package, slow ones too")
    asked = parser.parse_args()
    known = {}
    if asked.log.exists():
        lines = map(json.loads, asked.log.read_text(encoding="utf-8").splitlines())
        known = {Mutant(*line["mutant"]): line for line in lines}
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(asked.folder.resolve() if asked.folder else Path(temporary))
        for package in asked.packages:
            bench.watch(package)
        for package in asked.packages:
            for mutant in drawn(package, asked.sample, asked.seed):
                if mutant in known and not (asked.again and known[mutant]["ending"] == "survived"):
                    continue
                line = bench.judged(package, mutant, asked.slow)
                known[mutant] = line
                with asked.log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
                print(
                    f"{line['ending']:9} {line['seconds']:6.1f} s  {mutant.path}:{mutant.line}  {line['change']}",
                    flush=True,
                )
        summarise(
            asked.packages, {package: drawn(package, asked.sample, asked.seed) for package in asked.packages}, known
        )


def summarise(packages: list[str], samples: dict[str, list[Mutant]], known: dict[Mutant, dict[str, Any]]) -> None:
    """Print how many were noticed, with Wilson's interval of 95 percent."""
    total: Counter[str] = Counter()
    for package in packages:
        found = Counter(known[mutant]["ending"] for mutant in samples[package])
        total += found
        print(f"{package:12} {_score(found)}")
    print(f"{'all':12} {_score(total)}")


def _score(found: Counter[str]) -> str:
    n, noticed, z = sum(found.values()), sum(found.values()) - found["survived"], 1.96
    middle, half = noticed + z * z / 2, z * math.sqrt(noticed * (n - noticed) / n + z * z / 4)
    low, high = (100 * (middle + sign * half) / (n + z * z) for sign in (-1, 1))
    return f"{noticed:4} of {n:4} noticed ({100 * noticed / n:.1f} %, from {low:.1f} to {high:.1f} %)"


if __name__ == "__main__":
    main()
