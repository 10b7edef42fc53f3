"""A page of results in Markdown: how they were made, what they say, and how far they are from the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from comitia.cli.claims import PAPER, claims, means_beside
from comitia.cli.execution import duration
from comitia.experiments import Store
from comitia.report import Run, comparison_table
from comitia.report.blocks import checked_rows, curve
from comitia.report.presentation import Measure, in_order, measure, title


def results_page(run: Run, store: Store) -> str:
    """Write the page.

    It holds the command, seeds, time and machine; the paper's conclusions and whether they hold; means beside the
    paper's where its values are known; and every value, with its difference.
    """
    parts = [f"# {run.title}", _how(run, store), _settings(store)]
    if run.failures:
        parts.append("## What failed\n\n" + "\n".join(f"- `{item['cell']}`: {item['error']}" for item in run.failures))
    if run.rows["size"].nunique() > 1:
        parts += _curves(run)
    if run.rows["dataset"].nunique() > 1:
        parts += [_conclusions(run), *_means(run)]
    parts += _tables(run)
    return "\n\n".join(parts) + "\n"


def _how(run: Run, store: Store) -> str:
    how = run.provenance
    machine, versions = how.get("machine", {}), how.get("versions", {})
    facts = {
        "command": f"`{how.get('command', '')}`",
        "time": f"{duration(float(how.get('seconds', 0)))} on {how.get('cores', '?')} cores of "
        f"{machine.get('processor', 'an unknown processor')}"
        + (f", in {how['starts']} starts" if how.get("starts", 1) > 1 else ""),
        "cells": f"{how.get('cells', '')} (dataset, ensemble, repeat, fold), {len(run.rows):,} rows",
        "seed": f"{store.plan.seed}; every other seed is derived from it and the names of dataset and ensemble",
        "folds": f"{store.plan.folds}, {'stratified' if store.plan.stratified else 'plain, shuffled'}"
        + (f"; {store.plan.repeats} repeats" if store.plan.repeats > 1 else ""),
        "started": str(how.get("started", "")),
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
        "plan's digest": f"`{store.plan.digest()}`",
    }
    return _table(["", ""], [[name, fact] for name, fact in facts.items()])


def _settings(store: Store) -> str:
    unsaid = {"loss", "aggregation", "random_state", "n_jobs", "warm_start", "verbose", "oob_score"}
    lines = ["## Settings, the same for all datasets", ""]
    for setting in store.plan.ensembles:
        said = {name: value for name, value in setting.resolved().items() if name not in unsaid}
        lines.append(f"- {title(setting.name)}: " + ", ".join(f"`{name}={value!r}`" for name, value in said.items()))
    return "\n".join(lines)


def _conclusions(run: Run) -> str:
    found = claims(run.rows)
    ensembles = list(dict.fromkeys(claim.ensemble for claim in found))
    rows = []
    for sentence in dict.fromkeys(claim.sentence for claim in found):
        answers = {claim.ensemble: claim for claim in found if claim.sentence == sentence}
        rows.append(
            [sentence]
            + [f"{'yes' if answers[name].holds else '**no**'}: {answers[name].because}" for name in ensembles]
        )
    return "## The paper's conclusions\n\nAverage ranks among the paper's five aggregations, 1 is best.\n\n" + _table(
        ["", *map(title, ensembles)], rows
    )


def _means(run: Run) -> Iterator[str]:
    paper = run.published(curves=False)
    if paper is None:
        return
    rows = [
        [
            title(line.ensemble),
            f"{line.measure.title} {line.measure.arrow}",
            title(line.method),
            f"{line.ours:.2f}",
            f"{line.published:.2f}",
            f"{line.ours - line.published:+.2f}",
            f"{line.allowed:.2f}",
            "yes" if line.holds else "**no**",
        ]
        for line in means_beside(run.rows, paper)
    ]
    shared = [name for name in run.rows["dataset"].unique() if name in set(paper["dataset"])]
    yield (
        f"## Means beside the paper's\n\nMeans over {', '.join(shared)}. A mean may be worse than the paper's by one "
        "point or two of its standard errors, whichever is larger.\n\n"
        + _table(
            ["Ensemble", "Measure (%)", "Aggregation", "here", "paper", "difference", "may be worse by", "holds"], rows
        )
    )


def _tables(run: Run) -> Iterator[str]:
    paper = run.published(curves=False)
    known = [name for name in PAPER if name in set(run.rows["aggregation"])]
    beside = "; the difference to the paper's value in brackets" if paper is not None else ""
    for loss in in_order(run.rows["loss"]):
        shown = measure(loss)
        yield f"## {shown.title}\n\nPercent ± standard error over the folds, {shown.direction}; rank{beside}."
        if run.rows["dataset"].nunique() > 1 and len(known) < run.rows["aggregation"].nunique():
            only = comparison_table(run.rows, losses=[loss], aggregations=known, paper=paper)
            yield "The paper's five, with ranks among them:\n\n" + only.to_markdown().rstrip()
            yield "All, with ranks among all:"
        yield comparison_table(run.rows, losses=[loss], paper=paper).to_markdown().rstrip()


def _curves(run: Run) -> Iterator[str]:
    """Values over ensemble sizes, a table for each dataset and measure."""
    paper = run.published(curves=True)
    rows = checked_rows(run.rows)
    yield "## Over ensemble sizes\n\nPercent" + (
        "; the difference to the paper's value in brackets." if paper is not None else "."
    )
    apart = []
    for (ensemble, dataset, loss), part in _groups(rows):
        shown = measure(loss)
        published = _published(paper, ensemble, dataset, shown)
        lines = []
        for method in in_order(part["method"]):
            sizes, values, _ = curve(part, method, shown)
            differences = [
                values[i] - published[method, size] for i, size in enumerate(sizes) if (method, size) in published
            ]
            apart += [(ensemble, dataset, loss, abs(difference)) for difference in differences]
            by_size = dict(zip(sizes, values, strict=True))
            lines.append([title(method), *(_curve_cell(by_size, published, method, size) for size in _sizes(part))])
        yield f"### {title(ensemble)} on {dataset}, {shown.title} {shown.arrow}\n\n" + _table(
            ["Members", *map(str, _sizes(part))], lines
        )
    if apart:
        summary = pd.DataFrame(apart, columns=["ensemble", "dataset", "loss", "difference"])
        means = summary.pivot_table(index="dataset", columns="loss", values="difference", sort=False)
        lines = [
            [str(name), *(f"{value:.2f}" for value in values)]
            for name, values in zip(means.index, means.to_numpy(), strict=True)
        ]
        yield "### Mean distance from the paper's values, in points\n\n" + _table(
            ["", *(measure(loss).title for loss in means.columns)], lines
        )


def _groups(rows: pd.DataFrame) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    for ensemble in rows["ensemble"].unique():
        for dataset in rows["dataset"].unique():
            for loss in in_order(rows["loss"]):
                part = rows[(rows["ensemble"] == ensemble) & (rows["dataset"] == dataset) & (rows["loss"] == loss)]
                if len(part):
                    yield (ensemble, dataset, loss), part


def _published(paper: pd.DataFrame | None, ensemble: str, dataset: str, shown: Measure) -> dict[Any, float]:
    if paper is None:
        return {}
    part = paper[(paper["ensemble"] == ensemble) & (paper["dataset"] == dataset) & (paper["loss"] == shown.loss)]
    return {(row.aggregation, row.size): shown.shown(float(row.value)) for row in part.itertuples()}


def _sizes(rows: pd.DataFrame) -> list[int]:
    return sorted(int(size) for size in rows["size"].unique())


def _curve_cell(values: dict[Any, float], published: dict[Any, float], method: str, size: int) -> str:
    if size not in values:
        return "–"
    text = f"{values[size]:.2f}"
    if (method, size) in published:
        text += f" ({np.round(values[size] - published[method, size], 2) + 0.0:+.2f})"
    return text


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    ruled = ["---", *["--:"] * (len(heads) - 1)] if len(heads) > 4 else ["---"] * len(heads)
    return "\n".join("| " + " | ".join(line) + " |" for line in (heads, ruled, *rows))
