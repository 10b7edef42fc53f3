"""Dates and times as people write them, and frames that come later."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from comitia import ComitiaError
from comitia.columns import TableEncoder


@pytest.mark.parametrize(
    "dates",
    [
        pd.to_datetime(["2020-01-06", "2021-02-09", None, "2022-03-16"]),
        pd.to_datetime(["2020-01-06", "2021-02-09", None, "2022-03-16"]).tz_localize("Europe/Berlin"),
        ["2020-01-06", "2021-02-09", None, "2022-03-16"],
        ["06.01.2020", "09.02.2021", "", "16.03.2022"],
        ["01/06/2020", "02/09/2021", None, "03/16/2022"],
        [datetime.date(2020, 1, 6), datetime.date(2021, 2, 9), None, datetime.date(2022, 3, 16)],
    ],
)
def test_dates_become_their_place_and_the_parts_that_vary(dates: Any) -> None:
    X = pd.DataFrame({"when": dates})
    encoder = TableEncoder("ordinal").fit(X)
    assert encoder.get_feature_names_out().tolist() == ["when", "when: day of week", "when: month"]
    Z = encoder.transform(X)
    np.testing.assert_array_equal(Z[:, 1:], [[0, 1], [1, 2], [np.nan, np.nan], [2, 3]])
    assert Z[[0, 3], 0].tolist() == [0, 1]
    assert 0.4 < Z[1, 0] < 0.6
    waves = TableEncoder().fit(X)
    assert waves.get_feature_names_out()[1:3].tolist() == ["when: day of week (sin)", "when: day of week (cos)"]
    np.testing.assert_allclose(np.sum(waves.transform(X)[[0, 1, 3], 1:3] ** 2, axis=1), 1)


def test_the_hour_counts_where_there_is_a_time_and_other_dates_stand_at_the_ends() -> None:
    X = pd.DataFrame({"when": ["2020-01-06T06:30:00Z", "2020-01-06 18:00", "2020-01-06T12:00:00.5+02:00"]})
    encoder = TableEncoder("ordinal").fit(X)
    assert encoder.get_feature_names_out().tolist() == ["when", "when: hour"]
    later = encoder.transform(pd.DataFrame({"when": ["1999-01-01 06:30", "2031-01-01 18:00"]}))
    np.testing.assert_array_equal(later, [[0, 6.5], [1, 18]])
    np.testing.assert_allclose(encoder.transform(X)[:, 1], [6.5, 18, 10 + 0.5 / 3600])


@pytest.mark.parametrize(
    ("written", "hour"),
    [
        ("2024/03/14 2:05:00 PM GMT+1", 13 + 5 / 60),
        ("2024/03/14 12:30:00 AM GMT-3:30", 4),
        ("3/14/2024, 12:15 pm", 12.25),
        ("3/14/2024 1:00 AM", 1),
        ("14.03.2024 18:30 UTC", 18.5),
        ("2024-03-14T06:00:00+0530", 0.5),
        ("2024-03-14 06:00:00-02", 8),
        ("2024-03-14 06:00Z", 6),
    ],
)
def test_times_of_day_are_read_as_forms_and_databases_write_them(written: str, hour: float) -> None:
    encoder = TableEncoder("ordinal").fit(pd.DataFrame({"when": ["2024-03-14 00:00", "2024-03-15 23:59"]}))
    assert encoder.get_feature_names_out()[-1] == "when: hour"
    assert encoder.transform(pd.DataFrame({"when": [written]}))[0, -1] == pytest.approx(hour)
    assert TableEncoder().fit(pd.DataFrame({"when": [written], "x": [1]})).kinds_["when"] == "date"
    wrong = re.sub(r" 1?\d:", " 13:", written) if "m" in written.lower() else f"{written} PM"
    assert TableEncoder().fit(pd.DataFrame({"when": [wrong], "x": [1]})).kinds_["when"] == "category"


def test_days_and_months_that_could_be_exchanged_are_not_guessed() -> None:
    X = pd.DataFrame({"when": ["01/02/2020", "03/04/2021"]})
    assert "day_first" in TableEncoder(features=["*"]).fit(X.assign(x=1.0)).left_out_["when"]
    assert TableEncoder("ordinal", day_first=True).fit_transform(X)[:, -1].tolist() == [2, 4]
    assert TableEncoder("ordinal", day_first=False).fit_transform(X)[:, -1].tolist() == [1, 3]


def test_later_frames_may_be_written_otherwise() -> None:
    X = pd.DataFrame({"price": [1.5, 1234.5], "when": pd.to_datetime(["2020-01-06", "2020-03-02"])})
    encoder = TableEncoder("ordinal").fit(X)
    expected = encoder.transform(X)
    later = pd.DataFrame({"price": ["1,5 €", "1.234,50 €"], "when": ["06.01.2020", "02.03.2020"]})
    with pytest.raises(ComitiaError, match=r"found '1,5 €' in row 1, .*numbers='1\.234,5' reads .* per cent signs\.$"):
        encoder.transform(later)
    later.attrs["columns"] = {"numbers": "1.234,5"}
    np.testing.assert_array_equal(encoder.transform(later), expected)
    american = later.assign(when=["01/06/2020", "03/02/2020"])
    with pytest.raises(ComitiaError, match="could be exchanged, as '01/06/2020'; day_first=True or day_first=False"):
        encoder.transform(american)
    american.attrs["columns"] = {"numbers": "1.234,5", "day_first": False}
    np.testing.assert_array_equal(encoder.transform(american), expected)
    blank = later.assign(price=["?", "-"], when=["never", None])
    blank.attrs["columns"] = {"missing_values": ["?", "-", "never"]}
    assert np.isnan(encoder.transform(blank)).all()
    later.attrs["columns"] = {"numbers": "1'234.5"}
    with pytest.raises(ComitiaError, match=r"numbers must be one of plain, 1,234\.5, 1\.234,5; got \"1'234\.5\""):
        encoder.transform(later)


def test_the_order_of_later_dates_is_that_of_fit_unless_they_contradict_it() -> None:
    encoder = TableEncoder("ordinal").fit(pd.DataFrame({"when": ["01/13/2020", "02/20/2021"]}))

    def months(*dates: str, **said: Any) -> list[float]:
        later = pd.DataFrame({"when": dates})
        later.attrs["columns"] = said
        return encoder.transform(later)[:, -1].tolist()

    assert encoder.get_feature_names_out()[-1] == "when: month"
    assert months("03/04/2020") == [3]
    assert months("2020-05-06", "2020-07-08") == [5, 7]
    assert months("31/03/2020", "04/05/2020") == [3, 5]
    assert months("03/04/2020", day_first=True) == [4]


def test_postal_codes_are_no_numbers_in_any_notation() -> None:
    X = pd.DataFrame({"zip": ["01067", "99084", "10115"], "share": ["05 %", "7 %", "1.200,5"]})
    assert TableEncoder(numbers="1.234,5").fit(X).kinds_ == {"zip": "category", "share": "number"}


def test_a_later_cell_that_is_no_date_is_named() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"when": ["2020-01-06", "2020-02-06"]}))
    with pytest.raises(ComitiaError, match="column 'when', row 2: expected a date, year first, found 'soon'"):
        encoder.transform(pd.DataFrame({"when": ["2020-01-06", "soon"]}))
    assert np.isnan(encoder.transform(pd.DataFrame({"when": [None, None]}))).all()
