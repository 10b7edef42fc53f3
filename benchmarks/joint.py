"""Data whose distribution is known: how far decisions are from the best possible ones, as instances grow.

The labels of ``make_joint`` depend on each other given the features.  The gap is the expected loss of a decision under
the true distribution, less that of the best decision.

    python -m benchmarks joint                              # a minute on one core
    python -m benchmarks.joint docs/results/joint.md        # the same, written with its figure beside it
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill

import numpy as np

from comitia import EBRClassifier, ECCClassifier, EMODTClassifier, LabelSets, get_loss
from comitia.datasets import make_joint
from comitia.relevance import Seen

SIZES = (100, 300, 1_000, 3_000, 10_000)
LOSSES = {"hamming": "Hamming loss", "subset01": "subset 0/1 loss", "f1": "1 − F1"}
WAYS = {
    "independent": "marginals, independent",
    "nonempty": "marginals, never empty",
    "seen": "marginals, seen labelsets",
    "chains": "chains, joint",
    "leaves": "leaves of trees, joint",
}
NEW = 1_000
DRAWS = 3


@dataclass(frozen=True)
class Gap:
    """The gap of every loss, in points, by one way from so many instances, of each draw."""

    way: str
    n: int
    gaps: dict[str, list[float]]
    best: dict[str, float]

    def line(self) -> str:
        shown = "  ".join(f"{loss} {np.mean(gaps):6.2f}" for loss, gaps in self.gaps.items())
        return f"{self.n:6} instances, {WAYS[self.way]:26}  points above the best: {shown}"


def run(*, quick: bool = False) -> Iterator[Gap]:
    sizes, draws = (SIZES[:2], 1) if quick else (SIZES, DRAWS)
    samples = [make_joint(NEW + sizes[-1], 5, 6, dependence=0.8, random_state=draw) for draw in range(draws)]
    truths = [LabelSets(sample.labelings, sample.probabilities[:NEW]) for sample in samples]
    losses = {name: get_loss(name) for name in LOSSES}
    best = {
        name: [100 * float(loss.risk(truth, loss.minimise(truth)).mean()) for truth in truths]
        for name, loss in losses.items()
    }
    for n in sizes:
        found: dict[str, dict[str, list[float]]] = {way: {loss: [] for loss in LOSSES} for way in WAYS}
        for draw, (sample, truth) in enumerate(zip(samples, truths, strict=True)):
            X, Y = sample.dataset.X, sample.dataset.Y
            for way, ensemble in decided_by(X[NEW : NEW + n], Y[NEW : NEW + n], draw):
                for name, loss in losses.items():
                    labeling = ensemble.set_params(loss=name).predict(X[:NEW])
                    risk = 100 * float(loss.risk(truth, labeling).mean())
                    found[way][name].append(risk - best[name][draw])
        for way, gaps in found.items():
            yield Gap(way, n, gaps, {name: float(np.mean(values)) for name, values in best.items()})


def decided_by(X: np.ndarray, Y: np.ndarray, seed: int) -> Iterator[tuple[str, object]]:
    """Yield fitted ensembles, by the names of their ways."""
    lines = EBRClassifier(n_estimators=20, aggregation="ctp", random_state=seed).fit(X, Y)
    yield "independent", lines.set_params(reading="independent")
    yield "nonempty", lines.set_params(reading="nonempty")
    yield "seen", lines.set_params(reading=Seen())
    joint = {"aggregation": "ctp-joint", "random_state": seed}
    yield "chains", ECCClassifier(n_estimators=20, chain_method="joint", **joint).fit(X, Y)
    yield "leaves", EMODTClassifier(50, **joint).fit(X, Y)


def page(gaps: list[Gap]) -> str:
    """Return the results as a page of Markdown, beside whose file is the figure."""
    best = ", ".join(f"{LOSSES[loss]} {value:.2f}" for loss, value in gaps[0].best.items())
    intro = (
        "On data from `make_joint` (five features, six labels, dependence 0.8) the distribution of the labels is known,"
        f" and so is the loss that the best possible decision is expected to have: {best} percent. The gap is what a"
        f" decision is expected to lose beyond that, in points; means over {DRAWS} draws, {NEW:,} new instances each."
    )
    picture = "![The gap of five beliefs to the best possible decision, by the number of instances.](joint.svg)"
    lines = ["# The gap to the best possible decision", "", fill(intro, 118), "", picture, ""]
    for loss, title in LOSSES.items():
        lines += [f"| {title} | " + " | ".join(f"n = {n:,}" for n in SIZES) + " |", "|---|" + "--:|" * len(SIZES)]
        for way, name in WAYS.items():
            row = [np.mean(gap.gaps[loss]) for gap in gaps if gap.way == way]
            lines.append(f"| {name} | " + " | ".join(f"{value:.2f}" for value in row) + " |")
        lines.append("")
    return "\n".join([*lines, fill(_WORDS, 118), "", "Made by `python -m benchmarks.joint docs/results/joint.md`.", ""])


_WORDS = """\
The true marginals are logistic, so those of EBR soon are right, and what their readings lack is the dependence of the
labels. Hamming loss needs none of it, and the gap of independent labels closes; for subset 0/1 loss four points of it
stay, however many instances there are, and for F1 a little. Some four in a hundred instances have no label here: *never
empty* takes for granted what is not so, and that stays, too. With six labels nearly every labelset is soon *seen*, so
that this says little more than independence. *Chains* learn the dependence as far as links are logistic, and for subset
0/1 loss come closest. *Leaves* assume nothing: they begin far off, and their gap goes on falling.
"""


def figure(gaps: list[Gap], target: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from comitia.report.figures import save
    from comitia.report.figures._look import INK, SMALL, TEXT, TITLE, quiet

    colours = ("#999999", "#e69f00", "#56b4e9", "#0072b2", "#009e73")
    drawn = Figure(figsize=(7.4, 2.7), layout="constrained")
    panels = drawn.subplots(1, len(LOSSES))
    for axes, (loss, title) in zip(panels, LOSSES.items(), strict=True):
        quiet(axes)
        for (way, name), colour, marker in zip(WAYS.items(), colours, "osv^D", strict=True):
            values = [np.mean(gap.gaps[loss]) for gap in gaps if gap.way == way]
            axes.plot(SIZES, values, color=colour, marker=marker, markersize=3.5, linewidth=1.2, label=name)
        axes.set(xscale="log", ylim=(0, None))
        axes.set_title(title, fontsize=TITLE, color=INK)
    panels[0].set_ylabel("points above the best possible", fontsize=TEXT, color=INK)
    panels[1].set_xlabel("instances", fontsize=TEXT, color=INK)
    drawn.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=SMALL, frameon=False
    )
    with mpl.rc_context({"svg.fonttype": "none"}):
        save(drawn, target, formats=("svg",))


def main() -> None:
    target = Path(sys.argv[1])
    gaps = list(run())
    target.write_text(page(gaps), encoding="utf-8")
    figure(gaps, target.with_suffix(""))


if __name__ == "__main__":
    main()
