"""docs/results/peers.md, made of the rows of ``python -m benchmarks peers`` and of nothing else."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.peers_results import COMMITTEE, SUFFIX, Results

TITLES = {"hamming": "Hamming loss ↓", "subset01": "Subset 0/1 loss ↓", "f1": "F1-measure ↑"}
LEVEL = 0.05
# What was asked for, in percent, of the committee on ten folds: at most, at most, at least.
GOALS = {
    "emotions": {"hamming": 17.8, "subset01": 63.5, "f1": 70.5},
    "flags": {"hamming": 23.5, "subset01": 75.0, "f1": 75.0},
    "scene": {"hamming": 7.6, "subset01": 26.0, "f1": 79.5},
}
# How many times a peer's whole cross-validation the committee's may take, where there are fourteen labels or more.
TIMES = {"CatBoost MultiLogloss": 1.0, "LightGBM a label": 1.0, "BOOMER": 2.0}
MANY_LABELS = 14
# With nothing but defaults, ours on the left is to be no worse than the peer on the right.
DEFAULTS = (
    ("EBR", "logistic regression a label"),
    ("ECC", "logistic regression a label"),
    ("EMODT", "random forest"),
)


def page(rows: Iterable[dict[str, Any]], datasets: Iterable[str], order: Iterable[str]) -> str:
    """Write the page: tables of losses with ranks, tests, times, weights, and which goals are reached."""
    results = Results(rows, datasets, order)
    parts = [head(results)]
    parts += [loss_table(results, loss) for loss in TITLES]
    parts += [tests(results), best_peers(results), defaults(results), decided(results)]
    parts += [times(results), weights(results), goals(results)]
    return "\n\n".join(part for part in parts if part) + "\n"


def head(results: Results) -> str:
    machines = sorted({row["machine"] for row in results.rows})
    versions = sorted({row["version"] for row in results.rows})
    how = f"""{results.n_folds} folds (`KFold({results.n_folds}, shuffle=True, random_state=1)`), defaults of every
        library, one thread a fold, in percent ± standard error over the folds; the best of each column is bold.
        Ours decide for each loss: by the choice of their out-of-bag losses, or as they come. Peers cut at one
        half; with *tuned cuts* at a cut for each label, found on a fifth of the training rows so that the mean F1
        of instances is largest, before they are fitted to all training rows. *BOOMER, set for the loss* decides
        by its own predictor for each loss (label by label, the likeliest label set seen, its F1-maximiser) with
        the loss that decomposes, *BOOMER, joint loss* with the one that does not."""
    source = """This page is written by `python -m benchmarks peers --folder FOLDER --page docs/results/peers.md` from
        the rows of the folds, which `python -m benchmarks peers --folder FOLDER` computes (peers: `pip install
        "comitia[peers]"`). Where a method was run on fewer folds than the others, their number stands behind its
        figure and it has no rank; – means that it was not run."""
    computed = f"Computed with {', '.join(versions)}, on {' and '.join(machines)}."
    title = "# Beside what a user would pick instead"
    return "\n\n".join([title, *(paragraph(text) for text in (how, source, computed))])


def paragraph(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def loss_table(results: Results, loss: str) -> str:
    titles = [title for title in shown(results) if loss == "f1" or not title.endswith(SUFFIX["cuts"])]
    ranks = results.ranks(titles, loss)
    best = {dataset: smallest(results, dataset, titles, loss) for dataset in results.datasets}
    lines = []
    for title in titles:
        cells = [figure(results, dataset, title, loss, title in best[dataset]) for dataset in results.datasets]
        lines.append([title, *cells, f"{ranks[title]:.1f}" if title in ranks else "–"])
    return f"## {TITLES[loss]}\n\n" + table(["", *results.datasets, "average rank"], lines)


def shown(results: Results) -> list[str]:
    """Return the rows of the tables of losses: ours by their choice, and peers as their users have them."""
    return [title for title in results.titles if is_choice(results, title)] + results.peers


def is_choice(results: Results, title: str) -> bool:
    return title in results.ours and not title.endswith(SUFFIX["default"])


def smallest(results: Results, dataset: str, titles: list[str], loss: str) -> list[str]:
    full = [title for title in titles if len(results.losses(dataset, title, loss)) == results.folds[dataset]]
    means = {title: results.mean(dataset, title, loss) or 0.0 for title in full}
    return [title for title in full if round(means[title], 2) == round(min(means.values()), 2)]


def figure(results: Results, dataset: str, title: str, loss: str, bold: bool) -> str:
    mean = results.mean(dataset, title, loss)
    if mean is None:
        return "–"
    value = f"{measure(loss, mean):.2f}"
    text = f"**{value}**" if bold else value
    folds = len(results.losses(dataset, title, loss))
    if folds > 1:
        text += f" ± {results.error(dataset, title, loss):.2f}"
    return text if folds == results.folds[dataset] else f"{text} ({folds})"


def measure(loss: str, percent: float) -> float:
    return 100 - percent if loss == "f1" else percent


def tests(results: Results) -> str:
    """Tell on how many datasets the committee is better, not different and worse, by the corrected resampled test."""
    lines = []
    for title in shown(results):
        cells = []
        for loss in TITLES:
            pairs = [results.compare(dataset, COMMITTEE, title, loss) for dataset in results.datasets]
            found = [pair for pair in pairs if pair is not None]
            sure = [pair.mean for pair in found if pair.p_value < LEVEL]
            better, worse = sum(mean < 0 for mean in sure), sum(mean > 0 for mean in sure)
            cells.append(f"{better} – {len(found) - better - worse} – {worse}" if found else "")
        if title != COMMITTEE and any(cells):
            lines.append([title, *cells])
    text = "Datasets on which the committee is better – not different – worse, by the corrected resampled t-test at 5%:"
    return f"## The committee against each\n\n{text}\n\n{table(['', *TITLES.values()], lines)}" if lines else ""


def best_peers(results: Results) -> str:
    lines = []
    for dataset in results.datasets:
        for loss, name in TITLES.items():
            peer = results.best_peer(dataset, loss, COMMITTEE)
            found = results.compare(dataset, COMMITTEE, peer, loss) if peer else None
            if found:
                verdict = "**worse**" if found.worse else "better" if found.mean < -found.error else "alike"
                lines.append([dataset, name, str(peer), str(found), str(found.folds), verdict])
    text = paragraph(
        """The committee's loss minus that of the best peer, in points (below zero: the committee is better; 100 − F1
        is a loss here), with the standard error of the paired difference and the p of the corrected resampled
        t-test. Worse and better mean: by more than one standard error."""
    )
    heads = ["dataset", "measure", "best peer", "difference", "folds", "the committee is"]
    return f"## The committee against the best peer\n\n{text}\n\n{table(heads, lines)}" if lines else ""


def defaults(results: Results) -> str:
    lines = []
    for name, peer in DEFAULTS:
        title = name + SUFFIX["default"]
        for loss, measured in TITLES.items():
            pairs = [results.compare(dataset, title, peer, loss) for dataset in results.datasets]
            cells = [("" if pair is None else f"{pair.mean:+.2f} ± {pair.error:.2f}") for pair in pairs]
            marked = [
                f"**{cell}**" if pair is not None and pair.worse else cell
                for cell, pair in zip(cells, pairs, strict=True)
            ]
            if any(cells):
                lines.append([f"{name} against {peer}", measured, *marked])
    text = "Our defaults minus theirs, in points of loss; bold where ours are worse by more than one standard error."
    return f"## Defaults\n\n{text}\n\n{table(['', '', *results.datasets], lines)}" if lines else ""


def decided(results: Results) -> str:
    """Tell what our decision for F1 makes of the peers' probabilities, on average over the datasets that a peer has."""
    lines = []
    for title in results.titles:
        if not title.endswith(SUFFIX["decided"]):
            continue
        name = title.removesuffix(SUFFIX["decided"])
        where = [dataset for dataset in results.datasets if results.mean(dataset, title, "f1") is not None]
        cells = []
        for way in (name, name + SUFFIX["cuts"], title):
            means = [results.mean(dataset, way, "f1") for dataset in where]
            known = [mean for mean in means if mean is not None]
            cells.append(f"{measure('f1', sum(known) / len(known)):.2f}" if len(known) == len(where) else "–")
        lines.append([name, str(len(where)), *cells])
    heads = ["F1-measure ↑", "datasets", "cut at one half", "tuned cuts", "our decision"]
    text = paragraph(
        """What our exact decision for F1 makes of the peers' probabilities, without another fit (labels read as
        independent, so that for the other two losses it is the cut at one half); means over the datasets:"""
    )
    return f"## Our decision over their probabilities\n\n{text}\n\n{table(heads, lines)}" if lines else ""


