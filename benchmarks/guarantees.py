"""Promises kept: what ``predict_partial(X, guarantee=…)`` asked for, reached and left open over random splits.

Fifty splits of each dataset, two thirds to learn from; ensembles as they come, with what is out of bag.  Reached is the
mean share of a test instance's labels that were not denied; an instance without labels has none that could be.

    python -m benchmarks.guarantees rows.jsonl       # one line a split and ensemble, which is not run again
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from sklearn.model_selection import ShuffleSplit

from benchmarks.case import DATA
from benchmarks.decisions_for_sets import MEMBERS
from comitia import EBRClassifier, ECCClassifier, EMODTClassifier
from comitia.datasets import fetch_dataset
from comitia.measures import RecallAtLeast

DATASETS = ("emotions", "scene", "yeast")
ENSEMBLES = {"EMODT": EMODTClassifier, "EBR": EBRClassifier, "ECC": ECCClassifier}
ASKED = (0.8, 0.9, 0.95)
SPLITS = 50


@dataclass(frozen=True)
class Kept:
    """One ensemble on one split: for each promise the share of labels that was kept and left open."""

    dataset: str
    ensemble: str
    split: int
    reached: list[float]
    open: list[float]

    def line(self) -> str:
        shown = "  ".join(
            f"{asked} {reached:.3f} ({left:.3f} open)"
            for asked, reached, left in zip(ASKED, self.reached, self.open, strict=True)
        )
        return f"{self.dataset:9} {self.ensemble:6} split {self.split:2}  {shown}"


def run(*, quick: bool = False) -> Iterator[Kept]:
    return kept_promises(Path("guarantees.jsonl"), tuple(ENSEMBLES), 2 if quick else SPLITS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.guarantees", description=__doc__)
    parser.add_argument("rows", type=Path, help="file of rows, which is added to")
    parser.add_argument("--ensembles", nargs="*", default=tuple(ENSEMBLES), help="some of them")
    parser.add_argument("--splits", type=int, default=SPLITS, help="the first so many")
    given = parser.parse_args()
    for one in kept_promises(given.rows, given.ensembles, given.splits):
        print(one.line(), flush=True)


def kept_promises(file: Path, ensembles: tuple[str, ...], splits: int) -> Iterator[Kept]:
    """Compute the splits that the file lacks, and add them to it."""
    warnings.simplefilter("ignore")
    done = {(row.dataset, row.ensemble, row.split) for row in read_kept(file)}
    for ensemble in ensembles:
        for dataset in DATASETS:
            for split in range(splits):
                if (dataset, ensemble, split) in done:
                    continue
                one = keep(dataset, ensemble, split)
                with file.open("a", encoding="utf-8") as rows:
                    rows.write(json.dumps(asdict(one)) + "\n")
                yield one


def keep(dataset: str, ensemble: str, split: int) -> Kept:
    data = fetch_dataset(dataset, data_home=DATA)
    train, test = list(ShuffleSplit(SPLITS, test_size=1 / 3, random_state=0).split(data.Y))[split]
    known, new = data.take(train), data.take(test)
    fitted = ENSEMBLES[ensemble](n_estimators=MEMBERS, oob_score=True, random_state=split).fit(known.X, known.Y)
    answers = [fitted.predict_partial(new.X, guarantee=asked) for asked in ASKED]
    reached = [RecallAtLeast(asked).value(new.Y, answer) for asked, answer in zip(ASKED, answers, strict=True)]
    return Kept(dataset, ensemble, split, reached, [float((answer < 0).mean()) for answer in answers])


def read_kept(file: Path) -> list[Kept]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [Kept(**json.loads(line)) for line in lines if line.endswith("}")]


if __name__ == "__main__":
    main()
