"""The page that is written from the rows of ``benchmarks.decisions_for_sets`` and ``benchmarks.guarantees``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from textwrap import fill

import numpy as np

from benchmarks.decisions_for_sets import AS_WRITTEN, AVERAGES, DATASETS, FOLDS, PEERS, Scored
from benchmarks.guarantees import ASKED, ENSEMBLES, SPLITS, Kept
from benchmarks.guarantees import DATASETS as PROMISED

_INTRO = """\
Macro- and micro-F1 are what most people tune multilabel classifiers for. `loss="macro-f1"` and `loss="micro-f1"` find
their cuts on what is out of bag, on the ensemble that is there: nothing is fitted again. Beside it stand the cut of the
same probabilities at one half, and what scikit-learn offers,
`MultiOutputClassifier(TunedThresholdClassifierCV(learner, scoring="f1"))`: for every label six fits and the best of a
hundred cuts. Ours are `EMODTClassifier(oob_score=True)` and `ECCClassifier(oob_score=True)` with defaults, 50 members;
the learner beside trees is `RandomForestClassifier(50)`, beside chains `LogisticRegression()`, on standardised features
where these are dense. The rows of bibtex are older: a fit judged all decisions out of bag,
chains passed decisions on (now they choose), and trees split nodes of eight instances unless others did better (now of
four).
"""
_FOLDS = f"""\
{FOLDS} shuffled folds, the same for all; percent, mean ± standard error over the folds. *Gain* is the tuned measure
minus that of the cut at one half, *ahead* minus scikit-learn's, each with the standard error of the paired difference.
Where scikit-learn was run on fewer folds, in parentheses, *ahead* is over these. Its micro-F1 is that of the same
answers: it
has no micro-F1 to tune for.
"""
_TIMES = """\
Seconds of one processor for fitting and predicting one fold. Ours have both measures. *As written* is scikit-learn's
with `scoring="f1"`, on the first fold or, where marked, a few labels, scaled to all that can be tuned; *bare* has a
function in the place of `"f1"` that gives the same numbers without its checks, by which the scores above were found.
Ratios are scikit-learn's time by ours.
"""
_CAVEATS = """\
What this does not say: labels that fewer than five training instances have, or lack, cannot be tuned by scikit-learn;
they are predicted as most instances have them. A label that nobody has in a test fold, and that is not predicted
there, counts as zero for everyone, which keeps macro-F1 on medical and cal500 low. Without the checks of `"f1"`
scikit-learn's loop of logistic regressions costs about what 50 chains do, or less; with them, which is what its users
have, most of its time is spent on scoring cuts. ECC also chooses its C, its scaling and what chains pass on, for
which scikit-learn would fit several times as often: on the first fold 0.7 seconds for scene, 0.3 for yeast and 0.6
for medical. The links alone take 0.5, 0.4 and, at a C of 1,000, 1.3 seconds. That cuts are found on calibrated
beliefs was tried before on two to four folds, of another seed, of the first six of these datasets; nothing else was
chosen by what they show.
"""
_PROMISES = f"""\
`predict_partial(X, guarantee=…)` denies a label only where the expected share of an instance's labels that are denied
stays below what is allowed, by conformal risk control on out-of-bag beliefs; what is then in doubt is left open.
{SPLITS} random splits, two thirds to learn from, defaults, 50 members. *Reached* is the mean share of a test instance's
labels that were not denied, ± its standard error over the splits, *open* the share of labels that were left open.
"""

FEWEST_SPLITS = 10
WANTED = 10
"""How many times as fast as what is offered now."""

Groups = dict[tuple[str, str], dict[int, Scored]]


def page(rows: Iterable[Scored], kept: Iterable[Kept]) -> str:
    groups: Groups = defaultdict(dict)
    for row in rows:
        groups[row.dataset, row.method][row.fold] = row
    return "\n".join([*_head(), *_measures(groups), *_times(groups), *_promises(list(kept)), ""])


def _head() -> Iterator[str]:
    yield from ("# Decisions for measures of a whole set, and promises", "", fill(_INTRO, 118), "")
    yield "    ROWS=docs/results/decisions    # all rows of this page; a fold that is there is not run again"
    for command in ("decisions_for_sets $ROWS/sets.jsonl", "guarantees $ROWS/kept.jsonl"):
        yield f"    python -m benchmarks.{command}"
    yield "    python -m benchmarks.decisions_for_sets $ROWS/sets.jsonl --guarantees $ROWS/kept.jsonl --page PAGE"
    yield ""


def scores(group: dict[int, Scored], way: str, average: str) -> dict[int, float]:
    """Return the F1 of each fold, in percent."""
    return {fold: 100 * row.scores[way][average] for fold, row in sorted(group.items()) if way in row.scores}


def paired(ours: dict[int, float], theirs: dict[int, float]) -> np.ndarray:
    """Return the differences on the folds that both have."""
    return np.array([ours[fold] - theirs[fold] for fold in ours if fold in theirs])


def error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def shown(values: Iterable[float], sign: bool = False) -> str:
    found = np.array(list(values))
    if not len(found):
        return ""
    mean = f"{found.mean():+.1f}" if sign else f"{found.mean():.1f}"
    return mean + (f" ± {error(found):.1f}" if len(found) > 1 else "")


def _measures(groups: Groups) -> Iterator[str]:
    yield from ("## Macro- and micro-F1", "", fill(_FOLDS, 118))
    lacking = [
        f"{name} with {ours}" for ours in PEERS for name in DATASETS if len(groups.get((name, ours), ())) < FOLDS
    ]
    if lacking:
        yield from ("", fill(f"Not run on all {FOLDS} folds, or not at all: {', '.join(lacking)}.", 118))
    for ours, peer in PEERS.items():
        for average in AVERAGES:
            yield from ("", f"**{average.capitalize()}-F1, {ours}**", "")
            yield f"| | folds | one half | tuned | scikit-learn ({peer}) | gain | ahead |"
            yield "|---|--:|--:|--:|--:|--:|--:|"
            verdict = _Verdict(ours, average)
            for dataset in DATASETS:
                group = groups.get((dataset, ours), {})
                half, tuned = scores(group, "half", average), scores(group, average, average)
                if not tuned:
                    continue
                theirs = scores(groups.get((dataset, peer), {}), "tuned", average)
                gain, ahead = paired(tuned, half), paired(tuned, theirs)
                verdict.add(dataset, gain, ahead)
                few = f" ({len(theirs)})" if 0 < len(theirs) < len(tuned) else ""
                cells = (shown(half.values()), shown(tuned.values()), shown(theirs.values()) + few)
                yield (
                    f"| {dataset} | {len(tuned)} | {' | '.join(cells)} | {shown(gain, True)} | {shown(ahead, True)} |"
                )
            yield from ("", verdict.sentence())
    yield ""


class _Verdict:
    """What a table shows: the mean gain, and where something is worse by more than a standard error."""

    def __init__(self, ours: str, average: str) -> None:
        self.name = f"{average}-F1 of {ours}"
        self.gains: list[float] = []
        self.aheads: list[float] = []
        self.worse: dict[str, list[str]] = {"the cut at one half": [], "scikit-learn": []}

    def add(self, dataset: str, gain: np.ndarray, ahead: np.ndarray) -> None:
        self.gains.append(float(gain.mean()))
        if len(ahead):
            self.aheads.append(float(ahead.mean()))
        for what, values in zip(self.worse, (gain, ahead), strict=True):
            if len(values) > 1 and values.mean() < -error(values):
                self.worse[what].append(dataset)

    def sentence(self) -> str:
        if not self.gains:
            return ""
        said = [f"Mean gain over {len(self.gains)} datasets: {np.mean(self.gains):.1f} points"]
        if self.aheads:
            said.append(f"mean distance to scikit-learn over {len(self.aheads)}: {np.mean(self.aheads):+.1f}")
        text = "; ".join(said) + "."
        for what, datasets in self.worse.items():
            where = f"on {', '.join(datasets)}" if datasets else "nowhere"
            text += f" Worse than {what} by more than one standard error: {where}."
        return fill(text, 118)


def _times(groups: Groups) -> Iterator[str]:
    yield from ("## Time", "", fill(_TIMES, 118), "")
    yield "| | ours | scikit-learn, as written | ratio | bare | ratio |"
    yield "|---|--:|--:|--:|--:|--:|"
    near = []
    for ours, peer in PEERS.items():
        for dataset in DATASETS:
            mine = groups.get((dataset, ours), {})
            if not mine:
                continue
            seconds = float(np.mean([row.seconds for row in mine.values()]))
            cells = []
            for method in (peer + AS_WRITTEN, peer):
                theirs = groups.get((dataset, method), {})
                if not theirs:
                    cells += ["", ""]
                    continue
                first = theirs[min(theirs)]
                some = f"{first.timed} label{'s' * (first.timed > 1)}"
                part = f" (from {some})" if first.timed < first.labels else ""
                taken = float(np.mean([row.seconds for row in theirs.values()]))
                cells += [f"{taken:.1f}{part}", f"{taken / seconds:.1f}"]
                if method == peer + AS_WRITTEN and taken < WANTED * seconds:
                    near.append(f"{ours} on {dataset} ({taken / seconds:.1f})")
            yield f"| {ours}, {dataset} | {seconds:.2f} | {' | '.join(cells)} |"
    where = f"everywhere but for {', '.join(near)}" if near else "everywhere"
    yield from ("", fill(f"Ours are {WANTED} times as fast as scikit-learn's as written, or more, {where}.", 118))
    yield from ("", fill(_CAVEATS, 118), "")


def _promises(kept: list[Kept]) -> Iterator[str]:
    if not kept:
        return
    yield from ("## Promises", "", fill(_PROMISES, 118), "")
    yield "| | splits | asked | reached | open |"
    yield "|---|--:|--:|--:|--:|"
    missed = []
    for ensemble in ENSEMBLES:
        for dataset in PROMISED:
            rows = [row for row in kept if (row.ensemble, row.dataset) == (ensemble, dataset)]
            if len(rows) < FEWEST_SPLITS:
                continue
            for place, asked in enumerate(ASKED):
                reached = np.array([100 * row.reached[place] for row in rows])
                left = np.mean([100 * row.open[place] for row in rows])
                name = f"{ensemble}, {dataset}"
                if reached.mean() < 100 * asked - error(reached):
                    missed.append(f"{name} at {asked} ({reached.mean():.1f})")
                yield f"| {name} | {len(rows)} | {100 * asked:.0f} | {shown(reached)} | {left:.1f} |"
    where = (
        f"missed by more than a standard error: {', '.join(missed)}"
        if missed
        else "kept on average everywhere, within a standard error"
    )
    yield from (
        "",
        fill(f"The promise is {where}. It is approximate: out-of-bag beliefs are held by fewer members.", 118),
    )