def times(results: Results) -> str:
    methods = [title.removesuffix(SUFFIX["oob"]) for title in shown(results) if not title.endswith(SUFFIX["cuts"])]
    parts = []
    for kind, name in (("cpu", "processor seconds"), ("wall", "seconds on the clock")):
        lines = []
        for method in methods:
            found = [results.seconds(dataset, method, kind) for dataset in results.datasets]
            lines.append([method, *("–" if value is None else f"{value:,.1f}" for value in found)])
        parts.append(table([f"{name}, all folds", *results.datasets], lines))
    text = paragraph(
        f"""Of a whole cross-validation on one core, the mean fold's times {results.n_folds}: one fit and the
        predictions for all three losses, compiled functions loaded before. Peers without tuned cuts, which cost
        most of another fit. The clock also counts what else the machine did. {on_two_machines(results)}"""
    )
    return f"## Time\n\n{text}\n\n" + "\n\n".join(parts)


def on_two_machines(results: Results) -> str:
    """Say for which datasets times are of different machines, and do not compare."""
    of = {name: {row["machine"] for row in results.rows if row["dataset"] == name} for name in results.datasets}
    mixed = [name for name, machines in of.items() if len(machines) > 1]
    where = f"Not all rows of {', '.join(mixed)} are of one machine: their times compare only roughly."
    return where if mixed else ""


