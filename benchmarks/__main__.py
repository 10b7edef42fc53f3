"""Run the benchmarks: ``python -m benchmarks [--quick] [names]``.  One line a case, each a ratio against a peer."""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
from pathlib import Path

NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("[a-z]*.py") if "\ndef run(" in path.read_text(encoding="utf-8")
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="name", choices=[*NAMES, []], help=f"which: {', '.join(NAMES)} (default: all)"
    )
    parser.add_argument("--quick", action="store_true", help="smaller sizes, to see that everything runs")
    if "peers" in sys.argv:
        importlib.import_module("benchmarks.peers").add_options(parser)
    arguments = vars(parser.parse_args())
    for name in arguments["names"] or NAMES:
        print(f"# {name}", flush=True)
        run = importlib.import_module(f"benchmarks.{name}").run
        for case in run(**{key: arguments[key] for key in inspect.signature(run).parameters if key in arguments}):
            print(case.line(), flush=True)


if __name__ == "__main__":
    main()
