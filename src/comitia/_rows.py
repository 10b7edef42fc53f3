"""One row of results: what experiments write and reports read."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Row:
    """One score: an ensemble fitted on a fold's training part, its decision for a loss, and what that cost.

    Attributes
    ----------
    dataset, ensemble : str
        Their names in the plan.
    repeat, fold : int
        Which part of the data was held out.
    loss, aggregation, pool : str
        What was minimised, and how the members decided.
    size : int
        How many members decided.
    value : float
        The loss from 0 to 1, on average over the instances that were held out.
    n_test : int
        How many these are.

    Examples
    --------
    >>> from comitia.experiments import Row
    >>> row = Row("scene", "ecc", 0, 3, "f1", "ctp", "mean", size=50, value=0.3, n_test=241)
    >>> row.fold, row.aggregation
    (3, 'ctp')
    """

    dataset: str
    ensemble: str
    repeat: int
    fold: int
    loss: str
    aggregation: str
    pool: str
    size: int
    value: float
    n_test: int


ROW_COLUMNS = tuple(field.name for field in fields(Row))
"""The columns of a table of results, in their order."""

ROW_KEY = tuple(name for name in ROW_COLUMNS if name not in ("value", "n_test"))
"""The columns that no two rows share."""
