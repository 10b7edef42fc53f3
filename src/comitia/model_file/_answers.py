"""What a model says of new data: the columns that stand beside its answers, the labels they are scored by, the file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia._files import whole_file
from comitia._labels import LabelArray
from comitia._names import in_csv, printable
from comitia.columns._kinds import matching
from comitia.datasets import Dataset, load_dataset
from comitia.datasets._dataset import NoSuchColumnError
from comitia.model_file._model import Model

ONE_COLUMN, EXPECTED = "labels", "expected loss"
"""How the columns are called that hold all labels of a row, and what the model expects to lose by them."""


def kept_columns(data: Dataset, wanted: Sequence[str], labels: Sequence[str]) -> Any:
    """Return the columns of the data that are to stand beside answers; ``all`` is all but those of the labels.

    Raises
    ------
    ComitiaError
        Where there is no such column, or one is called as those of the answers are.
    """
    import pandas as pd

    names = list(data.feature_names)
    if list(wanted) == ["all"] and "all" not in names:
        chosen = [name for name in names if name not in labels]
    else:
        chosen = matching(names, list(wanted), "keep")
    if twice := [name for name in chosen if name in (*labels, ONE_COLUMN, EXPECTED)]:
        raise ComitiaError(f"keep: {printable(twice[0])!r} is what a column of predictions is called.")
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


def answer_table(found: NDArray[Any], labels: Sequence[str], *, partial: bool = False, one_column: bool = False) -> Any:
    """Return answers or probabilities, (n, K), as a frame: a column for each label, open ones missing, or one for all.

    Examples
    --------
    >>> answer_table(np.array([[1, -1]]), ["rock", "live"], partial=True).isna().to_numpy().tolist()
    [[False, True]]
    """
    import pandas as pd

    if one_column:
        return pd.DataFrame({ONE_COLUMN: in_one_column(found, labels)})
    answers = pd.DataFrame(found, columns=list(labels))
    return answers.astype("Int8").mask(answers < 0) if partial else answers


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
    path: Path,
    data: Dataset,
    *,
    labels_in: str | None = None,
    separator: str | None = None,
    positive: str | None = None,
) -> tuple[LabelArray | None, str]:
    """Return the labels that a file has, in the order of the model's, or None where it has not all, and why it has not.

    The labels have a column each, in which ``positive`` says that they hold, or stand together in the column
    ``labels_in``.  ``data`` are the columns of the file as they are.  Nothing is said where there are no labels at all.
    """
    if model.ensemble._form.classes is not None:
        return None, ""
    if labels_in is None:
        try:
            return load_dataset(path, list(model.labels), positive=positive).Y, ""
        except ComitiaError as error:
            if positive is not None:
                raise
            if isinstance(error, NoSuchColumnError) or not _hold_something(data, model.labels):
                return None, ""
            return None, str(error)
    known = load_dataset(path, labels_in=labels_in, separator=separator, positive=positive)
    place = {name: known.Y[:, k] for k, name in enumerate(known.label_names)}
    return np.stack([place.get(name, np.zeros(len(known.Y), np.int8)) for name in model.labels], axis=1), ""


def _hold_something(data: Dataset, labels: Sequence[str]) -> bool:
    return bool(kept_columns(data, labels, ()).notna().to_numpy().any())


def write_answers(frame: Any, output: Path | TextIO) -> None:
    """Write a frame to a CSV or Parquet file, whole or not at all, or as CSV to an open one."""
    if not isinstance(output, Path):
        _in_csv(frame).to_csv(output, index=False)
        return
    with whole_file(output) as file:
        if output.suffix.lower() == ".parquet":
            frame.to_parquet(file, index=False)
        else:
            _in_csv(frame).to_csv(file, index=False)


def _in_csv(frame: Any) -> Any:
    """Return a frame in which no name begins a formula, neither where a spreadsheet takes semicolons for separators.

    What holds a quotation mark, as JSON does, is written in quotes, within which it takes none.
    """
    frame = frame.rename(columns=in_csv)
    if ONE_COLUMN not in frame:
        return frame
    cells = frame[ONE_COLUMN].tolist()
    cells = [in_csv(cell) if '"' in cell else ";".join(map(in_csv, cell.split(";"))) for cell in cells]
    return frame.assign(**{ONE_COLUMN: cells})
