"""The page: one HTML file with everything in it, that asks no other host for anything."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib import resources
from itertools import groupby
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from comitia.report.answers import Answer, answers
from comitia.report.figures import seven_segments
from comitia.report.figures.files import as_svg
from comitia.report.interactive import figure_data
from comitia.report.presentation import in_order, measure, title
from comitia.report.run import Run
from comitia.report.tables import ComparisonTable, comparison_table

__all__ = ["page", "summary"]

DISPLAYED_DIGITS = 10


def page(run: Run) -> str:
    """Render a run as one self-contained HTML page.

    Everything that comes from the run is escaped where it is written: as text in the markup, and as JSON without
    ``<``, ``>`` and ``&`` in scripts.  The page's policy forbids it to load anything.
    """
    environment = Environment(
        loader=PackageLoader("comitia.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment.get_template("page.html.jinja").render(
        summary(run),
        style=_source("page.css"),
        scripts=[_source("page.js"), _source("figures.js")],
        plotly=Markup(get_plotlyjs().replace("</script", r"<\/script")),
    )


def summary(run: Run) -> dict[str, Any]:
    """Gather what the page shows, in the order in which it does."""
    tables = _tables(run)
    return {
        "title": run.title,
        "facts": _facts(run),
        "cards": _cards(answers(run.rows, run.sizes)),
        "failures": _failures(run),
        "tables": tables,
        "copies": {table["id"]: {"latex": table["latex"], "markdown": table["markdown"]} for table in tables},
        "figures": figure_data(run),
        "digits": _digits(run),
        "datasets": [_dataset(dataset) for dataset in run.datasets],
        "provenance": _entries(run.provenance),
    }


def _failures(run: Run) -> dict[str, list[str]]:
    """Gather the cells that failed by their error: one cause often fails many."""
    cells: dict[str, list[str]] = {}
    for failure in run.failures:
        cells.setdefault(str(failure.get("error", "")), []).append(str(failure.get("cell", "")))
    return cells


def _facts(run: Run) -> list[str]:
    rows = run.rows
    folds = rows.groupby(["dataset", "ensemble"])[["repeat", "fold"]].apply(lambda part: len(part.drop_duplicates()))
    sizes = rows["size"].unique()
    return [
        _counted(rows["dataset"].nunique(), "dataset"),
        ", ".join(title(name) for name in rows["ensemble"].unique()),
        f"{sizes.max()} members" if len(sizes) == 1 else f"{sizes.min()} to {sizes.max()} members",
        f"{folds.max()} folds" if folds.nunique() == 1 else f"{folds.min()} to {folds.max()} folds",
    ]


def _cards(found: Sequence[Answer]) -> list[dict[str, Any]]:
    ordered = in_order(answer.measure.loss for answer in found)
    cards = []
    for loss in ordered:
        of_loss = [answer for answer in found if answer.measure.loss == loss]
        by_method = sorted(of_loss, key=lambda answer: [a.best for a in of_loss].index(answer.best))
        verdicts = [
            (title(method), [title(answer.ensemble) for answer in group])
            for method, group in groupby(by_method, key=lambda answer: answer.best)
        ]
        cards.append(
            {
                "measure": measure(loss),
                "verdicts": verdicts,
                "lines": [(title(answer.ensemble), answer.text, _verdict(answer)) for answer in of_loss],
            }
        )
    return cards


def _verdict(answer: Answer) -> str:
    if not answer.test:
        return "not tested"
    return "significant" if answer.better_than else "not significant"


def _tables(run: Run) -> list[dict[str, Any]]:
    paper = run.published(curves=False)
    losses = in_order(run.rows["loss"])
    tables = [_table(comparison_table(run.rows, losses=[loss], paper=paper), f"table-{loss}", loss) for loss in losses]
    if paper is not None:
        known = [name for name in in_order(run.rows["aggregation"]) if name in set(paper["aggregation"])]
        if known and len(known) < run.rows["aggregation"].nunique():
            tables += [
                _table(
                    comparison_table(run.rows, losses=[loss], aggregations=known, paper=paper),
                    f"paper-{loss}",
                    loss,
                    among="the paper's aggregations only",
                )
                for loss in losses
            ]
    return tables


def _table(table: ComparisonTable, identifier: str, loss: str, among: str = "") -> dict[str, Any]:
    shown = measure(loss)
    heading = f"{shown.title} in percent, {shown.direction}" + (f"; {among}" if among else "")
    return {
        "id": identifier,
        "heading": heading,
        "html": Markup(table.to_html(caption=heading)),
        "latex": table.to_latex(),
        "markdown": table.to_markdown(),
        "has_paper": any(block.paper is not None for block in table.blocks),
    }


def _digits(run: Run) -> dict[str, Any] | None:
    if run.digits is None:
        return None
    digits = run.digits.most_disputed(DISPLAYED_DIGITS)
    return {
        "image": "data:image/svg+xml;base64," + b64encode(as_svg(seven_segments(digits)).encode()).decode(),
        "measure": measure(run.digits.loss).title if run.digits.loss else "",
        "aggregations": ", ".join(title(name) for name in run.digits.labelings),
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
            entries.append(("time", _duration(float(value))))
        elif isinstance(value, list | tuple) and any(isinstance(part, Mapping) for part in value):
            entries.append((str(name), _entries({str(count): part for count, part in enumerate(value, start=1)})))
        elif isinstance(value, list | tuple):
            entries.append((str(name), ", ".join(map(str, value))))
        else:
            entries.append((str(name), str(value)))
    return entries


def _duration(seconds: float) -> str:
    """Write a time as people do.

    Examples
    --------
    >>> _duration(12.52), _duration(3012), _duration(7384)
    ('12.5 s', '50 min 12 s', '2 h 3 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")


def _source(name: str) -> Markup:
    """Read one of the package's own files, which is trusted as it is."""
    return Markup(resources.files("comitia.report").joinpath("templates", name).read_text(encoding="utf-8"))
