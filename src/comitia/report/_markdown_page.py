"""A page of results in Markdown: how they were made, what they say, and how far they are from the paper's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from comitia._names import shown
from comitia.report._claims import Beyond, MeanBeside, beyond, claims, means_beside, means_over_aggregations
from comitia.report._curves import curves
from comitia.report._tables import ComparisonTable
from comitia.report._vocabulary import title
from comitia.report._words import as_code, duration, in_markdown, markdown_table, number, signed

if TYPE_CHECKING:
    from comitia.report._results import Results

_UNSAID = {"kind", "loss", "aggregation", "random_state", "n_jobs", "warm_start", "verbose", "oob_score", "choose"}
"""Parameters that follow from the plan."""


def markdown_page(results: Results) -> str:
    """Write the page.

    It holds the command, seeds, time and machine; the paper's conclusions and whether they hold; means beside the
    paper's where its values are known; and every value, with its difference.
    """
    parts = [f"# {in_markdown(results.title)}", _how(results)]
    if "ensembles" in results.plan:
        parts.append(_settings(results))
    if results.failures:
        failed = (f"- {as_code(str(item['cell']))}: {in_markdown(str(item['error']))}" for item in results.failures)
        parts.append("## What failed\n\n" + "\n".join(failed))
    if results.has_curves:
        parts += curves(results)
    elif len(results.dataset_names) > 1:
        parts += [_conclusions(results), *_means(results)]
    parts += _tables(results)
    return shown("\n\n".join(parts)) + "\n"


def _how(results: Results) -> str:
    how, plan = results.provenance, results.plan
    machine, versions = how.get("machine", {}), how.get("versions", {})
    cores = f"{how.get('cores', '?')} core" + ("" if how.get("cores") == 1 else "s")
    commands = ", ".join(map(as_code, how.get("commands", [])))
    facts = {
        **({"command": commands} if commands else {}),
        "time": f"{duration(float(how.get('seconds', 0)), decimals=0)} on {cores} of "
        f"{machine.get('processor', 'an unknown processor')}"
        + (f", in {how['starts']} starts" if how.get("starts", 1) > 1 else ""),
        "cells": f"{how.get('cells', '')} (dataset, ensemble, repeat, fold), {len(results.rows):,} rows",
    }
    if plan:
        facts |= {
            "seed": f"{plan['seed']}; every other seed is derived from it and the names of dataset and ensemble",
            "folds": f"{plan['folds']}, {'stratified' if plan['stratified'] else 'plain, shuffled'}"
            + (f"; {plan['repeats']} repeats" if plan["repeats"] > 1 else ""),
        }
    facts |= {
        "started": str(how.get("started", "")),
        "versions": ", ".join(f"{name} {number}" for name, number in versions.items()),
        "plan's digest": f"`{how.get('digest', '')}`",
    }
    return markdown_table(["", ""], [[name, fact] for name, fact in facts.items()])


def _settings(results: Results) -> str:
    lines = ["## Settings, the same for all datasets", ""]
    for ensemble, setting in results.plan["ensembles"].items():
        said = [as_code(f"{name}={value!r}") for name, value in setting.items() if name not in _UNSAID]
        lines.append(f"- {_title(ensemble)}: {', '.join(said)}")
    if results.chosen:
        names = list(results.plan["datasets"])
        rows: dict[tuple[str, str], dict[str, list[str]]] = {}
        for choice in results.chosen:
            by_dataset = rows.setdefault((_title(choice["ensemble"]), as_code(choice["parameter"])), {})
            by_dataset.setdefault(choice["dataset"], []).append(
                f"{in_markdown(str(choice['value']))} ({choice['folds']})"
            )
        lines += [
            "",
            "Chosen on the training part of each fold, by the out-of-bag subset 0/1 loss of a few members"
            " (folds in brackets):",
            "",
            markdown_table(
                ["Ensemble", "Parameter", *map(in_markdown, names)],
                [[*key, *(", ".join(found.get(name, ())) for name in names)] for key, found in rows.items()],
            ),
        ]
    return "\n".join(lines)


def _conclusions(results: Results) -> str:
    found = claims(results.paper_blocks)
    ensembles = list(dict.fromkeys(claim.ensemble for claim in found))
    rows = []
    for sentence in dict.fromkeys(claim.sentence for claim in found):
        answers = {claim.ensemble: claim for claim in found if claim.sentence == sentence}
        rows.append(
            [sentence]
            + [f"{'yes' if answers[name].holds else '**no**'}: {answers[name].because}" for name in ensembles]
        )
    table = markdown_table(["", *map(_title, ensembles)], rows)
    return f"## The paper's conclusions\n\nAverage ranks among the paper's five aggregations, 1 is best.\n\n{table}"


def _means(results: Results) -> Iterator[str]:
    paper = results.published(curves=False)
    if paper is None:
        return
    lines = list(means_beside(results.paper_blocks))
    shared = [in_markdown(name) for name in results.dataset_names if name in set(paper["dataset"])]
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
            [[*_place(line), _title(line.method), *_beside(line)] for line in lines],
        )
    )
    others = [
        [
            *_place(line),
            _title(line.method),
            number(line.ours),
            f"{number(line.published)} ({_title(line.best_published)})",
            signed(line.ours - line.published),
        ]
        for line in beyond(results.blocks)
    ]
    if others:
        yield "### Beyond the paper\n\nWhat the paper does not have, beside the best that it has.\n\n" + markdown_table(
            ["Ensemble", "Measure (%)", "Aggregation", "here", "paper's best", "difference"], others
        )


def _title(name: str) -> str:
    return in_markdown(title(name))


def _place(line: MeanBeside | Beyond) -> list[str]:
    return [_title(line.ensemble), f"{in_markdown(line.measure.title)} {line.measure.arrow}"]


def _beside(line: MeanBeside) -> list[str]:
    return [
        number(line.beside.ours),
        number(line.beside.published),
        signed(line.beside.difference),
        number(line.allowed),
        "yes" if line.holds else "**no**",
    ]


def _tables(results: Results) -> Iterator[str]:
    several = len(results.dataset_names) > 1
    beside = "; the difference to the paper's value in brackets" if results.published(curves=False) is not None else ""
    for loss in results.losses:
        all_blocks = ComparisonTable(results.blocks_of(loss))
        shown = all_blocks.blocks[0].measure
        unit = "percent" if shown.percent else "mean"
        members = f"{results.rows['size'].max()} members; {unit} ± standard error over the folds"
        yield f"## {in_markdown(shown.title)}\n\n{members}, {shown.direction}; rank{beside}."
        if several and results.goes_beyond_the_paper:
            only = tuple(block for block in results.paper_blocks if block.measure.loss == loss)
            yield "The paper's five, with ranks among them:\n\n" + ComparisonTable(only).to_markdown().rstrip()
            yield "All, with ranks among all:"
        yield all_blocks.to_markdown().rstrip()
