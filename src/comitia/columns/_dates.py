"""Dates in texts, and the numbers that stand for a date."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia._labels import FloatArray

_ZONE = r"(?:UTC|GMT|Z)?([+-]\d{1,2}(?::?\d{2})?)?"
_TIME = rf"(?:,?[T ]+(\d{{1,2}}):(\d{{2}})(?::(\d{{2}})(?:[.,](\d{{1,9}}))?)?\s*([AP]M)?\s*{_ZONE})?"
_YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}", re.ASCII | re.IGNORECASE)
_YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}){_TIME}", re.ASCII | re.IGNORECASE)

ORDERS = ("year first", "day first", "month first")
_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


def date_order(texts: Collection[str], day_first: bool | None) -> str | None:
    """Return in which order all of the texts are dates; None where some is none, "unknown" where both orders fit.

    In 31/12/2020 the day comes first, in 12/31/2020 the month; 01/02/2020 could be either, and is not guessed.
    """
    if not texts:
        return None
    if all(_YEAR_FIRST.fullmatch(text.strip()) for text in texts):
        return "year first" if all(as_instant(text, "year first") is not None for text in texts) else None
    if not all(_YEAR_LAST.fullmatch(text.strip()) for text in texts):
        return None
    wanted = ORDERS[1:] if day_first is None else (ORDERS[1] if day_first else ORDERS[2],)
    fitting = [order for order in wanted if all(as_instant(text, order) is not None for text in texts)]
    if len(fitting) == 2:
        # Points between the parts are written where the day comes first.
        return "day first" if all("." in text for text in texts) else "unknown"
    return fitting[0] if fitting else None


def as_instant(text: str, order: str) -> int | None:
    """Return the microseconds since 1970 of a date; None where the text is none in this order."""
    found = (_YEAR_FIRST if order == "year first" else _YEAR_LAST).fullmatch(text.strip())
    if found is None:
        return None
    first, _, second, third, hour, minute, second_, fraction, half, zone = found.groups()
    year, month, day = {
        "year first": (first, second, third),
        "day first": (third, second, first),
        "month first": (third, first, second),
    }[order]
    hours = int(hour or 0)
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (half.upper() == "PM")
    try:
        instant = datetime.datetime(
            int(year), int(month), int(day), hours, int(minute or 0), int(second_ or 0),
            int((fraction or "0")[:6].ljust(6, "0")),
        )  # fmt: skip
    except ValueError:
        return None
    offset = datetime.timedelta()
    if zone is not None:
        digits = zone[1:].replace(":", "")
        hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
        offset = datetime.timedelta(hours=hours, minutes=minutes) * (-1 if zone[0] == "-" else 1)
    return (instant - _EPOCH - offset) // _MICROSECOND


def order_of(texts: Collection[str], order: str, day_first: bool | None) -> str:
    """Return the order in which dates of a later file are read: that of `fit`, unless they are written in another.

    It is "unknown" where day and month could be exchanged, and `fit` knew no order.
    """
    if day_first is None and order and all(as_instant(text, order) is not None for text in texts):
        return order
    return date_order(texts, day_first) or order or ORDERS[0]


def date_parts(instants: NDArray[Any]) -> dict[str, FloatArray]:
    """Return the parts of dates that recur, NaN where a date is missing.

    Monday is 0 and January 1.
    """
    missing = np.isnat(instants)
    known = np.where(missing, np.datetime64(0, "us"), instants)
    days = known.astype("datetime64[D]").astype(np.int64)
    parts = {
        "day of week": (days + 3) % 7,
        "month": known.astype("datetime64[M]").astype(np.int64) % 12 + 1,
        "hour": (known - known.astype("datetime64[D]")).astype("m8[us]").astype(np.int64) / 3.6e9,
    }
    return {name: np.where(missing, np.nan, values) for name, values in parts.items()}


def encode_dates(instants: NDArray[Any], span: Sequence[int], parts: Sequence[str], encoding: str) -> FloatArray:
    """Return the numbers that stand for dates: their place between two ends, and the parts that are wanted.

    Parts are plain numbers where the encoding is "ordinal", else points on a circle, sine and cosine.
    """
    first, last = span
    # New rows are mostly of later dates, and a linear model would take them for ever more of what it has seen.
    known = np.clip(instants.astype(np.int64), first, last)
    columns = [np.where(np.isnat(instants), np.nan, (known - float(first)) / max(last - first, 1))]
    found = date_parts(instants)
    for part in parts:
        if encoding == "ordinal":
            columns.append(found[part])
        else:
            angle = 2 * np.pi * found[part] / PERIODS[part]
            columns += [np.sin(angle), np.cos(angle)]
    return np.column_stack(columns)


PERIODS = {"day of week": 7.0, "month": 12.0, "hour": 24.0}
