"""What a report is made of: the rows of a run and what is known about how they came to be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from comitia._errors import ComitiaError
from comitia.report.blocks import checked_rows
from comitia.report.figures.segments import SevenSegments

__all__ = ["Run"]


@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of an experiment.

    Attributes
    ----------
    rows : DataFrame
        One row for each dataset, ensemble, repeat, fold, loss, aggregation, pool and size, with the mean loss over
        the fold's n_test instances as value; the columns are `comitia.report.blocks.ROW_COLUMNS`.
    datasets : sequence of mapping
        For each dataset its name, n, d, K, cardinality, density, label_names and label_frequencies; a dataset that
        is not described is shown without its data.
    provenance : mapping
        How the run was made, shown as it is: command, versions, seeds, started, seconds, machine, plan, ...
    failures : sequence of mapping
        For each cell that failed its name (cell) and error.
    title : str
        Heading of the page.
    paper : DataFrame, optional
        Published results to stand beside these, as `comitia.report.paper.read_paper` gives them.
    digits : SevenSegments, optional
        Handwritten digits with the displays that the aggregations light.
    """

    rows: pd.DataFrame
    datasets: Sequence[Mapping[str, Any]] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    failures: Sequence[Mapping[str, Any]] = ()
    title: str = "Which aggregation for which loss?"
    paper: pd.DataFrame | None = None
    digits: SevenSegments | None = None

    def __post_init__(self) -> None:
        checked_rows(self.rows)
        for position, dataset in enumerate(self.datasets):
            if "name" not in dataset:
                raise ComitiaError(f"datasets[{position}] has no name: {dict(dataset)!r}")
            names, frequencies = dataset.get("label_names", ()), dataset.get("label_frequencies", ())
            if len(names) != len(frequencies):
                raise ComitiaError(
                    f"dataset {dataset['name']!r} has {len(names)} label_names but {len(frequencies)} "
                    "label_frequencies: expected one frequency for each label"
                )

    @property
    def sizes(self) -> dict[str, int]:
        """The number of instances of each dataset that is described."""
        return {str(dataset["name"]): int(dataset["n"]) for dataset in self.datasets if "n" in dataset}

    def published(self, *, curves: bool) -> pd.DataFrame | None:
        """Pick the published results over ensemble sizes, or those of one size."""
        if self.paper is None:
            return None
        sized = self.paper.get("size", pd.Series(index=self.paper.index, dtype=float)).notna()
        part = self.paper[sized if curves else ~sized]
        return None if part.empty else part
