"""All of a comparison with its answer: rows in; recommendations, tables, figures and pages out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from comitia._errors import ComitiaError
from comitia._names import looked_up, shown, unknown
from comitia.report import _blocks as _blocks
from comitia.report._answers import Answer, answers
from comitia.report._blocks import Block
from comitia.report._digits import SevenSegments
from comitia.report._paper import PAPER
from comitia.report._recommendation import Known, Recommendation, Setting, recommend, recommendation
from comitia.report._rivals import Scored
from comitia.report._tables import ComparisonTable
from comitia.report._vocabulary import in_order, named, title
from comitia.report._words import counted, number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Format = Literal["text", "markdown", "latex", "csv", "html"]


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """The results of a comparison.

    Every number is computed once, when it is first asked for; text, pages, tables and figures show the same ones.

    Parameters
    ----------
    rows : DataFrame
        One row for each dataset, ensemble, repeat, fold, loss, aggregation, pool and size, with the mean loss over
        the fold's n_test instances as value.
    datasets : sequence of mapping
        For each dataset its name, n, d, K, cardinality, density, label_names and label_frequencies; a dataset that
        is not described is shown without its data.
    provenance : mapping
        How the rows came to be, shown as it is: command, versions, started, seconds, machine, ...
    failures : sequence of mapping
        For each cell that failed its name (cell) and error.
    title : str
        Heading of the pages.
    paper : DataFrame, optional
        Published results to stand beside these, as `comitia.report.read_paper` gives them.
    digits : SevenSegments, optional
        Handwritten digits with the displays that the aggregations light.
    plan : mapping
        All that decided the outcome: seed, folds, repeats, stratified, and for each name in datasets and ensembles
        its settings.
    settings : mapping of str to Setting
        For each ensemble how it is made, for the code of a recommendation.
    source : sequence of str
        How the data is named on the command line; empty where it cannot be.
    chosen : sequence of mapping
        Parameters that were chosen within folds: ensemble, dataset, parameter, value and the number of folds.
    loader : str
        The Python expression that reads the data; empty where it is arrays.
    baselines : sequence of mapping
        Rows of answers that learn nothing, on the same folds; their ensemble is ``"baseline"``.
    details : sequence of mapping
        For each dataset and ensemble what was counted besides losses.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia import Results
    >>> from comitia.report import Setting
    >>> cell = {"dataset": "mine", "ensemble": "ecc", "repeat": 0, "loss": "f1", "pool": "mean", "size": 50}
    >>> rows = pd.DataFrame(
    ...     cell | {"fold": fold, "aggregation": name, "value": value, "n_test": 100}
    ...     for name, values in {"gmv": (0.36, 0.38), "ctp": (0.31, 0.32)}.items()
    ...     for fold, value in enumerate(values)
    ... )
    >>> results = Results(rows, settings={"ecc": Setting("ECCClassifier", {"n_estimators": "50"})})
    >>> results
    Results on mine: ECC, 2 folds
      F1-measure  68.50 %  ECC with CTP
    >>> results.recommendation("f1").code
    'ECCClassifier(n_estimators=50, loss="f1", aggregation="ctp")'
    >>> print(results.table("f1"))
    F1-measure in percent, higher is better
         ECC
    GMV   63.00 ±1.00  2
    CTP   68.50 ±0.50  1
    """

    rows: pd.DataFrame
    datasets: Sequence[Mapping[str, Any]] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    failures: Sequence[Mapping[str, Any]] = ()
    title: str = "Which aggregation for which loss?"
    paper: pd.DataFrame | None = None
    digits: SevenSegments | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Setting] = field(default_factory=dict)
    source: Sequence[str] = ()
    chosen: Sequence[Mapping[str, Any]] = ()
    loader: str = ""
    baselines: Sequence[Mapping[str, Any]] = ()
    details: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        _ = self.checked_rows
        for position, dataset in enumerate(self.datasets):
            if "name" not in dataset:
                raise ComitiaError(f"datasets[{position}] must have a name; got {dict(dataset)!r}.")
            names, frequencies = dataset.get("label_names", ()), dataset.get("label_frequencies", ())
            if len(names) != len(frequencies):
                raise ComitiaError(
                    f"dataset {dataset['name']!r} has {len(names)} label_names but {len(frequencies)} "
                    "label_frequencies: expected one frequency for each label."
                )

    @classmethod
    def read(cls, folder: str | Path) -> Results:
        """Read the results that `write` or a run with a folder left there."""
        from comitia.report._write import read_results

        return read_results(folder)

    def write(self, folder: str | Path) -> Path:
        """Write the page, the figures, the tables and the results themselves; return the page.

        Each file is written under a temporary name and then renamed, the page last, so that what is there is whole; a
        page that cannot be made leaves the folder as it was.

        Parameters
        ----------
        folder : str or Path
            Gets ``report.html``, ``figures/*.svg``, ``.pdf`` and ``.png``, ``tables/*.tex``, ``.md`` and ``.csv``,
            and what `read` reads, ``results.json`` and ``rows.parquet``; it is made where it is missing.
        """
        from comitia.report._write import write_report

        return write_report(self, folder)

    def recommendation(self, loss: str | None = None, *, ensemble: str | None = None) -> Recommendation:
        """Say what to use for a loss.

        Parameters
        ----------
        loss : str, optional
            The loss; it can be left out where there is only one.
        ensemble : str, optional
            Only this ensemble; by default the one whose best aggregation has the best mean.

        Raises
        ------
        ComitiaError
            When there are no results for the names, or the ensembles were run on different datasets and none is named.
        """
        loss = self._the("loss", loss, self.losses)
        if ensemble is not None:
            ensemble = self._the("ensemble", ensemble, self.ensemble_names)
            pairs = [pair for pair in zip(self.blocks, self.answers, strict=True) if pair[0].measure.loss == loss]
            for pair in pairs:
                if pair[0].ensemble == ensemble:
                    others = [one for one in pairs if one is not pair and one[0].datasets == pair[0].datasets]
                    return recommendation(pair, others, self._known)
            raise ComitiaError(f"no rows with ensemble {ensemble!r} and loss {loss!r}.")
        found = [one for one in self.recommendations if one.loss == loss]
        if len(found) > 1:
            names = ", ".join(one.ensemble for one in found)
            raise ComitiaError(
                f"the ensembles were run on different datasets and do not compare: ensemble must be one of {names}."
            )
        return found[0]

    @cached_property
    def recommendations(self) -> tuple[Recommendation, ...]:
        """For each loss what to use; where ensembles were run on different datasets, for each of them."""
        found = zip(self.blocks, self.answers, strict=True)
        return tuple(recommend(found, self._known))

    @cached_property
    def scored(self) -> Scored:
        """All that was scored, fold by fold, baselines too."""
        baselines = _blocks.checked_rows(pd.DataFrame(self.baselines)) if self.baselines else None
        return Scored(self.checked_rows, baselines, self._n_instances)

    def table(self, loss: str | None = None, format: Format = "text") -> str:  # noqa: A002  as in pandas
        """Write the table of a loss, or of all.

        Parameters
        ----------
        loss : str, optional
            The loss; all by default.
        format : {"text", "markdown", "latex", "csv", "html"}
            How.  Text has a mean over the datasets; the others a column for each dataset.
        """
        table = ComparisonTable(self.blocks if loss is None else self.blocks_of(loss))
        writers = {
            "text": table.to_text,
            "markdown": table.to_markdown,
            "latex": table.to_latex,
            "csv": table.to_csv,
            "html": table.to_html,
        }
        return looked_up("format", format, writers)()

    def figure(self, name: str) -> Figure:
        """Draw a figure with matplotlib; `figure_names` has the names."""
        from comitia.report._write import figure_makers

        return looked_up("figure", name, figure_makers(self))()

    @property
    def figure_names(self) -> list[str]:
        """The figures that there are."""
        from comitia.report._write import figure_makers

        return list(figure_makers(self))

    def to_frame(self) -> pd.DataFrame:
        """Give the rows as a data frame of its own."""
        return self.rows.copy()

    def as_records(self) -> dict[str, list[dict[str, Any]]]:
        """Give the means and the recommendations as plain values, for JSON."""
        return {
            "results": ComparisonTable(self.blocks).as_records(),
            "recommendations": [one.as_record() for one in self.recommendations],
        }

    def html(self) -> str:
        """Write everything as one page that asks no other host for anything."""
        from comitia.report._html import page

        return page(self)

    def markdown(self) -> str:
        """Write a page in Markdown: how the results were made, what they say, how far they are from the paper's."""
        from comitia.report._markdown_page import markdown_page

        return markdown_page(self)

    def latex(self) -> str:
        """Write one table of all results as LaTeX."""
        return self.table(format="latex")

    @cached_property
    def checked_rows(self) -> pd.DataFrame:
        """The rows, each with its method: the aggregation and its pool."""
        return _blocks.checked_rows(self.rows)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The numbers of each ensemble under each loss."""
        return tuple(_blocks.blocks(self.checked_rows, paper=self.published(curves=False)))

    @cached_property
    def paper_blocks(self) -> tuple[Block, ...]:
        """As `blocks`, of the aggregations that the paper has, with ranks among these."""
        if not self.goes_beyond_the_paper:
            return self.blocks
        known = [name for name in PAPER if name in set(self.rows["aggregation"])]
        found = _blocks.blocks(self.checked_rows, aggregations=known, paper=self.published(curves=False))
        return tuple(found)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """What each block says, in words."""
        return tuple(answers(self.blocks, self._n_instances))

    def blocks_of(self, loss: str) -> tuple[Block, ...]:
        """The blocks of one loss, one for each ensemble."""
        return tuple(block for block in self.blocks if block.measure.loss == self._the("loss", loss, self.losses))

    @property
    def losses(self) -> list[str]:
        return in_order(self.rows["loss"])

    @property
    def ensemble_names(self) -> list[str]:
        return [str(name) for name in self.rows["ensemble"].unique()]

    @property
    def dataset_names(self) -> list[str]:
        return [str(name) for name in self.rows["dataset"].unique()]

    @cached_property
    def sizes(self) -> dict[str, list[int]]:
        """The numbers of members that decided, for each ensemble."""
        of_ensemble = self.rows.groupby("ensemble", sort=False)["size"]
        return {str(name): sorted(int(size) for size in sizes.unique()) for name, sizes in of_ensemble}

    @property
    def has_curves(self) -> bool:
        """Whether any ensemble decided with several numbers of members."""
        return any(len(sizes) > 1 for sizes in self.sizes.values())

    @property
    def goes_beyond_the_paper(self) -> bool:
        """Whether there are aggregations that the paper does not have beside some that it has."""
        names = set(self.rows["aggregation"])
        return bool(names & set(PAPER)) and not names <= set(PAPER)

    @property
    def n_cells(self) -> tuple[int, int]:
        """How many cells of the plan are finished, and how many it has: dataset, ensemble, repeat and fold."""
        done = len(self.rows.drop_duplicates(["dataset", "ensemble", "repeat", "fold"]))
        counts = [len(self.plan.get(name, ())) for name in ("datasets", "ensembles")]
        total = prod([*counts, self.plan.get("repeats", 1), self.plan.get("folds", 1)])
        return done, max(done, total)

    def published(self, *, curves: bool) -> pd.DataFrame | None:
        """Pick the published results over ensemble sizes, or those of one size."""
        if self.paper is None:
            return None
        sized = self.paper.get("size", pd.Series(index=self.paper.index, dtype=float)).notna()
        part = self.paper[sized if curves else ~sized]
        return None if part.empty else part

    @property
    def facts(self) -> list[str]:
        """What was compared, in a few words."""
        folds = self.rows.groupby(["dataset", "ensemble"])[["repeat", "fold"]].apply(
            lambda part: len(part.drop_duplicates())
        )
        # A classifier that is no ensemble is one member, of which nobody speaks.
        sizes = {size for sizes in self.sizes.values() for size in sizes}
        least, most = min(sizes if self.has_curves else sizes - {1} or {1}), max(sizes)
        names = self.dataset_names
        return [
            counted(len(names), "dataset") if len(names) > 1 else names[0],
            ", ".join(map(title, self.ensemble_names)),
            counted(most, "member") if least == most else f"{least} to {most} members",
            counted(folds.max(), "fold") if folds.nunique() == 1 else f"{folds.min()} to {folds.max()} folds",
        ]

    def __repr__(self) -> str:
        data, ensembles, _, folds = self.facts
        found = [
            (one.measure.title, f"{number(one.percent)}{one.measure.unit}", one.choice) for one in self.recommendations
        ]
        widths = [max(len(line[place]) for line in found) for place in (0, 1)]
        lines = [f"Results on {data}: {ensembles}, {folds}"]
        lines += [f"  {name:<{widths[0]}}  {value:>{widths[1]}}  {choice}" for name, value, choice in found]
        if self.failures:
            lines.append(f"  {counted(len(self.failures), 'cell')} failed: see failures")
        return shown("\n".join(lines))

    def _repr_html_(self) -> str:
        from comitia.report._html import fragment

        return fragment(self)

    @property
    def _known(self) -> Known:
        known = self.plan.get("datasets", {})
        alone = not self.loader and len(known) == 1 and isinstance(known, Mapping)
        columns = next(iter(known.values())).get("columns", {}) if alone else {}
        return Known(self.scored, self.settings, self.source, self.loader, self.plan.get("seed"), columns)

    @property
    def _n_instances(self) -> dict[str, int]:
        return {str(dataset["name"]): int(dataset["n"]) for dataset in self.datasets if "n" in dataset}

    def _the(self, kind: str, name: str | None, known: list[str]) -> str:
        if name is None and len(known) == 1:
            return known[0]
        name = name if name is None else named(name, known)
        if name not in known:
            raise ComitiaError(
                unknown(kind, name, known) if name is not None else f"expected one {kind} of {', '.join(known)}"
            )
        return name
