"""The page: one HTML file with everything in it, that asks nobody for anything; and a small piece for notebooks."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Mapping
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from comitia.report._answers import Answer
from comitia.report._beneath import beneath
from comitia.report._interactive import figure_data
from comitia.report._picture import picture
from comitia.report._recommendation import abbreviations
from comitia.report._tables import ComparisonTable
from comitia.report._vocabulary import measure, title
from comitia.report._words import by_error, duration

if TYPE_CHECKING:
    from comitia.report._results import Results


def page(results: Results) -> str:
    """Render results as one self-contained HTML page.

    Everything that comes from the results is escaped where it is written: as text in the markup, and as JSON without
    ``<``, ``>`` and ``&`` in scripts.  The page's policy forbids it to load anything.
    """
    from plotly.offline import get_plotlyjs

    environment = _environment()
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.get_template("page.html.jinja").render(
        summary(results),
        style=_source("page.css"),
        scripts=[_source("page.js"), _source("figures.js")],
        # Packed, as the page would be twice as large; browsers unpack it in a moment.
        plotly=b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode(),
    )


def fragment(results: Results) -> str:
    """Render the answer and the tables as a piece of HTML without scripts, for a notebook's cell."""
    tables = [(block[0].measure, block) for block in map(results.blocks_of, results.losses)]
    return (
        _environment()
        .get_template("notebook.html.jinja")
        .render(
            facts=results.facts,
            failures=by_error(results.failures),
            recommendations=results.recommendations,
            abbreviations=abbreviations(results.recommendations),
            tables=[(shown, Markup(ComparisonTable(blocks).to_html(buttons=False))) for shown, blocks in tables],
            style=_source("notebook.css"),
        )
    )


def summary(results: Results) -> dict[str, Any]:
    """Gather what the page shows, in the order in which it does."""
    tables, cards = _tables(results), _cards(results)
    copies = {table["id"]: {"latex": table["latex"], "markdown": table["markdown"]} for table in tables}
    copies |= {one["id"]: one["copies"] for card in cards for one in card["use"]}
    return {
        "title": results.title,
        "facts": results.facts,
        "cards": cards,
        "alone": len(results.dataset_names) == 1,
        "abbreviations": abbreviations(results.recommendations),
        "picture": picture(results),
        "beneath": beneath(results),
        "failures": by_error(results.failures),
        "tables": tables,
        "copies": copies,
        "figures": figure_data(results),
        "digits": _digits(results),
        "datasets": [_dataset(dataset) for dataset in results.datasets],
        "provenance": _entries(results.provenance),
    }


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("comitia.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _cards(results: Results) -> list[dict[str, Any]]:
    cards = []
    for number, loss in enumerate(results.losses):
        of_loss = [answer for answer in results.answers if answer.measure.loss == loss]
        by_method = sorted(of_loss, key=lambda answer: [a.best for a in of_loss].index(answer.best))
        verdicts = [
            (title(method), [title(answer.ensemble) for answer in group])
            for method, group in groupby(by_method, key=lambda answer: answer.best)
        ]
        use = [
            {
                "id": f"use-{number}-{place}",
                "choice": one.choice,
                "plain": one.plain,
                "learnt": one.learnt,
                "rivals": one.rivals_text,
                "code": one.python,
                "command": one.command,
                "copies": {"code": f"{one.python}\n", "command": one.command},
            }
            for place, one in enumerate(one for one in results.recommendations if one.loss == loss)
        ]
        lines = [(title(answer.ensemble), answer.text, _verdict(answer)) for answer in of_loss]
        cards.append({"measure": results.blocks_of(loss)[0].measure, "use": use, "verdicts": verdicts, "lines": lines})
    return cards


def _verdict(answer: Answer) -> str:
    if not answer.test:
        return "not tested"
    return "significant" if answer.better_than else "not significant"


def _tables(results: Results) -> list[dict[str, Any]]:
    tables = [_table(ComparisonTable(results.blocks_of(loss)), f"table-{loss}") for loss in results.losses]
    if results.published(curves=False) is not None and results.goes_beyond_the_paper:
        for loss in results.losses:
            found = ComparisonTable(tuple(block for block in results.paper_blocks if block.measure.loss == loss))
            tables.append(_table(found, f"paper-{loss}", among="; the paper's aggregations only"))
    return tables


def _table(table: ComparisonTable, identifier: str, among: str = "") -> dict[str, Any]:
    heading = table.blocks[0].measure.heading + among
    return {
        "id": identifier,
        "heading": heading,
        "html": Markup(table.to_html(caption=heading)),
        "latex": table.to_latex(),
        "markdown": table.to_markdown(),
        "has_paper": table.has_paper,
    }


def _digits(results: Results) -> dict[str, Any] | None:
    if results.digits is None:
        return None
    from comitia.report.figures import seven_segments
    from comitia.report.figures._files import as_svg

    picture = as_svg(seven_segments(results.digits))
    return {
        "image": "data:image/svg+xml;base64," + b64encode(picture.encode()).decode(),
        "measure": measure(results.digits.loss).title if results.digits.loss else "",
        "aggregations": ", ".join(title(name) for name in results.digits.labelings),
    }


def _dataset(dataset: Mapping[str, Any]) -> dict[str, Any]:
    names = [str(name) for name in dataset.get("label_names", ())]
    frequencies = [float(share) for share in dataset.get("label_frequencies", ())]
    by_frequency = sorted(zip(names, frequencies, strict=True), key=lambda pair: -pair[1])
    numbers = {key: dataset.get(key) for key in ("n", "d", "K", "cardinality", "density")}
    return {"name": str(dataset["name"]), "numbers": numbers, "labels": by_frequency}


def _entries(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Turn nested mappings into nested lists of name and text."""
    entries: list[tuple[str, Any]] = []
    for name, value in values.items():
        if isinstance(value, Mapping):
            entries.append((str(name), _entries(value)))
        elif name == "seconds":
            entries.append(("time", duration(float(value))))
        elif isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
            entries.append((str(name), _entries({str(count): part for count, part in enumerate(value, start=1)})))
        elif isinstance(value, list | tuple):
            entries.append((str(name), ", ".join(map(str, value))))
        else:
            entries.append((str(name), str(value)))
    return entries


def _source(name: str) -> Markup:
    """Read one of the package's own files, which is trusted as it is."""
    return Markup(resources.files("comitia.report").joinpath("templates", name).read_text(encoding="utf-8"))
