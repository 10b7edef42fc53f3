"""New data for a model: its columns found by name, in the form in which the model was given its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from comitia._errors import ComitiaError
from comitia._names import enumerated
from comitia.columns._kinds import Place, Writing, numbers_of


def model_inputs(
    data: Any, features: Sequence[str], needed: Sequence[str], *, as_frame: bool, complete: bool = True
) -> Any:
    """Return the columns that a model knows, as a frame or as an array of numbers.

    Parameters
    ----------
    data : Dataset
        The new data; columns that the model does not know are left alone.
    features, needed : sequence of str
        The columns of the model, and those without which it cannot do.
    as_frame : bool
        Whether it was given a frame.
    complete : bool
        Whether a column that the data lack is a mistake, and not a missing value in every row.

    Raises
    ------
    ComitiaError
        Where columns are missing, or hold text where the model knows numbers.
    """
    lacking = [name for name in needed if name not in data.feature_names]
    if lacking and (complete or len(lacking) == len(needed)):
        source = getattr(data.X, "attrs", {}).get("source", data.name)
        raise ComitiaError(
            f"{source} lacks {len(lacking)} of the {len(needed)} columns that the model needs: "
            f"{enumerated(lacking, most=12)}. It has: {enumerated(data.feature_names, most=12)}."
        )
    if not as_frame and not lacking and not hasattr(data.X, "columns"):
        positions = {name: j for j, name in enumerate(data.feature_names)}
        return data.X[:, [positions[name] for name in features]]
    import pandas as pd

    frame = data.X
    if not hasattr(frame, "columns"):
        frame = pd.DataFrame(frame.toarray() if hasattr(frame, "toarray") else frame, columns=list(data.feature_names))
        frame.attrs["source"] = data.name
    absent = [name for name in features if name not in data.feature_names]
    known = frame.assign(**dict.fromkeys(absent, np.nan))[list(features)]
    known.attrs.update(frame.attrs)
    return known if as_frame else _numbers(known)


def _numbers(frame: Any) -> Any:
    # What begins with a zero was read as a text, and may be a number all the same.
    written, place = Writing().in_frame(frame), Place.in_frame(frame)
    names = list(frame.columns)
    return np.column_stack([numbers_of(one, written.cells(frame, one, names), written, place) for one in names])
