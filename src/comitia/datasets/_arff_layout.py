"""Where the values of an ARFF file go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from comitia.datasets._arff_header import Attribute, Header
from comitia.datasets._arff_kernels import BIT, LABEL, NUMBER, OTHER
from comitia.datasets._dataset import DataFormatError


@dataclass(frozen=True)
class Layout:
    """Where the value of each attribute goes: to a column of ``X`` or to one of ``Y``."""

    header: Header
    labels: tuple[int, ...]
    features: tuple[int, ...]
    kinds: npt.NDArray[np.int32]
    columns: npt.NDArray[np.int32]
    """The column of ``X``, or the column of ``Y`` with its bits flipped."""
    one_if_omitted: npt.NDArray[np.int32]
    """Attributes declared ``{1,0}``: a sparse row that omits one means its first value, and that is 1."""

    @classmethod
    def of(cls, path: Path, header: Header, labels: Sequence[int]) -> Layout:
        """The layout in which ``labels`` come in that order, and all else is a feature."""
        chosen = set(labels)
        features = tuple(j for j in range(len(header.attributes)) if j not in chosen)
        if not features:
            raise DataFormatError.at(path, None, "expected attributes that are not labels, found none")
        kinds = np.array([_kind(attribute) for attribute in header.attributes], dtype=np.int32)
        columns = np.empty(len(kinds), dtype=np.int32)
        columns[list(features)] = np.arange(len(features))
        for k, j in enumerate(labels):
            _check_label(path, header.attributes[j])
            kinds[j] = OTHER if kinds[j] == OTHER else LABEL
            columns[j] = ~k
        ones = [
            j for j, attribute in enumerate(header.attributes) if attribute.is_binary and attribute.values[0] == "1"
        ]
        return cls(header, tuple(labels), features, kinds, columns, np.array(ones, dtype=np.int32))

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.header.attributes

    @property
    def needs_frame(self) -> bool:
        """Whether there are features that are not numbers."""
        return not all(self.attributes[j].is_number for j in self.features)


def _kind(attribute: Attribute) -> int:
    if attribute.kind == "numeric":
        return NUMBER
    # Where only one of 0 and 1 is declared, the other is a mistake, for which the compiled loops do not look.
    return BIT if attribute.is_binary and len(attribute.values) == 2 else OTHER


def _check_label(path: Path, attribute: Attribute) -> None:
    if not attribute.is_number:
        found = f"{{{','.join(attribute.values[:4])}}}" if attribute.kind == "nominal" else attribute.kind
        raise DataFormatError.at(
            path, attribute.line, f"expected label {attribute.name!r} to be declared {{0,1}}, found {found}"
        )
