"""Comparison tables in the layout of the paper: best in bold, rank beside the value, average ranks last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from comitia.report import _formats
from comitia.report._blocks import Block
from comitia.report._vocabulary import Measure
from comitia.report._words import DECIMALS


@dataclass(frozen=True)
class Cell:
    """One value of a table, with all that stands beside it.

    Attributes
    ----------
    value : float
        Percent, not rounded.
    error : float or None
        Standard error over the folds, in points.
    rank : float or None
        Rank among the aggregations on this dataset.
    best : bool
        Whether no other aggregation prints a better value.
    published : float or None
        What the paper has here, in percent.
    """

    value: float
    error: float | None
    rank: float | None
    best: bool
    published: float | None

    @property
    def difference(self) -> float | None:
        return None if self.published is None else self.value - self.published


@dataclass(frozen=True)
class Line:
    """One row of a table: an aggregation of an ensemble under a loss, a cell for each dataset or None."""

    ensemble: str
    measure: Measure
    method: str
    cells: tuple[Cell | None, ...]
    average_rank: float | None
    best: bool
    same_as: str | None = None


@dataclass(frozen=True, eq=False)
class ComparisonTable:
    """A table of blocks of results, one for each ensemble and loss.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia import Results
    >>> cell = {"dataset": "mine", "ensemble": "ecc", "repeat": 0, "loss": "f1", "pool": "mean", "size": 50}
    >>> rows = pd.DataFrame(
    ...     cell | {"fold": fold, "aggregation": name, "value": value, "n_test": 100}
    ...     for name, values in {"gmv": (0.36, 0.38), "ctp": (0.31, 0.32)}.items()
    ...     for fold, value in enumerate(values)
    ... )
    >>> print(Results(rows).table(format="markdown"))
    | Ensemble | Measure (%) | Aggregation | mine |
    | --- | --- | --- | --: |
    | ECC | F1-measure ↑ | GMV | 63.00 ± 1.00 <sup>2</sup> |
    | ECC | F1-measure ↑ | CTP | **68.50** ± 0.50 <sup>1</sup> |
    """

    blocks: tuple[Block, ...]

    @property
    def datasets(self) -> list[str]:
        return list(dict.fromkeys(name for block in self.blocks for name in block.datasets))

    @property
    def in_percent(self) -> bool:
        """Whether all values are; costs of one's own are shown as they are."""
        return all(block.measure.percent for block in self.blocks)

    @property
    def has_average_ranks(self) -> bool:
        return len(self.datasets) > 1

    def lines(self) -> Iterator[Line]:
        """Give the rows of the table from the top."""
        for block in self.blocks:
            for method in block.all_methods:
                yield _line(block, method, self.datasets)

    def to_latex(self, *, errors: bool = True) -> str:
        """Write a ``tabular`` for the package booktabs, with or without standard errors."""
        return _formats.latex(self, errors=errors)

    def to_markdown(self, *, errors: bool = True) -> str:
        """Write a Markdown table, with or without standard errors."""
        return _formats.markdown(self, errors=errors)

    def to_text(self) -> str:
        """Write plain text: for each loss aggregations down, ensembles across, with ranks."""
        return _formats.text(self)

    def to_html(self, *, caption: str = "", buttons: bool = True) -> str:
        """Write an HTML table; every number is in an attribute ``data-value`` in full, headings are buttons or text."""
        return _formats.html(self, caption=caption, buttons=buttons)

    def to_csv(self) -> str:
        """Write one line for each value, with all that is known about it and nothing rounded."""
        return _formats.csv(self)

    def as_records(self) -> list[dict[str, Any]]:
        """Give one mapping for each value, for JSON."""
        return [
            {
                "dataset": dataset,
                "ensemble": line.ensemble,
                "loss": line.measure.loss,
                "measure": line.measure.title,
                "higher_is_better": line.measure.higher_is_better,
                "aggregation": line.method,
                "percent": cell.value if line.measure.percent else None,
                "value": cell.value,
                "standard_error": cell.error,
                "rank": cell.rank,
                "average_rank": line.average_rank,
                "same_as": line.same_as,
                "paper_percent": cell.published,
            }
            for line in self.lines()
            for dataset, cell in zip(self.datasets, line.cells, strict=True)
            if cell is not None
        ]

    @property
    def has_paper(self) -> bool:
        return any(block.paper is not None for block in self.blocks)


def _line(block: Block, method: str, datasets: list[str]) -> Line:
    column = block.index(method)
    same_as = block.same.get(method)
    average = _known(block.average_ranks[column])
    best = average is not None and round(average, DECIMALS) == round(min(block.average_ranks), DECIMALS)
    cells = tuple(_cell(block, name, column) for name in datasets)
    return Line(block.ensemble, block.measure, method, cells, average, best and same_as is None, same_as)


def _cell(block: Block, dataset: str, column: int) -> Cell | None:
    if dataset not in block.folds:
        return None
    row = block.datasets.index(dataset)
    value = _known(block.values[row, column])
    if value is None:
        return None
    printed = block.printed[row]
    best = np.nanmax(printed) if block.measure.higher_is_better else np.nanmin(printed)
    return Cell(
        value,
        _known(block.errors[row, column]),
        _known(block.ranks[row, column]),
        bool(printed[column] == best),
        None if block.paper is None else _known(block.paper[row, column]),
    )


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
