"""ARFF files, dense and sparse: the attributes and rows of a file become a `Dataset`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from comitia._names import printable
from comitia.datasets._arff_cells import text_encoding, text_values
from comitia.datasets._arff_header import Header, read_header
from comitia.datasets._arff_layout import Layout
from comitia.datasets._arff_rows import Rows, read_rows
from comitia.datasets._dataset import DataFormatError, Dataset
from comitia.datasets._extras import require
from comitia.datasets._formats import check_looks, unpacked
from comitia.datasets._text import STDIN, line_blocks

MAX_BYTES = 4 << 30


def read_arff(
    path: str | Path, choose_labels: Callable[[Header], Sequence[int]], *, max_bytes: int = MAX_BYTES
) -> Dataset:
    """Read a file whose labels are the attributes that ``choose_labels`` names.

    Parameters
    ----------
    path : path
        The file, plain or packed by gzip or bzip2.
    choose_labels : callable
        Given the header, the positions of the label attributes, in the order of the columns of ``Y``.
    max_bytes : int
        The most that the unpacked text, and the most that the arrays read from it, may take.

    Notes
    -----
    Time is linear in the length of the text.  Memory is the arrays twice (once in pieces) and one block of text.
    """
    path = Path(path)
    check_looks(path, ".arff")
    with closing(line_blocks(path, max_bytes)) as blocks:
        header, rest = read_header(path, blocks)
        layout = Layout.of(path, header, choose_labels(header))
        if layout.needs_frame:
            require("pandas", f"{path} has features that are not numbers, which")
        rows = read_rows(path, layout, chain((rest,), blocks), max_bytes)
    names = [printable(attribute.name) for attribute in layout.attributes]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise DataFormatError.at(path, None, f"expected attributes that can be told apart, found {twice!r} twice")
    return Dataset(
        X=_frame(path, layout, rows, max_bytes) if layout.needs_frame else rows.X,
        Y=rows.Y,
        feature_names=tuple(names[j] for j in layout.features),
        label_names=tuple(names[j] for j in layout.labels),
        name=stem(path),
        sample_weight=rows.weights,
    )


def stem(path: Path) -> str:
    """The name of a file without what says how it is written and packed."""
    return printable(unpacked(path).stem) if path != STDIN else "stdin"


def _frame(path: Path, layout: Layout, rows: Rows, max_bytes: int) -> Any:
    """The features as a data frame, with a categorical column for each nominal attribute of other values than 0, 1."""
    pandas = require("pandas")
    if 8 * len(rows.Y) * len(layout.features) > max_bytes:
        raise DataFormatError.at(path, None, f"expected features that fit in max_bytes={max_bytes}, found more")
    matrix = rows.X.toarray() if issparse(rows.X) else rows.X
    encoding = layout.header.encoding or text_encoding(rows.strings)
    columns: dict[str, Any] = {}
    for attribute, values in zip((layout.attributes[j] for j in layout.features), matrix.T, strict=True):
        missing, name = np.isnan(values), printable(attribute.name)
        if attribute.is_number:
            columns[name] = values
        elif attribute.kind == "nominal":
            codes = np.where(missing, -1, values).astype(np.int64)
            columns[name] = pandas.Categorical.from_codes(codes, categories=list(attribute.values))
        elif attribute.kind == "date":
            instants = np.where(missing, 0, values).astype("datetime64[ms]")
            columns[name] = np.where(missing, np.datetime64("NaT", "ms"), instants)
        else:
            texts = text_values(path, attribute, values, rows.strings, encoding)
            columns[name] = pandas.array(texts, dtype="string")
    frame = pandas.DataFrame(columns)
    frame.attrs["source"] = printable(str(path))
    return frame
