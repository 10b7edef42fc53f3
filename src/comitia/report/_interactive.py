"""The numbers behind the page's interactive figures, as plain lists and mappings for JSON.

Blocks have what `Block` has; numbers that do not exist are None.  The page draws them with Plotly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from comitia.report._blocks import Block, curve, measure_in
from comitia.report._presentation import style
from comitia.report._vocabulary import in_order, measure, title

if TYPE_CHECKING:
    from comitia.report._results import Results


def figure_data(results: Results) -> dict[str, Any]:
    """Gather what the page draws.

    Returns
    -------
    dict
        ``methods`` and ``measures`` say how to show things; ``blocks`` hold the values, errors, ranks and folds of
        each ensemble under each loss; ``curves`` the means over ensemble sizes, if there are several; ``labels`` the
        frequencies of each dataset's labels.
    """
    rows = results.checked_rows
    methods = in_order(rows["method"])
    return {
        "methods": [_method(name, methods) for name in methods],
        "measures": [
            {"loss": one.loss, "title": one.title, "higher": one.higher_is_better, "unit": one.unit}
            for one in (measure_in(rows, loss) for loss in results.losses)
        ],
        "ensembles": [{"name": name, "title": title(name)} for name in results.ensemble_names],
        "datasets": results.dataset_names,
        "blocks": [_block(block) for block in results.blocks],
        "curves": _curves(rows, results.published(curves=True)),
        "labels": {
            str(dataset["name"]): {
                "names": [str(name) for name in dataset.get("label_names", ())],
                "frequencies": _plain(np.asarray(dataset.get("label_frequencies", ()), dtype=np.float64)),
            }
            for dataset in results.datasets
        },
    }


def _method(name: str, methods: list[str]) -> dict[str, str]:
    look = style(name, methods)
    return {
        "name": name,
        "title": title(name),
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
        "friedman": None if block.friedman is None else block.friedman.p_value,
        "differ": block.differ,
        "criticalDistance": None if block.nemenyi is None else block.nemenyi.critical_distance,
        "folds": [_plain(folds) for folds in block.folds.values()],
    }


def _curves(rows: pd.DataFrame, paper: pd.DataFrame | None) -> list[dict[str, Any]]:
    found = []
    for (ensemble, loss, dataset), part in rows.groupby(["ensemble", "loss", "dataset"], sort=False):
        if part["size"].nunique() < 2:
            continue
        for method in in_order(part["method"]):
            sizes, means, errors = curve(part, method, measure_in(part, loss))
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
