"""The page that is written from the rows of ``python -m benchmarks.beyond``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from textwrap import fill

import numpy as np

from benchmarks.beyond import BY_COST, ENSEMBLES, NAMES, TITLES, Scored, chosen_way, decided

_INTRO = """\
Table 2's folds, seeds and settings (50 members, ten plain folds, C chosen on each training part), but chains with joint
beliefs: `ECCClassifier(chain_method="joint")`. *Advised* is what the paper advises for the loss (the mode of the votes
for subset 0/1 loss, else CTP), without calibration. *Chosen* is `aggregation="oob", calibration="oob"`: aggregation,
reading and calibration by out-of-bag losses of the training part; *uncalibrated* is the same choice without calibrated
decisions. Percent; standard errors are of the paired difference over the folds. One thing was settled on these folds:
that the usual decision, once it is calibrated, is preferred to others that are as good within a standard error.
"""

FOLDS = 10
Groups = dict[tuple[str, str], list[Scored]]


def page(rows: Iterable[Scored]) -> str:
    """Return the page."""
    groups: Groups = defaultdict(list)
    for row in rows:
        groups[row.cell["dataset"], row.cell["ensemble"]].append(row)
    return "\n".join([*_head(groups), *_means(groups), *_full(groups), *_choices(groups), *_times(groups), ""])


def values(rows: list[Scored], loss: str, how: str | None) -> np.ndarray:
    """Return the measure of each fold in percent: losses, but F1 itself."""
    found = np.array([decided(row, loss, how) for row in sorted(rows, key=lambda row: row.cell["fold"])])
    return 100 - found if loss == "f1" else found


def _datasets(groups: Groups, ensemble: str) -> list[str]:
    return [name for name in BY_COST if len(groups.get((name, ensemble), ())) == FOLDS]


def _head(groups: Groups) -> Iterator[str]:
    missing = [
        f"{name} with {ENSEMBLES[ensemble]}"
        for ensemble in ENSEMBLES
        for name in BY_COST
        if len(groups.get((name, ensemble), ())) < FOLDS
    ]
    yield "# Beyond the paper: the choice out of bag, with calibration"
    yield ""
    yield fill(_INTRO, 118)
    yield ""
    if missing:
        yield fill(f"Not complete, and left out below: {', '.join(missing)}.", 118)
        yield ""
    yield "Made by `python -m benchmarks.beyond docs/results/beyond/rows.jsonl` and the same with `--write`; bibtex was"
    yield "fitted on a GPU (`--device cuda`), but for nine folds of joint chains, ten minutes each on a busy core."
    yield ""


def _means(groups: Groups) -> Iterator[str]:
    yield "## Means"
    yield ""
    yield "| | datasets | advised | uncalibrated | chosen |"
    yield "|---|--:|--:|--:|--:|"
    for loss in NAMES:
        for ensemble, title in ENSEMBLES.items():
            names = _datasets(groups, ensemble)
            cells = [
                f"{np.mean([values(groups[name, ensemble], loss, how).mean() for name in names]):.2f}"
                for how in (None, "uncalibrated", "oob")
            ]
            yield f"| {TITLES[loss]} · {title} | {len(names)} | {' | '.join(cells)} |"
    yield ""


def _full(groups: Groups) -> Iterator[str]:
    yield "## Every dataset, ensemble and loss"
    yield ""
    yield "| | advised | uncalibrated | chosen | chosen − advised | worse by two errors |"
    yield "|---|--:|--:|--:|--:|---|"
    for loss in NAMES:
        sign = -1 if loss == "f1" else 1
        for ensemble, title in ENSEMBLES.items():
            for name in _datasets(groups, ensemble):
                rows = groups[name, ensemble]
                advised, plain, chosen = (values(rows, loss, how) for how in (None, "uncalibrated", "oob"))
                gain = chosen - advised
                error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
                worse = "**yes**" if error > 0 and sign * gain.mean() > 2 * error else "no"
                means = " | ".join(f"{part.mean():.2f}" for part in (advised, plain, chosen))
                yield f"| {TITLES[loss]} · {title} · {name} | {means} | {gain.mean():+.2f} ± {error:.2f} | {worse} |"
    yield ""


def _choices(groups: Groups) -> Iterator[str]:
    yield "## What was chosen"
    yield ""
    yield "In how many folds; and the share of labels that are calibrated."
    yield ""
    yield "| | Hamming loss | subset 0/1 loss | F1 | calibrated |"
    yield "|---|---|---|---|--:|"
    for ensemble, title in ENSEMBLES.items():
        for name in _datasets(groups, ensemble):
            rows = groups[name, ensemble]
            counts = [Counter(chosen_way(row, loss, "oob") for row in rows).most_common() for loss in NAMES]
            shown = " | ".join(", ".join(f"{way} ({count})" for way, count in one) for one in counts)
            share = np.mean([row.calibrated for row in rows])
            yield f"| {title} · {name} | {shown} | {100 * share:.0f}% |"
    yield ""


def _times(groups: Groups) -> Iterator[str]:
    yield "## What it costs"
    yield ""
    yield "Processor seconds of a fit on nine tenths, without and with the choice among all ways, for all losses;"
    yield "medians of three, on two busy cores. The goal was three times."
    yield ""
    yield "| | without | with | times | within three |"
    yield "|---|--:|--:|--:|---|"
    for ensemble, title in ENSEMBLES.items():
        for name in _datasets(groups, ensemble):
            for row in groups[name, ensemble]:
                if "with" in row.seconds:
                    before, after = row.seconds["without"], row.seconds["with"]
                    within = "yes" if after <= 3 * before else "**no**"
                    yield f"| {title} · {name} | {before:.2f} | {after:.2f} | {after / before:.1f} | {within} |"
