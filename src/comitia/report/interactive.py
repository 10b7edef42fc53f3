"""The numbers behind the page's interactive figures, as plain lists and mappings for JSON.

Blocks have what `Block` has; numbers that do not exist are None.  The page draws them with Plotly.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from comitia.report.blocks import Block, blocks, checked_rows, curve
from comitia.report.presentation import in_order, measure, style, title
from comitia.report.run import Run

__all__ = ["figure_data"]


def figure_data(run: Run) -> dict[str, Any]:
    """Gather what the page draws.

    Returns
    -------
    dict
        ``methods`` and ``measures`` say how to show things; ``blocks`` hold the values, errors, ranks and folds of
        each ensemble under each loss; ``curves`` the means over ensemble sizes, if there are several; ``labels`` the
        frequencies of each dataset's labels.
    """
    rows = checked_rows(run.rows)
    found = blocks(rows)
    methods = in_order(rows["method"])
    losses = in_order(rows["loss"])
    return {
        "methods": [_method(name, methods) for name in methods],
        "measures": [
            {"loss": loss, "title": measure(loss).title, "higher": measure(loss).higher_is_better} for loss in losses
        ],
        "ensembles": [{"name": name, "title": title(name)} for name in rows["ensemble"].unique()],
        "datasets": list(rows["dataset"].unique()),
        "blocks": [_block(block) for block in found],
        "curves": _curves(rows, run.published(curves=True)),
        "labels": {
            str(dataset["name"]): {
                "names": [str(name) for name in dataset.get("label_names", ())],
                "frequencies": _plain(np.asarray(dataset.get("label_frequencies", ()), dtype=np.float64)),
            }
            for dataset in run.datasets
        },
    }


def _method(name: str, methods: list[str]) -> dict[str, str]:
    look = style(name, methods)
    return {
        "name": name,
        "title": look.title,
        "colour": look.colour,
        "dash": look.dashes[1],
        "symbol": look.markers[1],
    }


def _block(block: Block) -> dict[str, Any]:
    return {
        "ensemble": block.ensemble,
        "loss": block.measure.loss,
        "size": block.size,
        "methods": list(block.methods),
        "same": dict(block.same),
        "datasets": list(block.datasets),
        "values": _plain(block.values),
        "errors": _plain(block.errors),
        "ranks": _plain(block.ranks),
        "averageRanks": _plain(block.average_ranks),
        "regret": _plain(block.regret),
        "ranked": int(block.complete.sum()),
        "criticalDistance": None if block.nemenyi is None else block.nemenyi.critical_distance,
        "folds": [_plain(folds) for folds in block.folds.values()],
    }


def _curves(rows: pd.DataFrame, paper: pd.DataFrame | None) -> list[dict[str, Any]]:
    found = []
    for (ensemble, loss, dataset), part in rows.groupby(["ensemble", "loss", "dataset"], sort=False):
        if part["size"].nunique() < 2:
            continue
        for method in in_order(part["method"]):
            sizes, means, errors = curve(part, method, measure(loss))
            line = {"ensemble": ensemble, "loss": loss, "dataset": dataset, "method": method}
            line |= {"sizes": sizes.tolist(), "means": _plain(means), "errors": _plain(errors)}
            if paper is not None:
                line["paper"] = _published(paper, ensemble, loss, dataset, method)
            found.append(line)
    return found


def _published(paper: pd.DataFrame, ensemble: str, loss: str, dataset: str, method: str) -> dict[str, Any]:
    wanted = {"ensemble": ensemble, "loss": loss, "dataset": dataset, "aggregation": method}
    part = paper
    for column, name in wanted.items():
        part = part[part[column] == name]
    part = part.sort_values("size")
    return {
        "sizes": [int(size) for size in part["size"]],
        "means": _plain(measure(loss).shown(part["value"].to_numpy())),
    }


def _plain(numbers: NDArray[np.float64]) -> Any:
    """Make lists of an array, with None for NaN, and no more digits than anybody could use."""
    rounded = np.round(numbers, 8).astype(object)
    rounded[np.isnan(numbers)] = None
    return rounded.tolist()
