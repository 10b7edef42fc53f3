"""The compiled loops of the ARFF reader: bytes in, arrays filled.

The text ends in a line feed, and no loop goes past a line feed but through ``_next_line``: that is what keeps every
index inside the text.  What a loop cannot decide without Python objects (nominal and string values, quotes, decimals
that need more than a double's precision) it leaves as a *cell*: row, attribute, and where the value stands.

A loop stops at the first mistake and returns its code; the row reader turns that into words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from comitia.datasets._arff_numbers import (
    CLOSE,
    COMMA,
    OPEN,
    PERCENT,
    SPACE,
    ZERO,
    Bytes,
    compiled,
    ends_value,
    inlined,
    number,
)

# What an attribute's values may look like.
NUMBER, BIT, LABEL, OTHER = range(4)

# What is wrong with a row.
(
    FINE,
    TOO_FEW,
    TOO_MANY,
    EMPTY_VALUE,
    OPEN_QUOTE,
    NO_SEPARATOR,
    OTHER_ROW_KIND,
    NO_INDEX,
    INDEX_RANGE,
    INDEX_REPEATED,
    OPEN_ROW,
    BAD_WEIGHT,
) = range(12)

_TAB, _NEWLINE, _DOUBLE_QUOTE, _SINGLE_QUOTE, _ONE, _QUESTION, _BACKSLASH = 9, 10, 34, 39, 49, 63, 92

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Labels = npt.NDArray[np.int8]


@compiled
def first_row(text: Bytes) -> int:
    """Where the first row starts (a line that is neither blank nor a comment); the length of the text if nowhere."""
    i = 0
    while i < len(text):
        i = _skip_blanks(text, i)
        if not _ends_line(text[i]):
            break
        i = _next_line(text, i)
    return i


@compiled
def dense_rows(
    text: Bytes, kinds: Ints, columns: Ints, X: Floats, Y: Labels, weights: Floats, cells: Ints
) -> tuple[int, int, int, int, int]:
    """Fill ``X`` and ``Y`` from comma- or tab-separated rows.

    Attribute j goes to column ``columns[j]`` of ``X``, or to ``~columns[j]`` of ``Y`` where that is negative.

    Returns
    -------
    rows, cells : int
        How many were filled.
    code, attribute, position : int
        What is wrong, at which attribute, and where in the text; the code is ``FINE`` where all is well.
    """
    last = len(kinds) - 1
    row, n_cells, i = 0, 0, 0
    while i < len(text):
        i = _skip_blanks(text, i)
        if _ends_line(text[i]):
            i = _next_line(text, i)
            continue
        if text[i] == OPEN:
            return row, n_cells, OTHER_ROW_KIND, 0, i
        for j in range(last + 1):
            start = i
            known, value, i = _value(text, i, kinds[j])
            if i < 0:
                return row, n_cells, OPEN_QUOTE, j, start
            if i == start:
                ended = _ends_line(text[i]) or text[i] == OPEN
                return row, n_cells, TOO_FEW if ended else EMPTY_VALUE, j, i
            if not known:
                n_cells = _add_cell(cells, n_cells, row, j, start, i)
            elif columns[j] >= 0:
                X[row, columns[j]] = value
            else:
                Y[row, ~columns[j]] = np.int8(value)
            code, more, i = _separator(text, i)
            if code != FINE:
                return row, n_cells, code, j, i
            if j < last and not more:
                return row, n_cells, TOO_FEW, j + 1, i
            if j == last and more and text[i] != OPEN:
                return row, n_cells, TOO_MANY, j, i
        if text[i] == OPEN:
            code, n_cells, i = _weight(text, i, row, weights, cells, n_cells)
            if code != FINE:
                return row, n_cells, code, -1, i
        i = _next_line(text, i)
        row += 1
    return row, n_cells, FINE, 0, i


@compiled
def sparse_rows(
    text: Bytes,
    kinds: Ints,
    columns: Ints,
    ones: Ints,
    Y: Labels,
    starts: Ints,
    indices: Ints,
    data: Floats,
    weights: Floats,
    cells: Ints,
) -> tuple[int, int, int, int, int]:
    """Fill ``Y`` and the parts of a CSR array from ``{index value, …}`` rows; returns what `dense_rows` does.

    ``Y`` comes filled with zeros; ``ones`` are the attributes that are one where a row omits them.  The row of a cell
    that belongs to ``X`` is its position in ``data`` instead.
    """
    seen = np.full(len(kinds), -1, dtype=np.int64)
    row, n_cells, filled, i = 0, 0, 0, 0
    while i < len(text):
        i = _skip_blanks(text, i)
        if _ends_line(text[i]):
            i = _next_line(text, i)
            continue
        if text[i] != OPEN:
            return row, n_cells, OTHER_ROW_KIND, 0, i
        starts[row] = filled
        i = _skip_blanks(text, i + 1)
        while text[i] != CLOSE:
            code, j, i = _sparse_index(text, i, row, seen)
            if code != FINE:
                return row, n_cells, code, j, i
            start = i
            known, value, i = _value(text, i, kinds[j])
            if i < 0:
                return row, n_cells, OPEN_QUOTE, j, start
            if i == start:
                return row, n_cells, EMPTY_VALUE, j, start
            is_label = columns[j] < 0
            if not known:
                n_cells = _add_cell(cells, n_cells, row if is_label else filled, j, start, i)
            elif is_label:
                Y[row, ~columns[j]] = np.int8(value)
            if not is_label and value != 0.0:
                indices[filled] = columns[j]
                data[filled] = value
                filled += 1
            code, i = _sparse_separator(text, i)
            if code != FINE:
                return row, n_cells, code, j, i
        for j in ones:
            if seen[j] != row and columns[j] < 0:
                Y[row, ~columns[j]] = 1
            elif seen[j] != row:
                indices[filled] = columns[j]
                data[filled] = 1.0
                filled += 1
        _, more, i = _separator(text, i + 1)
        code = BAD_WEIGHT if more else FINE
        if text[i] == OPEN:
            code, n_cells, i = _weight(text, i, row, weights, cells, n_cells)
        if code != FINE:
            return row, n_cells, code, 0, i
        i = _next_line(text, i)
        row += 1
    starts[row] = filled
    return row, n_cells, FINE, 0, i


@compiled
def _sparse_index(text: Bytes, i: int, row: int, seen: npt.NDArray[np.int64]) -> tuple[int, int, int]:
    """The attribute index at ``i``, not yet seen in this row, and where its value starts."""
    start, index = i, 0
    while ZERO <= text[i] < ZERO + 10:
        index = min(10 * index + int(text[i]) - ZERO, len(seen))
        i += 1
    if i == start:
        return OPEN_ROW if _ends_line(text[i]) else NO_INDEX, 0, i
    if text[i] > SPACE:
        return NO_INDEX, 0, start
    if index == len(seen):
        return INDEX_RANGE, index, start
    if seen[index] == row:
        return INDEX_REPEATED, index, start
    seen[index] = row
    return FINE, index, _skip_blanks(text, i)


@compiled
def _sparse_separator(text: Bytes, i: int) -> tuple[int, int]:
    """Past the comma after a value, or at the brace that closes the row."""
    i = _skip_blanks(text, i)
    if text[i] == CLOSE:
        return FINE, i
    if text[i] != COMMA:
        return OPEN_ROW if _ends_line(text[i]) else NO_SEPARATOR, i
    i = _skip_blanks(text, i + 1)
    return NO_INDEX if text[i] == CLOSE else FINE, i


@inlined
def _separator(text: Bytes, i: int) -> tuple[int, bool, int]:
    """Past the comma or tabs after a value; whether something must follow."""
    if text[i] == COMMA and text[i + 1] > SPACE:
        return FINE, True, i + 1
    tabbed = False
    while text[i] <= SPACE and text[i] != _NEWLINE:
        tabbed |= text[i] == _TAB
        i += 1
    if text[i] == COMMA:
        return FINE, True, _skip_blanks(text, i + 1)
    if _ends_line(text[i]) or text[i] == OPEN:
        return FINE, False, i
    return FINE if tabbed else NO_SEPARATOR, True, i


@compiled
def _weight(text: Bytes, i: int, row: int, weights: Floats, cells: Ints, n_cells: int) -> tuple[int, int, int]:
    """The weight in braces that starts at ``i`` and ends the row."""
    start = _skip_blanks(text, i + 1)
    known, value, i = _value(text, start, NUMBER)
    if i <= start or (known and not value >= 0.0):
        return BAD_WEIGHT, n_cells, start
    if known:
        weights[row] = value
    else:
        n_cells = _add_cell(cells, n_cells, row, -1, start, i)
    i = _skip_blanks(text, i)
    if text[i] != CLOSE:
        return BAD_WEIGHT, n_cells, i
    i = _skip_blanks(text, i + 1)
    return FINE if _ends_line(text[i]) else BAD_WEIGHT, n_cells, i


@compiled
def _add_cell(cells: Ints, n_cells: int, row: int, attribute: int, start: int, end: int) -> int:
    cells[n_cells, 0] = row
    cells[n_cells, 1] = attribute
    cells[n_cells, 2] = start
    cells[n_cells, 3] = end
    return n_cells + 1


@inlined
def _value(text: Bytes, i: int, kind: int) -> tuple[bool, float, int]:
    """The value at ``i``: whether it is known, what it is, and where it ends (-1: a quote is never closed).

    An unknown value is NaN until Python has read it; one that ends where it starts is not there.
    """
    c = text[i]
    if c in (_SINGLE_QUOTE, _DOUBLE_QUOTE):
        return False, np.nan, _quote_end(text, i)
    if kind == NUMBER:
        value, end = number(text, i)
        if end > i:
            return True, value, end
    elif kind != OTHER and c in (ZERO, _ONE) and ends_value(text[i + 1]):
        return True, float(c) - ZERO, i + 1
    if c == _QUESTION and kind in (NUMBER, BIT) and ends_value(text[i + 1]):
        return True, np.nan, i + 1
    end = i
    while not (ends_value(text[i]) and (text[i] > SPACE or text[i] == _NEWLINE or text[i] == _TAB)):
        i += 1
        if text[i - 1] > SPACE:
            end = i
    return False, np.nan, end


@compiled
def _quote_end(text: Bytes, i: int) -> int:
    quote = text[i]
    i += 1
    while text[i] != quote:
        if text[i] == _BACKSLASH:
            i += 1
        if text[i] == _NEWLINE:
            return -1
        i += 1
    return i + 1


@inlined
def _ends_line(c: int) -> bool:
    return c in (_NEWLINE, PERCENT)


@inlined
def _skip_blanks(text: Bytes, i: int) -> int:
    while text[i] <= SPACE and text[i] != _NEWLINE:
        i += 1
    return i


@compiled
def _next_line(text: Bytes, i: int) -> int:
    while text[i] != _NEWLINE:
        i += 1
    return i + 1
