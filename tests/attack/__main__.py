"""Run one attack from the command line."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from tests.attack.run import ATTACKS, run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("attack", choices=ATTACKS)
    parser.add_argument("--cases", type=int, default=1000, help="number of cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.within:
        importlib.import_module(f"tests.attack.{asked.attack}").work(
            asked.within, range(asked.first, asked.first + asked.cases), asked.seed
        )
        return
    endings = run(asked.attack, range(asked.first, asked.first + asked.cases), asked.seed)
    for ending, count in endings.most_common():
        print(f"{count:9,}  {ending}")
    sys.exit(any(ending.startswith("WRONG") for ending in endings))


if __name__ == "__main__":
    main()
