"""A page of results in Markdown: how they were made, what they say, and how far they are from the paper's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from comitia.cli.claims import PAPER, Beyond, MeanBeside, beyond, claims, means_beside, means_over_aggregations
from comitia.cli.curves_page import curves
from comitia.cli.execution import duration
from comitia.cli.markdown import markdown_table, signed
from comitia.experiments import Store
from comitia.report import Run, comparison_table
from comitia.report.presentation import in_order, measure, title


def results_page(run: Run, store: Store) -> str:
    """Write the page.

    It holds the command, seeds, time and machine; the paper's conclusions and whether they hold; means beside the
    paper's where its values are known; and every value, with its difference.
    """
    parts = [f"# {run.title}", _how(run, store), _settings(store)]
    if run.failures:
        parts.append("## What failed\n\n" + "\n".join(f"- `{item['cell']}`: {item['error']}" for item in run.failures))
    if run.rows["size"].nunique() > 1:
        parts += curves(run)
    elif run.rows["dataset"].nunique() > 1:
        parts += [_conclusions(run), *_means(run)]
    parts += _tables(run)
    return "\n\n".join(parts) + "\n"


def _how(run: Run, store: Store) -> str:
    how = run.provenance
    machine, versions = how.get("machine", {}), how.get("versions", {})
    cores = f"{how.get('cores', '?')} core" + ("" if how.get("cores") == 1 else "s")
    facts = {
        "command": ", ".join(f"`{command}`" for command in how.get("commands", [])),
        "time": f"{duration(float(how.get('seconds', 0)))} on {cores} of "
        f"{machine.get('processor', 'an unknown processor')}"
        + (f", in {how['starts']} starts" if how.get("starts", 1) > 1 else ""),
        "cells": f"{how.get('cells', '')} (dataset, ensemble, repeat, fold), {len(run.rows):,} rows",
        "seed": f"{store.plan.seed}; every other seed is derived from it and the names of dataset and ensemble",
        "folds": f"{store.plan.folds}, {'stratified' if store.plan.stratified else 'plain, shuffled'}"
        + (f"; {store.plan.repeats} repeats" if store.plan.repeats > 1 else ""),
        "started": str(how.get("started", "")),
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
        "plan's digest": f"`{how.get('digest', '')}`",
    }
    return markdown_table(["", ""], [[name, fact] for name, fact in facts.items()])


def _settings(store: Store) -> str:
    unsaid = {"kind", "loss", "aggregation", "random_state", "n_jobs", "warm_start", "verbose", "oob_score"}
    lines = ["## Settings, the same for all datasets", ""]
    for ensemble, setting in store.identity()["ensembles"].items():
        said = [f"`{name}={value!r}`" for name, value in setting.items() if name not in unsaid]
        lines.append(f"- {title(ensemble)}: {', '.join(said)}")
    chosen = _chosen(store)
    if chosen:
        names = [source.name for source in store.plan.datasets]
        rows = [[*key, *(", ".join(by_dataset.get(name, ())) for name in names)] for key, by_dataset in chosen.items()]
        lines += [
            "",
            "Chosen on the training part of each fold, by the out-of-bag subset 0/1 loss of a few members"
            " (folds in brackets):",
        ]
        lines += ["", markdown_table(["Ensemble", "Parameter", *names], rows)]
    return "\n".join(lines)


def _chosen(store: Store) -> dict[tuple[str, str], dict[str, list[str]]]:
    """For each ensemble and parameter, and each dataset, the values chosen and in how many folds, most often first."""
    found: dict[tuple[str, str], dict[str, Counter[Any]]] = {}
    for cell in store.plan.cells():
        if store.finished(cell):
            for name, value in store.cell_provenance(cell).get("chosen", {}).items():
                by_dataset = found.setdefault((title(cell.ensemble), f"`{name}`"), {})
                by_dataset.setdefault(cell.dataset, Counter())[value] += 1
    return {
        key: {name: [f"{value} ({n})" for value, n in counts.most_common()] for name, counts in by_dataset.items()}
        for key, by_dataset in found.items()
    }


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
    table = markdown_table(["", *map(title, ensembles)], rows)
    return f"## The paper's conclusions\n\nAverage ranks among the paper's five aggregations, 1 is best.\n\n{table}"


def _means(run: Run) -> Iterator[str]:
    paper = run.published(curves=False)
    if paper is None:
        return
    lines = list(means_beside(run.rows, paper))
    shared = [name for name in run.rows["dataset"].unique() if name in set(paper["dataset"])]
    heads = ["here", "paper", "difference", "may be worse by", "holds"]
    yield (
        f"## Means beside the paper's\n\nMeans over {', '.join(shared)}. A mean may be worse than the paper's by one "
        "point or two of its standard errors, whichever is larger. For each ensemble and measure, over the paper's "
        "aggregations (those that cannot differ count once):\n\n"
        + markdown_table(
            ["Ensemble", "Measure (%)", *heads],
            [[*_place(line), *_beside(line)] for line in means_over_aggregations(lines)],
        )
        + "\n\nFor each aggregation:\n\n"
        + markdown_table(
            ["Ensemble", "Measure (%)", "Aggregation", *heads],
            [[*_place(line), title(line.method), *_beside(line)] for line in lines],
        )
    )
    others = [
        [
            *_place(line),
            title(line.method),
            f"{line.ours:.2f}",
            f"{line.published:.2f} ({title(line.best_published)})",
            signed(line.ours - line.published),
        ]
        for line in beyond(run.rows, paper)
    ]
    if others:
        yield "### Beyond the paper\n\nWhat the paper does not have, beside the best that it has.\n\n" + markdown_table(
            ["Ensemble", "Measure (%)", "Aggregation", "here", "paper's best", "difference"], others
        )


def _place(line: MeanBeside | Beyond) -> list[str]:
    return [title(line.ensemble), f"{line.measure.title} {line.measure.arrow}"]


def _beside(line: MeanBeside) -> list[str]:
    return [
        f"{line.ours:.2f}",
        f"{line.published:.2f}",
        signed(line.ours - line.published),
        f"{line.allowed:.2f}",
        "yes" if line.holds else "**no**",
    ]


def _tables(run: Run) -> Iterator[str]:
    paper = run.published(curves=False)
    known = [name for name in PAPER if name in set(run.rows["aggregation"])]
    beside = "; the difference to the paper's value in brackets" if paper is not None else ""
    for loss in in_order(run.rows["loss"]):
        shown = measure(loss)
        members = f"{run.rows['size'].max()} members; percent ± standard error over the folds"
        yield f"## {shown.title}\n\n{members}, {shown.direction}; rank{beside}."
        if run.rows["dataset"].nunique() > 1 and len(known) < run.rows["aggregation"].nunique():
            only = comparison_table(run.rows, losses=[loss], aggregations=known, paper=paper)
            yield "The paper's five, with ranks among them:\n\n" + only.to_markdown().rstrip()
            yield "All, with ranks among all:"
        yield comparison_table(run.rows, losses=[loss], paper=paper).to_markdown().rstrip()
