"""Result rows of one ensemble under one loss, gathered into the numbers that tables, figures and answers show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from comitia import _titles, statistics
from comitia._errors import ComitiaError
from comitia._rows import ROW_COLUMNS, ROW_KEY
from comitia._titles import method_name
from comitia.report._vocabulary import Measure, in_order, measure
from comitia.report._words import DECIMALS

Floats = NDArray[np.float64]

LEVEL = 0.05
"""Of every test of a report."""


@dataclass(frozen=True)
class Beside:
    """A mean over the datasets that the paper has as well, in percent, beside the paper's.

    Attributes
    ----------
    ours, published : float
        The two means.
    error : float
        The standard error of ours, over folds.
    """

    ours: float
    published: float
    error: float

    @property
    def difference(self) -> float:
        return self.ours - self.published


@dataclass(frozen=True, eq=False)
class Block:
    """How the aggregations of one ensemble do under one loss, on each dataset.

    Attributes
    ----------
    ensemble : str
        Name of the ensemble.
    measure : Measure
        How the loss is shown.
    size : int
        Number of members that decided.
    methods : tuple of str
        The aggregations that differ somewhere, in the order of the paper.
    same : mapping of str to str
        Aggregations left out of ``methods``, each with the one it equals in every fold of every dataset.
    folds : mapping of str to ndarray of shape (folds, methods)
        For each dataset, the value in each fold as it is shown, in percent as a rule; NaN in the column of an
        aggregation without results there.
    tested : mapping of str to (float, float)
        For each dataset, the instances that a fold tests on, on average, and those of all folds of a repeat.
    paper : ndarray of shape (datasets, methods), optional
        Published percentages; NaN where there is none.
    """

    ensemble: str
    measure: Measure
    size: int
    methods: tuple[str, ...]
    same: Mapping[str, str]
    folds: Mapping[str, Floats]
    tested: Mapping[str, tuple[float, float]]
    paper: Floats | None = None

    @property
    def datasets(self) -> tuple[str, ...]:
        return tuple(self.folds)

    @property
    def all_methods(self) -> list[str]:
        return in_order([*self.methods, *self.same])

    @cached_property
    def values(self) -> Floats:
        """Mean over the folds: (datasets, methods)."""
        return np.array([fold.mean(axis=0) for fold in self.folds.values()])

    @cached_property
    def means(self) -> Floats:
        """Mean over the datasets that have all methods, or over those there are: (methods,)."""
        complete = self.values[self.complete] if self.complete.any() else self.values
        return np.asarray(np.nanmean(complete, axis=0))

    @cached_property
    def errors(self) -> Floats:
        """Standard error of the mean over the folds; NaN where there is one fold: (datasets, methods)."""
        unknown = np.full(len(self.methods), np.nan)
        return np.array(
            [
                fold.std(axis=0, ddof=1) / np.sqrt(len(fold)) if len(fold) > 1 else unknown
                for fold in self.folds.values()
            ]
        )

    @cached_property
    def printed(self) -> Floats:
        """The means as they are printed and ranked."""
        return self.values.round(DECIMALS)

    @cached_property
    def complete(self) -> NDArray[np.bool_]:
        """Which datasets have a value for every method, and so enter the ranks."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    @cached_property
    def ranks(self) -> Floats:
        """Ranks on each dataset, 1 is best; NaN where the dataset is not complete: (datasets, methods)."""
        ranks = np.full(self.values.shape, np.nan)
        if len(self.methods) == 1:
            ranks[self.complete] = 1.0
        elif self.complete.any():
            ranks[self.complete] = statistics.ranks(
                self.printed[self.complete], higher_is_better=self.measure.higher_is_better
            )
        return ranks

    @cached_property
    def average_ranks(self) -> Floats:
        """Average over the complete datasets; NaN when there is none."""
        if not self.complete.any():
            return np.full(len(self.methods), np.nan)
        return np.asarray(self.ranks[self.complete].mean(axis=0))

    @cached_property
    def nemenyi(self) -> statistics.Nemenyi | None:
        """All pairs compared over the complete datasets; None for fewer than two datasets or methods."""
        if self.complete.sum() < 2 or len(self.methods) < 2:
            return None
        return statistics.nemenyi(self.printed[self.complete], higher_is_better=self.measure.higher_is_better)

    @cached_property
    def friedman(self) -> statistics.TestResult | None:
        """Whether any aggregation differs; None for fewer than two datasets or three methods."""
        if self.complete.sum() < 2 or len(self.methods) < 3:
            return None
        return statistics.friedman(self.printed[self.complete])

    @property
    def differ(self) -> bool:
        """Whether pairs may be told apart: Friedman's test finds a difference, or there is none to ask."""
        return self.friedman is None or self.friedman.p_value < LEVEL

    @cached_property
    def regret(self) -> Floats:
        """Points by which each value is worse than the dataset's best: (datasets, methods)."""
        values = -self.values if self.measure.higher_is_better else self.values
        best = np.nanmin(values, axis=1, keepdims=True)
        return np.asarray(values - best)

    def index(self, method: str) -> int:
        """Find the column of a method, or of the one it equals."""
        return self.methods.index(self.same.get(method, method))

    def beside_paper(self, method: str) -> Beside | None:
        """Set a method's mean beside the paper's; None where the paper has none."""
        if self.paper is None:
            return None
        ours, published = self.values[:, self.index(method)], self.paper[:, self.index(method)]
        both = np.isfinite(published) & np.isfinite(ours)
        if not both.any():
            return None
        errors = np.nan_to_num(self.errors[both, self.index(method)])
        error = float(np.sqrt((errors**2).sum()) / both.sum())
        return Beside(float(ours[both].mean()), float(published[both].mean()), error)


