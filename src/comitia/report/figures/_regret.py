"""What the wrong aggregation costs under each loss."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from comitia.report._blocks import Block
from comitia.report._presentation import style
from comitia.report._vocabulary import in_order, title
from comitia.report.figures._look import INK, MUTED, SMALL, TEXT, TITLE, quiet


def regret(blocks: Iterable[Block]) -> Figure:
    """Draw the points that each aggregation loses against the best one.

    A small circle is a dataset, a large marker the mean over them.  Where there is one dataset, a small circle is
    one of its folds, against the aggregation that is best on average; it can then lie left of zero.

    Parameters
    ----------
    blocks : iterable of Block
        The ``blocks`` of `comitia.Results`.

    Returns
    -------
    Figure
        A row of panels for each ensemble, a column for each loss.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia import Results
    >>> from comitia.report.figures import regret
    >>> cell = {"ensemble": "ecc", "repeat": 0, "fold": 0, "loss": "f1", "pool": "mean", "size": 50, "n_test": 90}
    >>> losses = {"gmv": (0.40, 0.35, 0.52), "bmv": (0.41, 0.34, 0.55), "ctp": (0.31, 0.30, 0.45)}
    >>> rows = pd.DataFrame(
    ...     cell | {"dataset": dataset, "aggregation": name, "value": value}
    ...     for name, values in losses.items()
    ...     for dataset, value in zip(["emotions", "scene", "yeast"], values)
    ... )
    >>> len(regret(Results(rows).blocks).axes)
    1
    """
    found = {(block.ensemble, block.measure.loss): block for block in blocks}
    names = list(dict.fromkeys(ensemble for ensemble, _ in found))
    losses = in_order(loss for _, loss in found)
    methods = in_order(method for block in found.values() for method in block.all_methods)
    alone = all(len(block.datasets) == 1 for block in found.values())

    figure = Figure(
        figsize=(1.1 + 2.1 * len(losses), 0.75 + (0.45 + 0.24 * len(methods)) * len(names)),
        layout="constrained",
    )
    panels = figure.subplots(len(names), len(losses), squeeze=False, sharey=True)
    for row, name in enumerate(names):
        for column, loss in enumerate(losses):
            axes = panels[row, column]
            quiet(axes)
            axes.grid(visible=False, axis="y")
            axes.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
            if (name, loss) in found:
                _draw(axes, found[name, loss], methods, alone)
            if row == 0:
                axes.set_title(_heading(loss, found), fontsize=TITLE, color=INK, parse_math=False)
        panels[row, 0].set_ylabel(title(name), fontsize=TITLE, color=INK, parse_math=False)
        panels[row, 0].set_yticks(range(len(methods)), [title(method) for method in methods], parse_math=False)
        panels[row, 0].set_ylim(len(methods) - 0.5, -0.5)
    dot = "a fold" if alone else "a dataset"
    figure.supxlabel(
        f"Percentage points lost against the best aggregation (circle: {dot}, marker: mean)",
        fontsize=TEXT,
        color=INK,
    )
    return figure


def _draw(axes: Axes, block: Block, methods: list[str], alone: bool) -> None:
    points = _fold_regret(block) if alone else block.regret
    for place, method in enumerate(methods):
        if method not in block.all_methods:
            continue
        values = points[:, block.index(method)]
        values = values[np.isfinite(values)]
        look, mean = style(method, methods), float(values.mean())
        axes.plot([0, mean], [place, place], color=look.colour, linewidth=1.6, zorder=2)
        axes.plot(
            values,
            np.full(len(values), place),
            linestyle="",
            marker="o",
            markersize=3.2,
            markerfacecolor="none",
            markeredgecolor=look.colour,
            markeredgewidth=0.7,
            alpha=0.75,
            zorder=3,
        )
        axes.plot(
            mean,
            place,
            color=look.colour,
            marker=look.markers[0],
            markersize=8 if look.markers[0] == "*" else 6,
            zorder=4,
        )
        axes.annotate(
            f"{mean:.2f}",
            (max(mean, float(values.max())), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL - 0.5,
            color=MUTED,
        )
    axes.margins(x=0.2)


def _fold_regret(block: Block) -> NDArray[np.float64]:
    (folds,) = block.folds.values()
    best = int(block.regret[0].argmin())
    sign = -1.0 if block.measure.higher_is_better else 1.0
    return np.asarray(sign * (folds - folds[:, [best]]))


def _heading(loss: str, found: dict[tuple[str, str], Block]) -> str:
    return next(block.measure.title for (_, name), block in found.items() if name == loss)
