"""Single values of an ARFF file, for which the compiled loops need Python."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt

from comitia._errors import ComitiaError
from comitia.datasets._arff_header import Attribute, Header, shortened, unescaped
from comitia.datasets._dataset import DataFormatError


class CellReader:
    """Turns values as they stand in the file into the floats that stand for them.

    A number is itself, a nominal value its position among the declared ones (0 and 1 are themselves, whatever their
    order), a date its milliseconds since 1970, a string its position in ``strings`` counted from one; all are NaN
    where missing.
    """

    def __init__(self, header: Header) -> None:
        self.strings: list[bytes] = []
        self._attributes = header.attributes
        self._encoding = header.encoding or "latin-1"
        self._codes: dict[int, dict[str, float]] = {}

    def feature(self, raw: bytes, j: int) -> float:
        """The float that stands for a value of feature attribute j; a ValueError says what was expected."""
        attribute = self._attributes[j]
        if raw == b"?":
            return math.nan
        if attribute.kind == "string":
            self.strings.append(raw)
            return float(len(self.strings))
        text = decoded(raw, self._encoding)
        if attribute.kind == "numeric":
            return as_number(text)
        if attribute.date_format is not None:
            return float(attribute.date_format.milliseconds(text))
        return self._nominal(text, j)

    def label(self, raw: bytes, j: int) -> float:
        """Zero or one for a value of label attribute j; a ValueError where it is missing or something else."""
        if raw == b"?":
            raise ComitiaError("expected a label to be 0 or 1, found a missing value")
        text = decoded(raw, self._encoding)
        value = as_number(text) if self._attributes[j].kind == "numeric" else self._nominal(text, j)
        if value not in (0.0, 1.0):
            raise ComitiaError(f"expected a label to be 0 or 1, found {text!r}")
        return value

    def weight(self, raw: bytes) -> float:
        """The weight of an instance; a ValueError where it is none."""
        value = as_number(decoded(raw, self._encoding))
        if not 0 <= value < math.inf:
            raise ComitiaError(f"expected a finite weight of at least 0, found {value}")
        return value

    def _nominal(self, text: str, j: int) -> float:
        attribute = self._attributes[j]
        if j not in self._codes:
            self._codes[j] = {
                value: float(value if attribute.is_binary else i) for i, value in enumerate(attribute.values)
            }
        code = self._codes[j].get(text)
        if code is None:
            declared = shortened(", ".join(map(repr, attribute.values[:20])))
            raise ComitiaError(f"expected one of {declared}, found {shortened(text)!r}")
        return code


def decoded(raw: bytes, encoding: str) -> str:
    """The text of a value, without its quotes and escapes."""
    text = raw.decode(encoding)
    return unescaped(text[1:-1]) if raw[:1] in (b"'", b'"') else text


def as_number(text: str) -> float:
    """``float(text)`` without what only Python reads as a number, and without overflow."""
    try:
        if "_" in text or not text.isascii():
            raise ValueError
        value = float(text)
    except ValueError:
        raise ComitiaError(f"expected a number, found {shortened(text)!r}") from None
    if math.isinf(value) and "n" not in text.lower():
        raise ComitiaError(f"expected a number within the range of a double, found {shortened(text)!r}")
    return value


def text_encoding(strings: list[bytes]) -> str:
    """The encoding of strings, where the header does not tell: UTF-8 if all are that, Latin-1 if one is not."""
    try:
        b"\n".join(strings).decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8"


def text_values(
    path: Path, attribute: Attribute, positions: npt.NDArray[np.float64], strings: list[bytes], encoding: str
) -> list[str | None]:
    """The values of a string attribute, None where missing."""
    values: list[str | None] = []
    for row, position in enumerate(positions.tolist(), start=1):
        if position == 0:
            message = f"row {row}: expected a value of the string attribute {attribute.name!r}, found none"
            raise DataFormatError.at(path, None, message)
        try:
            values.append(None if math.isnan(position) else decoded(strings[int(position) - 1], encoding))
        except UnicodeError as error:
            raise DataFormatError.at(
                path, None, f"row {row}, {attribute.name!r}: expected text, found {error}"
            ) from error
    return values