def blocks(
    rows: pd.DataFrame,
    *,
    ensembles: Sequence[str] | None = None,
    losses: Sequence[str] | None = None,
    aggregations: Sequence[str] | None = None,
    paper: pd.DataFrame | None = None,
) -> list[Block]:
    """Gather result rows into blocks, one for each ensemble and loss, at the ensemble's largest size.

    Parameters
    ----------
    rows : DataFrame
        One row for each dataset, ensemble, repeat, fold, loss, aggregation, pool and size; see `comitia._rows.Row`.
    ensembles, losses, aggregations : sequence of str, optional
        Only these; ranks are among these aggregations.  All by default.
    paper : DataFrame, optional
        Published results with columns dataset, ensemble, loss, aggregation and value, and no size.

    Returns
    -------
    list of Block
        Ordered by ensemble as they come, then by loss.
    """
    rows = rows if "method" in rows else checked_rows(rows)
    if aggregations is not None:
        rows = rows[rows["aggregation"].isin(chosen("aggregation", aggregations, rows))]
    names = rows["ensemble"].unique() if ensembles is None else chosen("ensemble", ensembles, rows)
    wanted = in_order(rows["loss"]) if losses is None else chosen("loss", losses, rows)
    found = []
    for ensemble in names:
        of_ensemble = rows[rows["ensemble"] == ensemble]
        size = _common_size(str(ensemble), of_ensemble)
        for loss in wanted:
            part = of_ensemble[(of_ensemble["loss"] == loss) & (of_ensemble["size"] == size)]
            if len(part):
                found.append(_block(str(ensemble), measure_in(part, str(loss)), size, part, paper))
    return found


