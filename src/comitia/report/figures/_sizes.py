"""How the measures change with the ensemble's size, in the layout of the paper's Figure 2."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from comitia._errors import ComitiaError
from comitia.report._blocks import checked_rows, chosen, curve, measure_in
from comitia.report._vocabulary import Measure, in_order, shortened
from comitia.report.figures._look import INK, MUTED, SMALL, TEXT, TITLE, handle, line_look, quiet


def ensemble_sizes(
    rows: pd.DataFrame,
    *,
    ensemble: str,
    datasets: Sequence[str] | None = None,
    losses: Sequence[str] | None = None,
    paper: pd.DataFrame | None = None,
) -> Figure:
    """Draw each aggregation's mean over the folds against the number of members.

    Parameters
    ----------
    rows : DataFrame
        Result rows at two sizes or more.
    ensemble : str
        Which ensemble.
    datasets, losses : sequence of str, optional
        Rows and columns of the figure; all by default.
    paper : DataFrame, optional
        Published curves, with columns dataset, ensemble, loss, aggregation, size and value: thin lines.

    Returns
    -------
    Figure
        A row of panels for each dataset, a column for each loss.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia.report.figures import ensemble_sizes
    >>> cell = {"dataset": "scene", "ensemble": "ecc", "repeat": 0, "fold": 0, "loss": "f1", "pool": "mean"}
    >>> rows = pd.DataFrame(
    ...     cell | {"aggregation": name, "size": size, "value": value, "n_test": 90}
    ...     for name, values in {"gmv": (0.44, 0.40), "ctp": (0.36, 0.31)}.items()
    ...     for size, value in zip([10, 50], values)
    ... )
    >>> [axes.get_title() for axes in ensemble_sizes(rows, ensemble="ecc").axes]
    ['F1-measure (%) ↑']
    """
    rows = rows if "method" in rows else checked_rows(rows)
    rows = rows[rows["ensemble"].isin(chosen("ensemble", [ensemble], rows))]
    if rows["size"].nunique() < 2:
        raise ComitiaError(f"rows of {ensemble!r} have one size, {rows['size'].iloc[0]}: a curve needs two or more.")
    names = list(rows["dataset"].unique()) if datasets is None else chosen("dataset", datasets, rows)
    wanted = in_order(rows["loss"]) if losses is None else chosen("loss", losses, rows)
    methods = in_order(rows["method"])
    published = _published(paper, ensemble, names, wanted)

    figure = Figure(figsize=(0.7 + 2.3 * len(wanted), 1.1 + 1.55 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), len(wanted), squeeze=False, sharex=True)
    for row, name in enumerate(names):
        for column, loss in enumerate(wanted):
            axes, shown = panels[row, column], measure_in(rows, loss)
            part = rows[(rows["dataset"] == name) & (rows["loss"] == loss)]
            _draw(axes, part, methods, shown)
            if published is not None:
                _draw_paper(axes, published, name, methods, shown)
            if row == 0:
                axes.set_title(f"{shown.with_unit} {shown.arrow}", fontsize=TITLE, color=INK)
        panels[row, 0].set_ylabel(shortened(name), fontsize=TITLE, color=INK, parse_math=False)
    figure.supxlabel("Ensemble size (members)", fontsize=TEXT, color=INK)
    _add_legend(figure, methods, published is not None)
    return figure


def _draw(axes: Axes, rows: pd.DataFrame, methods: list[str], shown: Measure) -> None:
    quiet(axes)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    for method in methods:
        sizes, means, _ = curve(rows, method, shown)
        axes.plot(sizes, means, linewidth=1.3, markersize=3.0, **line_look(method, methods))


def _draw_paper(axes: Axes, paper: pd.DataFrame, dataset: str, methods: list[str], shown: Measure) -> None:
    part = paper[(paper["dataset"] == dataset) & (paper["loss"] == shown.loss)]
    for method in methods:
        line = part[part["aggregation"] == method].sort_values("size")
        look = line_look(method, methods) | {"marker": "", "zorder": 1.5}
        axes.plot(line["size"], shown.shown(line["value"].to_numpy()), linewidth=0.6, **look)


def _published(
    paper: pd.DataFrame | None, ensemble: str, datasets: Sequence[str], losses: Sequence[str]
) -> pd.DataFrame | None:
    if paper is None or "size" not in paper:
        return None
    part = paper[(paper["ensemble"] == ensemble) & paper["dataset"].isin(datasets) & paper["loss"].isin(losses)]
    part = part[part["size"].notna()]
    return None if part.empty else part


def _add_legend(figure: Figure, methods: list[str], has_paper: bool) -> None:
    handles = [handle(method, methods) for method in methods]
    if has_paper:
        handles.append(Line2D([], [], color=MUTED, linewidth=0.6, label="thin: the paper"))
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=min(len(handles), max(3, int(figure.get_figwidth() / 1.15))),
        fontsize=SMALL + 0.5,
        frameon=False,
        handlelength=3.2,
        columnspacing=1.4,
    )
