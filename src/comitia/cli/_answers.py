"""The file that ``comitia predict`` writes: predictions, beside what was asked to be kept of the data."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._files import whole_file
from comitia._labels import LabelArray
from comitia._names import in_csv, printable
from comitia.cli._data import tell
from comitia.cli._errors import misuse
from comitia.columns._kinds import matching
from comitia.datasets import Dataset, load_dataset
from comitia.datasets._dataset import NoSuchColumnError
from comitia.datasets._text import STDIN
from comitia.model_file import Model

ONE_COLUMN, EXPECTED = "labels", "expected loss"
"""How the columns are called that hold all labels of a row, and what the model expects to lose by them."""


def kept_columns(data: Dataset, wanted: Sequence[str], labels: Sequence[str]) -> Any:
    """Return the columns of the data that are to stand beside predictions; ``all`` is all but those of the labels."""
    import pandas as pd

    names = list(data.feature_names)
    try:
        if list(wanted) == ["all"] and "all" not in names:
            chosen = [name for name in names if name not in labels]
        else:
            chosen = matching(names, list(wanted), "--keep")
    except ComitiaError as error:
        raise misuse("--keep", str(error).removeprefix("--keep: ")) from None
    if hasattr(data.X, "columns"):
        frame = data.X[chosen].reset_index(drop=True)
    else:
        X = data.X[:, [names.index(name) for name in chosen]]
        frame = pd.DataFrame(X.toarray() if hasattr(X, "toarray") else X, columns=chosen)
    # An identifier 17 is not to come back as 17.0.
    return frame.assign(**{name: frame[name].astype("Int64") for name in chosen if _are_whole(frame[name])})


def _are_whole(column: Any) -> bool:
    if column.dtype.kind != "f":
        return False
    known = column.to_numpy()[~np.isnan(column.to_numpy())]
    return bool((np.abs(known) < 2**53).all() and (known == np.round(known)).all())


def in_one_column(labeling: NDArray[Any], labels: Sequence[str]) -> list[str]:
    """Return the names of each row's labels with semicolons between them; as JSON where a name holds one.

    Examples
    --------
    >>> in_one_column(np.array([[1, 1], [0, 0]]), ["rock", "live"])
    ['rock;live', '']
    >>> in_one_column(np.array([[1, 0]]), ["rock; hard", "live"])
    ['["rock; hard"]']
    """
    rows = [[name for name, one in zip(labels, row, strict=True) if one == 1] for row in labeling]
    if any(";" in name for name in labels):
        return [json.dumps(row, ensure_ascii=False) for row in rows]
    return [";".join(row) for row in rows]


def known_labels(
    model: Model,
    data: Path,
    given: Dataset,
    *,
    labels_in: str | None = None,
    separator: str | None = None,
    positive: str | None = None,
) -> LabelArray | None:
    """Return the labels that the data have, in the order of the model's; None where they have not all of them.

    The labels have a column each, in which ``positive`` says that they hold, or stand together in the column
    ``labels_in``.  ``given`` are the data as they are, with all columns.
    """
    if model.ensemble._form.classes is not None:
        return None
    if labels_in is None:
        if separator is not None:
            raise misuse("--separator", "is for --labels-in, which names no column.")
        try:
            return load_dataset(data, list(model.labels), positive=positive).Y
        except NoSuchColumnError:
            if positive is not None:
                raise
        except ComitiaError as error:
            if positive is not None:
                raise
            if kept_columns(given, model.labels, ()).notna().to_numpy().any():
                tell([("note", f"predictions are not compared with the labels that are there: {error}")])
        return None
    try:
        known = load_dataset(data, labels_in=labels_in, separator=separator, positive=positive)
    except NoSuchColumnError as error:
        raise misuse("--labels-in", str(error)) from None
    place = {name: known.Y[:, k] for k, name in enumerate(known.label_names)}
    return np.stack([place.get(name, np.zeros(len(known.Y), np.int8)) for name in model.labels], axis=1)


def write(frame: Any, output: Path) -> None:
    """Write a frame to a file, whole or not at all, or to standard output."""
    if output == STDIN:
        frame.rename(columns=in_csv).to_csv(sys.stdout, index=False)
        return
    with whole_file(output) as file:
        if output.suffix.lower() == ".parquet":
            frame.to_parquet(file, index=False)
        else:
            frame.rename(columns=in_csv).to_csv(file, index=False)


def check_names(kept: Any, labels: Sequence[str]) -> None:
    """Refuse kept columns that are called as predictions are."""
    twice = [name for name in kept.columns if name in (*labels, ONE_COLUMN, EXPECTED)]
    if twice:
        raise misuse("--keep", f"{printable(twice[0])!r} is what a column of predictions is called.")
