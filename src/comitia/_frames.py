"""What is a data frame."""

from __future__ import annotations

from typing import Any

from comitia._errors import ComitiaError


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame; a frame that does not have its data yet is refused.

    Examples
    --------
    >>> import pandas as pd
    >>> is_frame(pd.DataFrame({"a": [1]})), is_frame([[1]])
    (True, False)
    """
    for collect in ("collect", "compute", "toPandas"):
        # Of the type: a lazy frame would find its columns out.
        if hasattr(type(X), collect) and hasattr(type(X), "columns"):
            raise ComitiaError(f"data must be in memory; got a {type(X).__name__}: .{collect}() gives a frame that is.")
    return hasattr(X, "columns") and hasattr(X, "dtypes")
