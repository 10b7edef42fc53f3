"""Results in a folder: the page, the figures and the tables for people, the numbers for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from comitia._errors import ComitiaError
from comitia._files import whole_file, write_text
from comitia.report._digits import SevenSegments
from comitia.report._html import page
from comitia.report._recommendation import Setting
from comitia.report._results import Results
from comitia.report._tables import ComparisonTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMAT = 1
_AS_THEY_ARE = ("title", "datasets", "provenance", "failures", "plan", "source", "chosen")
_SINCE_THEN = ("loader", "baselines", "details")
"""Results that an earlier version wrote have none of these."""


def write_report(results: Results, folder: str | Path) -> Path:
    """Write everything; see `Results.write`."""
    from comitia.report.figures._files import save

    folder = Path(folder)
    html = page(results)
    write_results(results, folder)
    for name, table in _tables(results):
        for ending, text in (("tex", table.to_latex()), ("md", table.to_markdown()), ("csv", table.to_csv())):
            write_text(folder / "tables" / f"{name}.{ending}", text)
    for name, make in figure_makers(results).items():
        save(make(), folder / "figures" / name)
    write_text(folder / "report.html", html)
    return folder / "report.html"


def write_results(results: Results, folder: str | Path) -> None:
    """Write what `read_results` needs: the rows, and all that is known about them."""
    content: dict[str, Any] = {"format": _FORMAT} | {
        name: getattr(results, name) for name in (*_AS_THEY_ARE, *_SINCE_THEN)
    }
    content["settings"] = {name: asdict(setting) for name, setting in results.settings.items()}
    content["digits"] = None if results.digits is None else results.digits.as_lists()
    content["paper"] = None if results.paper is None else json.loads(results.paper.to_json(orient="split", index=False))
    with whole_file(Path(folder) / "rows.parquet") as file:
        results.rows.to_parquet(file, index=False)
    write_text(Path(folder) / "results.json", json.dumps(content, ensure_ascii=False, allow_nan=False))


def read_results(folder: str | Path) -> Results:
    """Read what `write_results` wrote."""
    path = Path(folder) / "results.json"
    if not path.is_file():
        begun = (path.parent / "plan.toml").is_file()
        hint = "; `comitia report` writes it" if begun else ": expected a folder that Results.write or a run has left"
        raise ComitiaError(f"{folder} has no results.json{hint}.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise ComitiaError(f"{path} has the format {content['format']!r}; this version of comitia reads {_FORMAT}.")
        known: dict[str, Any] = {name: content[name] for name in _AS_THEY_ARE}
        known |= {name: content[name] for name in _SINCE_THEN if name in content}
        known["settings"] = {name: Setting(**setting) for name, setting in content["settings"].items()}
        known["digits"] = None if content["digits"] is None else SevenSegments(**content["digits"])
        known["paper"] = None if content["paper"] is None else pd.DataFrame(**content["paper"])
        rows = pd.read_parquet(path.with_name("rows.parquet"))
    except ComitiaError:
        raise
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise ComitiaError(f"{folder} holds results that are damaged: {type(error).__name__}: {error}.") from error
    return Results(rows, **known)


def figure_makers(results: Results) -> dict[str, Callable[[], Figure]]:
    """What draws each figure that there is, by its name."""
    from comitia.report import figures

    names = _file_names([*results.ensemble_names, *results.losses])
    makers: dict[str, Callable[[], Figure]] = {
        "ranks": partial(figures.rank_heat_map, results.blocks),
        "regret": partial(figures.regret, results.blocks),
    }
    for ensemble, sizes in results.sizes.items():
        if len(sizes) > 1:
            paper = results.published(curves=True)
            draw = partial(figures.ensemble_sizes, results.checked_rows, ensemble=ensemble, paper=paper)
            makers[f"sizes-{names[ensemble]}"] = draw
    for block in results.blocks:
        if block.nemenyi is not None:
            name = f"critical-difference-{names[block.ensemble]}-{names[block.measure.loss]}"
            makers[name] = partial(figures.critical_difference, block)
    if results.digits is not None:
        makers["digits"] = partial(figures.seven_segments, results.digits)
    return makers


def _tables(results: Results) -> Iterator[tuple[str, ComparisonTable]]:
    """Make a table for each ensemble, with all losses, as the paper has them; and one of everything."""
    ensembles = results.ensemble_names
    names = _file_names(ensembles)
    yield "comparison", ComparisonTable(results.blocks)
    if len(ensembles) > 1:
        for ensemble in ensembles:
            found = tuple(block for block in results.blocks if block.ensemble == ensemble)
            yield f"comparison-{names[ensemble]}", ComparisonTable(found)


def _file_names(names: list[str]) -> dict[str, str]:
    """Give each name one that any file system takes, and no two the same.

    Examples
    --------
    >>> _file_names(["ecc", "a/b", "A b"])
    {'ecc': 'ecc', 'a/b': 'a-b', 'A b': 'a-b-2'}
    """
    given: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^a-z0-9]+", "-", str(name).lower()).strip("-") or "unnamed"
        count, candidate = 1, plain
        while candidate in given.values():
            count += 1
            candidate = f"{plain}-{count}"
        given[name] = candidate
    return given
