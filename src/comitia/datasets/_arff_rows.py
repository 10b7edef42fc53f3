"""The rows of an ARFF file, read block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from comitia.datasets import _arff_kernels as kernels
from comitia.datasets._arff_cells import CellReader
from comitia.datasets._arff_header import shortened
from comitia.datasets._arff_layout import Layout
from comitia.datasets._dataset import DataFormatError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Labels = npt.NDArray[np.int8]


@dataclass(frozen=True)
class Rows:
    """What the rows say: features as floats (see `CellReader`), labels, and weights where one is not 1."""

    X: Any
    Y: Labels
    weights: Floats | None
    strings: list[bytes]
    """The values of string attributes as they stand in the file, in the order in which they come."""


def read_rows(path: Path, layout: Layout, blocks: Iterable[bytes], max_bytes: int) -> Rows:
    """Read all rows; the first one decides whether they are dense or sparse."""
    cells = CellReader(layout.header)
    parts: list[_Part] = []
    is_sparse = False
    size, line = 0, layout.header.n_lines + 1
    for text in blocks:
        n_lines = text.count(b"\n")
        if not parts:
            first = kernels.first_row(np.frombuffer(text, dtype=np.uint8))
            is_sparse = text[first : first + 1] == b"{"
        if parts or first < len(text):
            block = _Block(path, line, n_lines, text, layout, cells, max_bytes - size)
            parts.append(block.sparse_rows() if is_sparse else block.dense_rows())
            size += parts[-1].size
        line += n_lines
    if not parts:
        raise DataFormatError.at(path, line - 1, "expected rows after @data, found none")
    weights = np.concatenate([part.weights for part in parts])
    return Rows(
        X=_joined_sparse(parts, len(layout.features)) if is_sparse else np.concatenate([part.data for part in parts]),
        Y=np.concatenate([part.Y for part in parts]),
        weights=weights if (weights != 1.0).any() else None,
        strings=cells.strings,
    )


@dataclass(frozen=True)
class _Part:
    """The rows of one block: ``data`` is the matrix of features, or with ``indices`` and ``starts`` a sparse one."""

    data: Floats
    Y: Labels
    weights: Floats
    indices: Ints | None = None
    starts: Ints | None = None

    @property
    def size(self) -> int:
        arrays = (self.data, self.Y, self.weights, self.indices, self.starts)
        return sum(array.nbytes for array in arrays if array is not None)


def _joined_sparse(parts: list[_Part], n_features: int) -> Any:
    lengths = np.concatenate([np.diff(part.starts) for part in parts if part.starts is not None])
    data = np.concatenate([part.data for part in parts])
    # 32 bits where they suffice: with 64, SciPy widens the indices as well, and liblinear refuses them.
    starts = np.zeros(len(lengths) + 1, dtype=np.int32 if len(data) <= np.iinfo(np.int32).max else np.int64)
    np.cumsum(lengths, out=starts[1:])
    indices = np.concatenate([part.indices for part in parts if part.indices is not None])
    X = csr_array((data, indices, starts), shape=(len(lengths), n_features))
    X.sort_indices()
    X.eliminate_zeros()
    return X


@dataclass(frozen=True)
class _Block:
    """Whole lines of a file; ``line`` is the number of the first."""

    path: Path
    line: int
    n_lines: int
    text: bytes
    layout: Layout
    cells: CellReader
    max_bytes: int

    def dense_rows(self) -> _Part:
        layout = self.layout
        # A row of m values takes at least 2m bytes: rows that are too short cannot make these arrays large.
        n_rows = min(self.n_lines, len(self.text) // (2 * len(layout.attributes)) + 1)
        self._check_size(n_rows * (8 * len(layout.features) + len(layout.labels)))
        X = np.empty((n_rows, len(layout.features)))
        Y = np.empty((n_rows, len(layout.labels)), dtype=np.int8)
        weights = np.ones(n_rows)
        left = np.empty((min(n_rows * (len(layout.attributes) + 1), len(self.text) // 2), 4), dtype=np.int32)
        text = np.frombuffer(self.text, dtype=np.uint8)
        found = kernels.dense_rows(text, layout.kinds, layout.columns, X, Y, weights, left)
        for row, column, value in self._left(left, Y, weights, *found[1:]):
            X[row, column] = value
        return _Part(X[: found[0]], Y[: found[0]], weights[: found[0]])

    def sparse_rows(self) -> _Part:
        layout = self.layout
        n_rows, commas = min(self.n_lines, self.text.count(b"{")), self.text.count(b",")
        ones = layout.one_if_omitted
        self._check_size(n_rows * (12 * len(ones) + len(layout.labels)))
        most = commas + n_rows * (1 + len(ones))
        data, indices, starts = np.empty(most), np.empty(most, dtype=np.int32), np.empty(n_rows + 1, dtype=np.int32)
        Y = np.zeros((n_rows, len(layout.labels)), dtype=np.int8)
        weights = np.ones(n_rows)
        left = np.empty((commas + 2 * n_rows, 4), dtype=np.int32)
        text = np.frombuffer(self.text, dtype=np.uint8)
        found = kernels.sparse_rows(text, layout.kinds, layout.columns, ones, Y, starts, indices, data, weights, left)
        for position, _, value in self._left(left, Y, weights, *found[1:]):
            data[position] = value
        n_rows = found[0]
        filled = starts[n_rows]
        return _Part(data[:filled], Y[:n_rows], weights[:n_rows], indices[:filled], starts[: n_rows + 1])

    def _check_size(self, n_bytes: int) -> None:
        if n_bytes > self.max_bytes:
            message = "expected arrays that fit in max_bytes, found rows that need more"
            raise DataFormatError.at(self.path, self.line, message)

    def _left(
        self, left: Ints, Y: Labels, weights: Floats, n_left: int, code: int, attribute: int, position: int
    ) -> Iterator[tuple[int, int, float]]:
        """Read what the compiled loop left; yield the features, and raise at the first mistake, its or theirs."""
        columns = self.layout.columns.tolist()
        for row, j, start, end in left[:n_left].tolist():
            raw = self.text[start:end]
            try:
                if j < 0:
                    weights[row] = self.cells.weight(raw)
                elif columns[j] < 0:
                    Y[row, ~columns[j]] = self.cells.label(raw, j)
                else:
                    yield row, columns[j], self.cells.feature(raw, j)
            except ValueError as error:
                name = "the weight" if j < 0 else repr(self.layout.attributes[j].name)
                raise self._error(start, f"{name}: {error}") from None
        if code != kernels.FINE:
            raise self._error(position, self._mistake(code, attribute, position))

    def _error(self, position: int, message: str) -> DataFormatError:
        return DataFormatError.at(self.path, self.line + self.text.count(b"\n", 0, position), message)

    def _mistake(self, code: int, attribute: int, position: int) -> str:
        m = len(self.layout.attributes)
        found = repr(shortened(self.text[position : self.text.index(b"\n", position)].decode("latin-1")))
        return {
            kernels.TOO_FEW: f"expected {m} values, one for each attribute, found {attribute}",
            kernels.TOO_MANY: f"expected {m} values, one for each attribute, found more: {found}",
            kernels.EMPTY_VALUE: f"expected a value (missing ones are written ?), found {found}",
            kernels.OPEN_QUOTE: f"expected a closing quote, found the end of the line after {found}",
            kernels.NO_SEPARATOR: f"expected a comma after a value, found {found}",
            kernels.OTHER_ROW_KIND: f"expected all rows dense or all rows sparse, found {found}",
            kernels.NO_INDEX: f"expected the index of an attribute, found {found}",
            kernels.INDEX_RANGE: f"expected an index below {m}, the number of attributes, found {found}",
            kernels.INDEX_REPEATED: f"expected an attribute once in a row, found index {attribute} again",
            kernels.OPEN_ROW: "expected } at the end of a sparse row, found the end of the line",
            kernels.BAD_WEIGHT: f"expected the end of the row, or its weight in braces, found {found}",
        }[code]
