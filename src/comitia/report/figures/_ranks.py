"""Average ranks: the critical-difference diagram of Demšar (2006) and a heat map of aggregations against losses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import NDArray

from comitia import statistics
from comitia._errors import ComitiaError
from comitia.report._blocks import LEVEL, Block
from comitia.report._presentation import style
from comitia.report._vocabulary import in_order, shortened, title
from comitia.report.figures._look import INK, MUTED, SMALL, TEXT, TITLE, quiet


def critical_difference(block: Block) -> Figure:
    """Draw the average ranks on a line, best at the left, and join those that do not differ significantly.

    Where Friedman's test finds no difference at the level 0.05, one bar joins all.  Otherwise aggregations that a thick
    bar joins are not told apart by Nemenyi's test at that level; the bar at the top is the critical distance.

    Parameters
    ----------
    block : Block
        Results of two aggregations or more that differ, on two datasets or more; of ``blocks`` of `comitia.Results`.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia import Results
    >>> from comitia.report.figures import critical_difference
    >>> cell = {"ensemble": "ecc", "repeat": 0, "fold": 0, "loss": "f1", "pool": "mean", "size": 50, "n_test": 90}
    >>> losses = {"gmv": (0.40, 0.35, 0.52), "bmv": (0.41, 0.34, 0.55), "ctp": (0.31, 0.30, 0.45)}
    >>> rows = pd.DataFrame(
    ...     cell | {"dataset": dataset, "aggregation": name, "value": value}
    ...     for name, values in losses.items()
    ...     for dataset, value in zip(["emotions", "scene", "yeast"], values)
    ... )
    >>> critical_difference(Results(rows).blocks[0]).savefig("ranks.svg")  # doctest: +SKIP
    >>> len(critical_difference(Results(rows).blocks[0]).axes)
    1
    """
    count, datasets = len(block.methods), int(block.complete.sum())
    if block.nemenyi is None:
        raise ComitiaError(
            f"{block.ensemble!r} has {count} aggregation(s) that differ on {datasets} complete dataset(s) under "
            f"{block.measure.loss!r}: expected two of each or more."
        )
    distance = statistics.critical_distance(count, datasets, LEVEL)
    groups = statistics.cliques(block.average_ranks, distance) if block.differ else [list(range(count))]
    below = 0.55 + 0.28 * len(groups)
    depth = below + 0.5 * ((count + 1) // 2)

    figure = Figure(figsize=(6.4, 0.9 + 0.42 * (depth + 1.0)), layout="constrained")
    axes = figure.add_subplot()
    low, high = 1.0, float(max(count, np.ceil(1 + distance)))
    margin = 0.32 * (high - low)
    axes.set(xlim=(low - margin, high + margin), ylim=(depth + 0.1, -1.25))
    axes.set_axis_off()
    _draw_scale(axes, low, high, distance, block)
    _draw_methods(axes, block, below, margin, (low, high))
    for level, group in enumerate(groups):
        ends = block.average_ranks[group]
        reach = 0.012 * (high - low)
        axes.plot(
            [ends.min() - reach, ends.max() + reach],
            [0.3 + 0.28 * level] * 2,
            color=INK,
            linewidth=3.5,
            solid_capstyle="butt",
        )
    axes.set_title(
        f"{title(block.ensemble)}, {block.measure.title}: average ranks over {datasets} datasets",
        fontsize=TITLE,
        color=INK,
        parse_math=False,
    )
    return figure


def _draw_scale(axes: Axes, low: float, high: float, distance: float, block: Block) -> None:
    axes.plot([low, high], [0, 0], color=INK, linewidth=0.9)
    for tick in range(int(low), int(high) + 1):
        axes.plot([tick, tick], [0, -0.12], color=INK, linewidth=0.9)
        axes.text(tick, -0.2, str(tick), ha="center", va="bottom", fontsize=TEXT, color=INK)
    test = f"critical distance {distance:.2f} (Nemenyi, α = {LEVEL:g})"
    if block.differ:
        axes.plot([low, low + distance], [-0.85, -0.85], color=INK, linewidth=1.2, marker="|", markersize=6)
    else:
        assert block.friedman is not None
        test, distance = f"no significant difference (Friedman, p = {block.friedman.p_value:.2g})", 0.0
    axes.text(low + distance + 0.02 * (high - low), -0.85, test, va="center", fontsize=SMALL, color=MUTED)
    axes.text(low - 0.03 * (high - low), 0, "better", ha="right", va="center", fontsize=SMALL, color=MUTED)
    axes.text(high + 0.03 * (high - low), 0, "worse", ha="left", va="center", fontsize=SMALL, color=MUTED)


def _draw_methods(axes: Axes, block: Block, below: float, margin: float, ends: tuple[float, float]) -> None:
    """Lead a line from each rank to its name: the better half to the left, the worse to the right."""
    ranks, names = block.average_ranks, _with_twins(block)
    order = [int(i) for i in np.argsort(ranks, kind="stable")]
    left = (len(order) + 1) // 2
    low, high = ends
    for place, index in enumerate(order):
        is_left = place < left
        y = below + 0.5 * (place if is_left else len(order) - 1 - place)
        edge = low - 0.25 * margin if is_left else high + 0.25 * margin
        look = style(block.methods[index], block.methods)
        axes.plot([ranks[index]] * 2 + [edge], [0, y, y], color=look.colour, linewidth=1.0, zorder=1)
        axes.plot(
            ranks[index],
            0,
            color=look.colour,
            marker=look.markers[0],
            markersize=7.5 if look.markers[0] == "*" else 5.5,
            zorder=3,
        )
        text = f"{names[index]}  {ranks[index]:.2f}" if is_left else f"{ranks[index]:.2f}  {names[index]}"
        axes.annotate(
            text,
            (edge, y),
            xytext=(-3 if is_left else 3, 0),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
            fontsize=TEXT,
            color=INK,
            parse_math=False,
        )


def _with_twins(block: Block) -> list[str]:
    names = {method: [title(method)] for method in block.methods}
    for method, twin in block.same.items():
        names[twin].append(title(method))
    return [" = ".join(names[method]) for method in block.methods]


def rank_heat_map(blocks: Sequence[Block]) -> Figure:
    """Draw the average rank of each aggregation under each loss, a panel for each ensemble; dark is better.

    Parameters
    ----------
    blocks : sequence of Block
        The ``blocks`` of `comitia.Results`.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia import Results
    >>> from comitia.report.figures import rank_heat_map
    >>> cell = {"ensemble": "ecc", "repeat": 0, "fold": 0, "loss": "f1", "pool": "mean", "size": 50, "n_test": 90}
    >>> losses = {"gmv": (0.40, 0.35, 0.52), "bmv": (0.41, 0.34, 0.55), "ctp": (0.31, 0.30, 0.45)}
    >>> rows = pd.DataFrame(
    ...     cell | {"dataset": dataset, "aggregation": name, "value": value}
    ...     for name, values in losses.items()
    ...     for dataset, value in zip(["emotions", "scene", "yeast"], values)
    ... )
    >>> [axes.get_title() for axes in rank_heat_map(Results(rows).blocks).axes][:1]
    ['ECC, 3 datasets']
    """
    names = list(dict.fromkeys(block.ensemble for block in blocks))
    methods = in_order(method for block in blocks for method in block.all_methods)
    losses = in_order(block.measure.loss for block in blocks)
    worst = max(len(block.methods) for block in blocks)

    figure = Figure(figsize=(1.6 + 0.95 * len(losses) * len(names), 1.25 + 0.34 * len(methods)), layout="constrained")
    panels = figure.subplots(1, len(names), squeeze=False, sharey=True)[0]
    scale = ScalarMappable(Normalize(1, max(worst, 2)), "Blues_r")
    for axes, name in zip(panels, names, strict=True):
        of_ensemble = {block.measure.loss: block for block in blocks if block.ensemble == name}
        grid = _rank_grid(of_ensemble, methods, losses)
        axes.imshow(grid, cmap=scale.cmap, norm=scale.norm, aspect="auto")
        _write_cells(axes, grid, of_ensemble, methods, losses, scale)
        quiet(axes)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        titles = [of_ensemble[loss].measure.title if loss in of_ensemble else loss for loss in losses]
        axes.set_xticks(range(len(losses)), [text.replace(" ", "\n", 1) for text in titles], parse_math=False)
        axes.set_yticks(range(len(methods)), [title(method) for method in methods], parse_math=False)
        axes.set_title(_heading(of_ensemble), fontsize=TITLE, color=INK, parse_math=False)
    bar = figure.colorbar(scale, ax=list(panels), shrink=0.85, pad=0.02, ticks=range(1, max(worst, 2) + 1))
    alone = all(len(block.datasets) == 1 for block in blocks)
    bar.set_label("Rank (1 is best)" if alone else "Average rank (1 is best)", fontsize=SMALL, color=INK)
    bar.ax.tick_params(labelsize=SMALL, length=2, color=MUTED)
    bar.outline.set_visible(False)
    bar.ax.invert_yaxis()
    return figure


def _heading(found: dict[str, Block]) -> str:
    block = next(iter(found.values()))
    count = int(block.complete.sum())
    return f"{title(block.ensemble)}, {f'{count} datasets' if count != 1 else shortened(block.datasets[0])}"


def _rank_grid(found: dict[str, Block], methods: list[str], losses: list[str]) -> NDArray[np.float64]:
    grid = np.full((len(methods), len(losses)), np.nan)
    for column, loss in enumerate(losses):
        for row, method in enumerate(methods):
            if loss in found and method in found[loss].all_methods:
                grid[row, column] = found[loss].average_ranks[found[loss].index(method)]
    return grid


def _write_cells(
    axes: Axes,
    grid: NDArray[np.float64],
    found: dict[str, Block],
    methods: list[str],
    losses: list[str],
    scale: ScalarMappable,
) -> None:
    for (row, column), rank in np.ndenumerate(grid):
        if np.isnan(rank):
            axes.text(column, row, "–", ha="center", va="center", fontsize=TEXT, color=MUTED)
            continue
        text = f"{rank:.2f}" if len(found[losses[column]].datasets) > 1 else f"{rank:g}"
        twin = found[losses[column]].same.get(methods[row])
        axes.text(
            column,
            row,
            text if twin is None else f"{text}\n= {title(twin)}",
            ha="center",
            va="center",
            fontsize=TEXT if twin is None else SMALL - 0.5,
            linespacing=0.95,
            fontweight="bold" if rank == np.nanmin(grid[:, column]) else "normal",
            color=_ink_on(scale, rank),
            parse_math=False,
        )


def _ink_on(scale: ScalarMappable, rank: float) -> str:
    """Choose the ink that contrasts more with a cell, by the relative luminance of the cell's colour."""
    colour = np.asarray(scale.to_rgba(np.array([rank])))[0, :3]
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return "white" if linear @ (0.2126, 0.7152, 0.0722) < 0.179 else "black"
