"""Dates of ARFF, by patterns of Java."""

from __future__ import annotations

import datetime

import pytest

from comitia import ComitiaError
from comitia.datasets._arff_dates import DateFormat

DATES = [
    ("yyyy", "1970", (1970, 1, 1)),
    ("yy", "68", (2068, 1, 1)),
    ("yy", "69", (1969, 1, 1)),
    ("yy-M-d", "07-3-9", (2007, 3, 9)),
    ("d MMM yyyy", "5 feb 2001", (2001, 2, 5)),
    ("d MMMM yyyy", "31 DEC 2001", (2001, 12, 31)),
    ("MMM/yyyy", "Jan/0001", (1, 1, 1)),
    ("yyyy.MM.dd HH-mm-ss", "2000.02.29 23-59-58", (2000, 2, 29, 23, 59, 58)),
    ("yyyy-MM-dd'T'HH:mm:ss.SSS", "1969-12-31t23:59:59.007", (1969, 12, 31, 23, 59, 59, 7000)),
    ("yyyy 'at' H 'o''clock'", "1999 at 7 o'clock", (1999, 1, 1, 7)),
    ("yyyy''MM", "1999'11", (1999, 11, 1)),
]


@pytest.mark.parametrize(("pattern", "text", "date"), DATES)
def test_a_date_is_the_milliseconds_since_1970(pattern: str, text: str, date: tuple[int, ...]) -> None:
    expected = datetime.datetime(*date) - datetime.datetime(1970, 1, 1)  # type: ignore[arg-type]
    assert DateFormat.parse(pattern).milliseconds(text) == round(expected.total_seconds() * 1000)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("yyyy 'at", "with a quote that is never closed"),
        ("MM-dd", "'MM-dd', which has no year"),
        ("yyyy-MM-yyyy", "in which 'yyyy' is not known or comes twice"),
        ("yyyy EEE", "in which 'EEE' is not known"),
    ],
)
def test_a_pattern_that_places_no_instant_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(ComitiaError, match=message):
        DateFormat.parse(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("yyyy", "99"), ("yyyy", "19999"), ("yy", "1999"), ("MMM yyyy", "foo 1999"), ("yyyy-M", "1999-123")],
)  # fmt: skip
def test_what_is_written_otherwise_is_refused(pattern: str, text: str) -> None:
    with pytest.raises(ComitiaError, match=f"'{text}' is not written as '{pattern}'"):
        DateFormat.parse(pattern).milliseconds(text)


@pytest.mark.parametrize("text", ["1999-13", "1999-00"])
def test_a_date_that_no_calendar_has_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="month"):
        DateFormat.parse("yyyy-MM").milliseconds(text)