def weights(results: Results) -> str:
    found = {dataset: results.weights(dataset) for dataset in results.datasets}
    names = dict.fromkeys(name for weights in found.values() for name in weights)
    lines = [
        [name, *(f"{of[name]:.2f}" if name in of else "–" for of in (found[dataset] for dataset in results.datasets))]
        for name in names
    ]
    text = "What the committee weighs, on average over the folds:"
    return f"{text}\n\n{table(['weight', *results.datasets], lines)}" if lines else ""


def goals(results: Results) -> str:
    lines = [f"- {line}" for line in (*rank_goals(results), *figure_goals(results), *time_goals(results))]
    return "## Goals\n\n" + "\n".join(lines) if lines else ""


def rank_goals(results: Results) -> Iterator[str]:
    for loss, name in TITLES.items():
        ranks = results.ranks(shown(results), loss)
        if COMMITTEE in ranks:
            best = min(ranks, key=lambda title: ranks[title])
            first = ranks[COMMITTEE] <= ranks[best]
            beside = "" if first else f"; {best} has {ranks[best]:.2f}"
            yield (
                f"{name[:-2]}: the committee's average rank over {len(results.datasets)} datasets is "
                f"{ranks[COMMITTEE]:.2f}, {'the best' if first else 'not the best'} of {len(ranks)}{beside}."
            )
    pairs = [(d, loss, results.best_peer(d, loss, COMMITTEE)) for d in results.datasets for loss in TITLES]
    found = [(d, loss, peer, results.compare(d, COMMITTEE, peer, loss)) for d, loss, peer in pairs if peer]
    worse = [
        f"{d} {TITLES[loss][:-2]} (by {pair.mean:.2f} ± {pair.error:.2f})"
        for d, loss, _, pair in found
        if pair and pair.worse
    ]
    if found:
        yield (
            f"Worse than the best peer by more than one standard error in {len(worse)} of {len(found)} comparisons"
            f"{': ' + ', '.join(worse) if worse else ''}."
        )


def figure_goals(results: Results) -> Iterator[str]:
    for dataset, wanted in GOALS.items():
        for loss, goal in wanted.items():
            mean = results.mean(dataset, COMMITTEE, loss)
            if mean is None:
                continue
            value = measure(loss, mean)
            reached = value >= goal if loss == "f1" else value <= goal
            sign = "at least" if loss == "f1" else "at most"
            verdict = "reached" if reached else "not reached"
            yield f"{dataset}, {TITLES[loss][:-2]} {sign} {goal}: {value:.2f}, {verdict}."


def time_goals(results: Results) -> Iterator[str]:
    for dataset in results.datasets:
        ours = results.seconds(dataset, COMMITTEE)
        if ours is None or results.labels(dataset) < MANY_LABELS:
            continue
        for peer, allowed in TIMES.items():
            theirs = results.seconds(dataset, peer)
            if theirs is not None:
                verdict = "reached" if ours <= allowed * theirs else "not reached"
                yield (
                    f"{dataset} (K = {results.labels(dataset)}): the committee takes {ours / theirs:.2f} times the "
                    f"processor time of {peer}, at most {allowed:g} allowed: {verdict}."
                )


def short_table(rows: Iterable[dict[str, Any]], datasets: Iterable[str], order: Iterable[str]) -> str:
    """Write the README's table: the committee and trees beside what users pick today, without standard errors."""
    results = Results(rows, datasets, order)
    wanted = [COMMITTEE, "EMODT" + SUFFIX["oob"], "random forest", "LightGBM a label", "XGBoost a label"]
    wanted += ["BOOMER, set for the loss"]
    titles = [title for title in wanted if title in results.titles]
    lines = []
    for loss, name in TITLES.items():
        for title in titles:
            best = {dataset: smallest(results, dataset, titles, loss) for dataset in results.datasets}
            cells = []
            for dataset in results.datasets:
                mean = results.mean(dataset, title, loss)
                whole = len(results.losses(dataset, title, loss)) == results.folds[dataset]
                text = f"{measure(loss, mean):.1f}" if mean is not None and whole else "–"
                cells.append(f"**{text}**" if title in best[dataset] else text)
            first = f"{name}: " if title == titles[0] else ""
            lines.append([first + title.removesuffix(SUFFIX["oob"]), *cells])
    return table(["", *results.datasets], lines)


def table(heads: list[str], lines: list[list[str]]) -> str:
    rule = "|---|" + "--:|" * (len(heads) - 1)
    return "\n".join(["| " + " | ".join(heads) + " |", rule, *("| " + " | ".join(line) + " |" for line in lines)])
