"""The part of a page of results that is about the number of members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from comitia.report._blocks import curve, measure_in
from comitia.report._vocabulary import Measure, in_order, title
from comitia.report._words import in_markdown, markdown_table, number, signed

if TYPE_CHECKING:
    from comitia.report._results import Results

# Where the paper sees most curves converge.
_MODERATE = 40


@dataclass(frozen=True)
class Curve:
    """One aggregation on one dataset: percent by number of members, here and, where it is known, in the paper."""

    ensemble: str
    dataset: str
    measure: Measure
    method: str
    values: Mapping[int, float]
    published: Mapping[int, float]

    @property
    def distances(self) -> list[float]:
        """How far each value is from the paper's, in points."""
        return [abs(self.values[size] - value) for size, value in self.published.items() if size in self.values]

    def gain(self, first: int, last: int) -> float:
        """Points by which more members are better."""
        return (self.values[last] - self.values[first]) * (1 if self.measure.higher_is_better else -1)

    def cell(self, size: int) -> str:
        """A value, and in brackets how far it is from the paper's."""
        if size not in self.values:
            return "–"
        text = number(self.values[size])
        if size in self.published:
            text += f" ({signed(self.values[size] - self.published[size])})"
        return text


def curves(results: Results) -> Iterator[str]:
    """Write values over ensemble sizes: what members gain, how far the paper is, and all of them."""
    paper = results.published(curves=True)
    found = list(_curves(results.checked_rows, paper))
    sizes = sorted({size for one in found for size in one.values})
    yield "## Over ensemble sizes"
    yield _gains([one for one in found if {sizes[0], sizes[-1]} <= set(one.values)], sizes)
    if any(one.published for one in found):
        yield _distances([one for one in found if one.distances])
    beside = "; the difference to the paper's value in brackets" if paper is not None else ""
    unit = "Percent" if all(one.measure.percent for one in found) else "Percent, and costs as they are"
    yield f"### All values\n\n{unit}{beside}."
    for ensemble, dataset, shown in dict.fromkeys((one.ensemble, one.dataset, one.measure) for one in found):
        part = [one for one in found if (one.ensemble, one.dataset, one.measure) == (ensemble, dataset, shown)]
        lines = [[in_markdown(title(one.method)), *(one.cell(size) for size in sizes)] for one in part]
        named, of, lost = map(in_markdown, (title(ensemble), dataset, shown.title))
        table = markdown_table(["Members", *map(str, sizes)], lines)
        yield f"#### {named} on {of}, {lost} {shown.arrow}\n\n{table}"


def _curves(rows: pd.DataFrame, paper: pd.DataFrame | None) -> Iterator[Curve]:
    for ensemble in rows["ensemble"].unique():
        for dataset in rows["dataset"].unique():
            for loss in in_order(rows["loss"]):
                part = rows[(rows["ensemble"] == ensemble) & (rows["dataset"] == dataset) & (rows["loss"] == loss)]
                for method in in_order(part["method"]):
                    shown = measure_in(part, loss)
                    sizes, values, _ = curve(part, method, shown)
                    by_size = {int(size): float(value) for size, value in zip(sizes, values, strict=True)}
                    published = _published(paper, ensemble, dataset, shown, method)
                    yield Curve(ensemble, dataset, shown, method, by_size, published)


def _published(
    paper: pd.DataFrame | None, ensemble: str, dataset: str, shown: Measure, method: str
) -> dict[int, float]:
    if paper is None:
        return {}
    part = paper[
        (paper["ensemble"] == ensemble)
        & (paper["dataset"] == dataset)
        & (paper["loss"] == shown.loss)
        & (paper["aggregation"] == method)
    ]
    return {int(size): float(shown.shown(value)) for size, value in zip(part["size"], part["value"], strict=True)}


def _gains(found: list[Curve], sizes: list[int]) -> str:
    """What members gain up to a moderate number, and beyond it, on average over the datasets."""
    first, last = sizes[0], sizes[-1]
    middle = min(sizes, key=lambda size: abs(size - _MODERATE))
    lines = []
    for ensemble, shown, method in dict.fromkeys((one.ensemble, one.measure, one.method) for one in found):
        part = [one for one in found if (one.ensemble, one.measure, one.method) == (ensemble, shown, method)]
        gains = [sum(one.gain(*span) for one in part) / len(part) for span in ((first, middle), (middle, last))]
        lines.append(
            [in_markdown(title(ensemble)), in_markdown(shown.title), in_markdown(title(method)), *map(signed, gains)]
        )
    return "### What more members gain\n\nPoints, averaged over the datasets; positive is better.\n\n" + markdown_table(
        ["Ensemble", "Measure", "Aggregation", f"{first} to {middle} members", f"{middle} to {last} members"], lines
    )


def _distances(found: list[Curve]) -> str:
    measures = list(dict.fromkeys(one.measure for one in found))
    lines = []
    for dataset in dict.fromkeys(one.dataset for one in found):
        parts = [
            [distance for one in found if (one.dataset, one.measure) == (dataset, shown) for distance in one.distances]
            for shown in measures
        ]
        lines.append([in_markdown(dataset), *(f"{sum(part) / len(part):.2f}" if part else "–" for part in parts)])
    return "### Mean distance from the paper's values, in points\n\n" + markdown_table(
        ["", *(in_markdown(shown.title) for shown in measures)], lines
    )