def checked_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Check result rows, name each row's method and say whether its loss is shown in percent.

    Raises
    ------
    ValueError
        When a column is missing, a value is not a loss from 0 to 1, a row occurs twice, or the aggregations of a
        dataset were not scored on the same folds.
    """
    missing = [column for column in ROW_COLUMNS if column not in rows.columns]
    if missing:
        raise ComitiaError(f"rows must have the columns {', '.join(ROW_COLUMNS)}; they lack {', '.join(missing)}.")
    if rows.empty:
        raise ComitiaError("rows must hold something to report; got none.")
    # A loss of one's own may be larger than one, as costs are.
    own = rows["loss"].isin(list(_titles.OWN_LOSSES))
    outside = ~(rows["value"].between(0, 1) | (own & rows["value"].abs().lt(float("inf"))))
    if outside.any():
        row = rows[outside].iloc[0]
        raise ComitiaError(f"value must be a loss from 0 to 1; got {row['value']} in row {_described(row)}.")
    double = rows.duplicated(list(ROW_KEY))
    if double.any():
        raise ComitiaError(f"rows must differ; {_described(rows[double].iloc[0])} occurs more than once.")
    pools = rows["pool"].fillna("").astype(str)
    methods = [method_name(*names) for names in zip(rows["aggregation"], pools, strict=True)]
    shares = (~own | rows["value"].between(0, 1)).groupby(rows["loss"]).transform("all")
    return rows.assign(method=methods, percent=shares)


def measure_in(rows: pd.DataFrame, loss: str) -> Measure:
    """How a loss is shown where checked rows, or some of them, have it."""
    return replace(measure(loss), percent=bool(rows.loc[rows["loss"] == loss, "percent"].all()))


def chosen(column: str, names: Iterable[str], rows: pd.DataFrame) -> list[str]:
    """Check that the names a caller chose occur in a column of the rows."""
    present = list(rows[column].unique())
    for name in names:
        if name not in present:
            raise ComitiaError(f"no rows with {column} {name!r}: there are {', '.join(map(repr, present))}.")
    return list(names)


def curve(rows: pd.DataFrame, method: str, shown: Measure) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Follow a method over the ensemble's sizes: sizes, mean as it is shown and its standard error over the folds."""
    of_method = rows[rows["method"] == method].groupby("size")["value"]
    means = of_method.mean()
    errors = shown.scale * of_method.std(ddof=1) / np.sqrt(of_method.count())
    return means.index.to_numpy(), shown.shown(means.to_numpy()), errors.to_numpy()


def _common_size(ensemble: str, rows: pd.DataFrame) -> int:
    largest = rows.groupby("dataset", sort=False)["size"].max()
    if largest.nunique() > 1:
        raise ComitiaError(
            f"{ensemble!r} has {largest.max()} members on {largest.idxmax()!r} but {largest.min()} on "
            f"{largest.idxmin()!r}: expected one largest size, or the datasets cannot be compared."
        )
    return int(largest.max())


def _block(ensemble: str, shown: Measure, size: int, rows: pd.DataFrame, paper: pd.DataFrame | None) -> Block:
    methods = in_order(rows["method"])
    folds, tested = {}, {}
    for name, of_dataset in rows.groupby("dataset", sort=False):
        table = of_dataset.pivot(index=["repeat", "fold"], columns="method", values="value").reindex(columns=methods)
        partly = table.isna().any() & table.notna().any()
        if partly.any():
            lacking = partly[partly].index[0]
            raise ComitiaError(
                f"{lacking!r} lacks folds on dataset {name!r} ({ensemble}, {shown.loss}) that other aggregations "
                f"have: expected the same {len(table)} folds for all."
            )
        folds[str(name)] = shown.shown(table.to_numpy(dtype=np.float64))
        tests = of_dataset.drop_duplicates(["repeat", "fold"]).groupby("repeat")["n_test"]
        tested[str(name)] = (float(tests.mean().mean()), float(tests.sum().max()))
    kept, same = _distinct(methods, list(folds.values()))
    columns = [methods.index(method) for method in kept]
    return Block(
        ensemble,
        shown,
        size,
        tuple(kept),
        same,
        {name: fold[:, columns] for name, fold in folds.items()},
        tested,
        None if paper is None else _published(paper, ensemble, shown, list(folds), kept),
    )


def _distinct(methods: list[str], folds: list[Floats]) -> tuple[list[str], dict[str, str]]:
    stacked = np.concatenate(folds)
    kept: list[int] = []
    same: dict[str, str] = {}
    for column, method in enumerate(methods):
        twins = [k for k in kept if np.array_equal(stacked[:, k], stacked[:, column], equal_nan=True)]
        if twins:
            same[method] = methods[twins[0]]
        else:
            kept.append(column)
    return [methods[k] for k in kept], same


def _published(
    paper: pd.DataFrame, ensemble: str, shown: Measure, datasets: list[str], methods: list[str]
) -> Floats | None:
    part = paper[(paper["ensemble"] == ensemble) & (paper["loss"] == shown.loss)]
    if part.empty:
        return None
    values = part.pivot(index="dataset", columns="aggregation", values="value").reindex(datasets, columns=methods)
    return shown.shown(np.asarray(values, dtype=np.float64))


def _described(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{column} {row[column]!r}" for column in ROW_KEY)
