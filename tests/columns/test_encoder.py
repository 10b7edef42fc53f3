"""Columns of frames as they come out of spreadsheets and databases."""

from __future__ import annotations

import datetime
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from comitia import ComitiaError
from comitia.columns import TableEncoder

N = 200
RNG = np.random.default_rng(0)
GENRES = ("rock", "jazz", "folk")
TRUSTED = [
    "comitia.columns._encoder.TableEncoder",
    *(f"comitia.columns._encoders.{name}" for name in ("Categories", "Words", "Medians")),
    "numpy.dtype",
]


def songs(n: int = N) -> pd.DataFrame:
    """What a music shop would bring."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "tempo": rng.normal(120, 10, n),
            "plays": rng.integers(0, 1000, n),
            "live": rng.random(n) < 0.3,
            "genre": np.array(GENRES, object)[rng.integers(0, 3, n)],
            "released": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D"),
            "uuid": [str(uuid.UUID(int=int(i))) for i in rng.integers(0, 2**62, n)],
            "title": [f"the song number {i} of the year {10 + i % 90}" for i in range(n)],
        }
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_every_column_is_told_and_said(frame: Any) -> None:
    X = songs() if frame is pd.DataFrame else pl.from_pandas(songs())
    encoder = TableEncoder().fit(X)
    assert encoder.describe() == (
        "numbers 3; categories 1: genre, 3 values; dates 1; left out 2: uuid, every row differs; title, text"
    )
    assert encoder.kinds_["released"] == "date"
    assert encoder.left_out_ == {"uuid": "every row differs", "title": "text"}
    Z = encoder.transform(X)
    assert Z.shape == (N, len(encoder.get_feature_names_out()))
    assert list(encoder.get_feature_names_out()[:3]) == ["genre=folk", "genre=jazz", "genre=rock"]


def test_pandas_and_polars_give_the_same_numbers() -> None:
    X = songs()
    X.loc[3, "genre"] = X.loc[4, "tempo"] = X.loc[5, "released"] = None
    for options in ({}, {"encoding": "ordinal"}, {"text": ["title"], "missing": "impute"}):
        encoder = TableEncoder(**options)
        ours, theirs = encoder.fit_transform(X), clone(encoder).fit_transform(pl.from_pandas(X))
        assert issparse(ours) == issparse(theirs) == ("text" in options)
        dense = [Z.toarray() if issparse(Z) else Z for Z in (ours, theirs)]
        np.testing.assert_array_equal(*dense)
        np.testing.assert_array_equal(dense[0][7:9], _dense(encoder.transform(X[7:9])))


def _dense(Z: Any) -> np.ndarray:
    return Z.toarray() if issparse(Z) else Z


def test_columns_are_steered_by_name_and_by_pattern() -> None:
    X = songs()
    encoder = TableEncoder(features=["t*", "plays", "genre"], ignore="tempo", categories=["plays"], text=["title"])
    encoder.fit(X)
    used = {name: kind for name, kind in encoder.kinds_.items() if kind != "left out"}
    assert used == {"plays": "category", "genre": "category", "title": "text"}
    assert encoder.left_out_["uuid"] == "ignored"
    with pytest.raises(ComitiaError, match=r"ignore: unknown column 'gerne': did you mean 'genre'\?"):
        TableEncoder(ignore=["gerne"]).fit(X)
    with pytest.raises(ComitiaError, match="'genre' is named by two"):
        TableEncoder(categories=["genre"], text=["genre"]).fit(X)


def test_an_identifier_is_never_one_hot_unless_it_is_named() -> None:
    X = songs()
    X.loc[1, "uuid"] = X.loc[0, "uuid"]
    assert TableEncoder().fit(X).left_out_["uuid"] == "nearly every row differs"
    assert TableEncoder().fit(X.astype({"uuid": "category"})).left_out_["uuid"] == "nearly every row differs"
    assert TableEncoder(categories=["uuid"]).fit(X).kinds_["uuid"] == "category"


def test_few_rows_have_categories_though_every_one_differs() -> None:
    X = pd.DataFrame({"colour": ["red", "green", "blue"]})
    np.testing.assert_array_equal(TableEncoder().fit_transform(X), [[0, 0, 1], [0, 1, 0], [1, 0, 0]])


def test_a_missing_category_is_one_of_its_own_and_an_unseen_one_is_none() -> None:
    X = pd.DataFrame({"c": ["a", None, "b", "a"]})
    new = pd.DataFrame({"c": ["z", None, "a"]})
    encoder = TableEncoder().fit(X)
    assert list(encoder.get_feature_names_out()) == ["c=a", "c=b", "c=missing"]
    np.testing.assert_array_equal(encoder.transform(new), [[0, 0, 0], [0, 0, 1], [1, 0, 0]])
    codes = TableEncoder("ordinal").fit(X).transform(new)
    np.testing.assert_array_equal(codes, [[np.nan], [2], [0]])
    never_missing = TableEncoder().fit(X.dropna()).transform(new)
    np.testing.assert_array_equal(never_missing, [[0, 0], [0, 0], [1, 0]])


def test_rare_categories_share_a_place_and_the_most_are_bounded() -> None:
    values = [f"often {i}" for i in range(25)] * 6 + [f"once {i}" for i in range(10)] + [None]
    X = pd.DataFrame({"c": values})
    encoder = TableEncoder().fit(X)
    assert encoder.get_feature_names_out()[-2:].tolist() == ["c=(rare)", "c=missing"]
    assert encoder.rare_["c"] == [f"once {i}" for i in range(10)]
    assert encoder.describe() == "categories 1: c, 25 values and 10 rare ones"
    Z = _dense(encoder.transform(pd.DataFrame({"c": ["once 3", "never", None]})))
    assert Z[:, -2:].tolist() == [[1, 0], [0, 0], [0, 1]]
    few = TableEncoder(max_categories=2).fit(X)
    assert list(few.get_feature_names_out()) == ["c=often 0", "c=often 1", "c=(rare)", "c=missing"]
    assert len(TableEncoder(min_frequency=1).fit(X).get_feature_names_out()) == 36


def test_declared_values_keep_their_order_and_their_places() -> None:
    kind = pd.CategoricalDtype(["small", "large", "huge"])
    X = pd.DataFrame({"size": pd.Series(["large", "small"], dtype=kind)})
    assert TableEncoder().fit(X).get_feature_names_out().tolist() == ["size=small", "size=large", "size=huge"]
    assert TableEncoder("ordinal").fit_transform(X).tolist() == [[1], [0]]
    Y = pl.DataFrame({"size": ["large", "small"]}, schema={"size": pl.Enum(["small", "large", "huge"])})
    assert TableEncoder("ordinal").fit_transform(Y).tolist() == [[1], [0]]
    numbers = pd.DataFrame({"size": pd.Categorical([2.0, 1.0, 10.0])})
    assert TableEncoder().fit(numbers).get_feature_names_out().tolist() == ["size=1", "size=2", "size=10"]


def test_wide_categories_are_sparse() -> None:
    X = pd.DataFrame({f"c{j}": [f"v{i % 50}" for i in range(1000)] for j in range(3)} | {"x": range(1000)})
    Z = TableEncoder().fit_transform(X)
    assert issparse(Z)
    assert Z.shape == (1000, 151)
    assert Z.nnz <= 4000
    assert not issparse(TableEncoder("ordinal").fit_transform(X))


def test_a_number_column_with_cells_that_are_none_names_them() -> None:
    X = pd.DataFrame({"price": [str(i / 10) for i in range(1000)]})
    X.loc[[16, 41, 50, 70], "price"] = ["unknown", "n.a.", "unknown", "unknown"]
    with pytest.raises(ComitiaError) as refused:
        TableEncoder().fit(X)
    message = str(refused.value)
    assert message.startswith(
        "column 'price': expected numbers, found 'unknown' in row 17, 'n.a.' in row 42, 'unknown' in row 51 and 1 more."
    )
    assert "missing_values=['unknown', 'n.a.'] counts them as missing" in message
    X.attrs["source"] = "shop.csv"
    with pytest.raises(ComitiaError, match=r"shop\.csv, column 'price': expected numbers, found 'unknown' in row 51"):
        TableEncoder().fit(X[45:145])
    Z = TableEncoder(missing_values=["unknown", "n.a."]).fit_transform(X)
    assert np.flatnonzero(np.isnan(Z[:, 0])).tolist() == [16, 41, 50, 70]
    assert TableEncoder(categories=["price"]).fit(X).kinds_ == {"price": "category"}


def test_a_cell_that_is_no_number_is_named_when_it_comes_later() -> None:
    encoder = TableEncoder().fit(pd.DataFrame({"x": [1.0, 2.0]}))
    assert encoder.transform(pd.DataFrame({"x": ["3", None, "4.5", "true"]}))[[0, 2, 3], 0].tolist() == [3, 4.5, 1]
    with pytest.raises(ComitiaError, match="column 'x': expected numbers, found 'many' in row 2"):
        encoder.transform(pd.DataFrame({"x": ["3", "many"]}))
    with pytest.raises(ComitiaError, match="column 'x': expected numbers, as in fit, found dates"):
        encoder.transform(pd.DataFrame({"x": [pd.Timestamp("2020-01-01")]}))


PRICES = {
    "1,234.5": (["$1,234.5", "12%", "(1,000)", "-3.5", "€ 2,000,000", "1'234"], [1234.5, 0.12, -1000, -3.5, 2e6, 1234]),
    "1.234,5": (["1.234,50 €", "12 %", "−7,5", "1 234,5", "EUR 1.000", "3"], [1234.5, 0.12, -7.5, 1234.5, 1000, 3]),
}  # fmt: skip


@pytest.mark.parametrize("notation", PRICES)
def test_separators_currency_and_per_cent_are_read_when_asked_for(notation: str) -> None:
    texts, numbers = PRICES[notation]
    X = pd.DataFrame({"price": texts})
    np.testing.assert_allclose(TableEncoder(numbers=notation).fit_transform(X)[:, 0], numbers)
    assert TableEncoder().fit(X).kinds_ == {"price": "category"}


def test_many_rows_with_an_identifier_and_one_cell_that_is_no_number_cost_a_column() -> None:
    n, random = 120_000, np.random.default_rng(0)
    identifiers = [str(uuid.UUID(bytes=random.bytes(16))) for _ in range(n)]
    X = pd.DataFrame({"price": np.arange(n).astype(str).astype(object), "uuid": identifiers})
    X.loc[77_777, "price"] = "unknown"
    with pytest.raises(ComitiaError, match="column 'price': expected numbers, found 'unknown' in row 77778"):
        TableEncoder().fit(X)
    Z = TableEncoder(missing_values=["unknown"]).fit_transform(X)
    assert Z.shape == (n, 1)
    assert np.flatnonzero(np.isnan(Z[:, 0])).tolist() == [77_777]
    assert TableEncoder(categories=["price"]).fit(X).get_feature_names_out().tolist() == ["price=(rare)"]


def test_separators_are_offered_and_not_guessed() -> None:
    X = pd.DataFrame({"price": [f"{i * 37:,}" for i in range(100)]})
    with pytest.raises(ComitiaError, match=r"found '1,036' in row 29, .*numbers='1,234\.5' reads thousands separators"):
        TableEncoder().fit(X)
    assert TableEncoder(numbers="1,234.5").fit_transform(X)[-1, 0] == 99 * 37


def test_few_prices_are_categories_with_the_notation_that_makes_numbers_of_them():
    X = pd.DataFrame(
        {"price": ["$1,000.50", "$2,000", "$3"] * 10, "share": ["10 %", "2,5 %"] * 15, "n": ["a", "b"] * 15}
    )
    assert TableEncoder().fit(X).describe() == (
        "categories 3: price, 3 values, numbers with numbers='1,234.5'; "
        "share, 2 values, numbers with numbers='1.234,5'; n, 2 values"
    )


def test_texts_that_are_all_numbers_are_numbers_but_codes_are_not() -> None:
    X = pd.DataFrame({"x": ["1", "2.5", "-3e2"], "zip": ["01234", "10115", "80331"]})
    encoder = TableEncoder().fit(X)
    assert encoder.kinds_ == {"x": "number", "zip": "category"}
    numbered = pd.DataFrame({"id": [f"{i:06x}" for i in range(60)], "zip": ["0123", "unknown"] * 30, "x": range(60)})
    assert TableEncoder().fit(numbered).kinds_ == {"id": "left out", "zip": "category", "x": "number"}


def test_codes_that_differ_in_every_row_are_identifiers_and_rare_ones_are_said_to_be_rare() -> None:
    codes = [f"{i:05}" for i in range(100)]
    X = pd.DataFrame({"customer": codes, "zip": [codes[i // 2] for i in range(100)], "x": range(100)})
    encoder = TableEncoder().fit(X)
    assert encoder.describe() == (
        "numbers 1; categories 1: zip, 50 values, all of them rare; left out 1: customer, every row differs"
    )


def test_missing_numbers_are_kept_or_imputed_with_an_indicator() -> None:
    X = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(TableEncoder().fit_transform(X), X)
    imputing = TableEncoder(missing="impute").fit(X)
    assert imputing.get_feature_names_out().tolist() == ["a", "b", "a=missing"]
    np.testing.assert_array_equal(imputing.transform(X), [[1, 1, 0], [2, 2, 1], [3, 3, 0]])
    later = imputing.transform(pd.DataFrame({"a": [1.0], "b": [np.nan]}))
    np.testing.assert_array_equal(later, [[1, 2, 0]])


def test_text_gives_the_weights_of_its_words_when_it_is_named() -> None:
    X = songs()
    encoder = TableEncoder(features=["title"], text=["title"]).fit(X)
    assert "title: 42" in encoder.get_feature_names_out()
    np.testing.assert_allclose(encoder.transform(X[:3]).power(2).sum(axis=1), 1)
    assert encoder.transform(pd.DataFrame({"title": [None, "unheard"]})).nnz == 0
    assert TableEncoder(text=["t"]).fit(pd.DataFrame({"t": ["!", "?"], "x": [1, 2]})).left_out_ == {
        "t": "text without words"
    }


def test_words_of_one_row_only_or_of_all_do_not_make_known_rows_unlike_new_ones() -> None:
    titles = [f"the {'thunder' if i % 2 else 'rain'} nr{i}" for i in range(40)]
    encoder = TableEncoder(text=["title"]).fit(pd.DataFrame({"title": titles}))
    assert encoder.get_feature_names_out().tolist() == ["title: rain", "title: thunder"]
    seen, new = (encoder.transform(pd.DataFrame({"title": [text]})) for text in ("the rain nr0", "rain and storm"))
    np.testing.assert_array_equal(seen, new)
    all_differ = TableEncoder(text=["title"]).fit(pd.DataFrame({"title": ["a storm", "the rain"]}))
    assert all_differ.encoders_["title"].width == 3


def test_truth_values_are_zero_and_one() -> None:
    X = pd.DataFrame({"a": [True, False], "b": ["true", "False"], "c": pd.array([None, True], dtype="boolean")})
    np.testing.assert_array_equal(TableEncoder().fit_transform(X), [[1, 1, np.nan], [0, 0, 1]])


def test_other_scalars_are_numbers_too() -> None:
    X = pd.DataFrame(
        {
            "decimal": [Decimal("1.5"), None],
            "time": [datetime.time(1, 0), datetime.time(0, 0, 30)],
            "span": pd.to_timedelta([1, None], unit="s"),
            "month": pd.PeriodIndex(["2020-01", "2021-01"], freq="M"),
        }
    )
    encoder = TableEncoder("ordinal").fit(X)
    np.testing.assert_array_equal(encoder.transform(X), [[1.5, 3600, 1, 0, 2], [np.nan, 30, np.nan, 1, 4]])
    frame = pl.DataFrame(
        {"t": [datetime.time(1)], "d": [datetime.timedelta(seconds=2)], "b": [True], "n": [Decimal(3)]}
    )
    assert TableEncoder().fit_transform(frame).tolist() == [[3600, 2, 1, 3]]


def test_cells_that_are_no_cells_are_refused_by_name() -> None:
    with pytest.raises(
        ComitiaError, match=r"column 'tags', row 1: expected a number, a text or a date, found .*ignore"
    ):
        TableEncoder().fit(pd.DataFrame({"tags": [object(), 3], "x": [1, 2]}))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_lists_and_objects_stop_nothing(frame: Any) -> None:
    tags, facts, kinds = [["a", "b"], ["c"]] * 30, [{"seen": i} for i in range(60)], [b"u", b"v"] * 30
    encoder = TableEncoder().fit(frame({"tags": tags, "facts": facts, "x": range(60), "kind": kinds}))
    assert encoder.describe() == (
        "numbers 1; categories 2: tags, 2 values; kind, 2 values; left out 1: facts, every row differs"
    )
    encoder = TableEncoder(ignore=["kind"]).fit(frame({"tags": tags, "facts": facts, "x": range(60), "kind": kinds}))
    new = encoder.transform(frame({"tags": [["a", "b"], ["new"]], "facts": facts[:2], "x": [1, 2]}))
    np.testing.assert_array_equal(new, [[1, 0, 1], [0, 0, 2]])


def test_identifiers_of_a_database_are_left_out_as_their_texts_are() -> None:
    X = pd.DataFrame({"id": [uuid.UUID(int=i) for i in range(60)], "x": range(60)})
    assert TableEncoder().fit(X).describe() == "numbers 1; left out 1: id, every row differs"


def test_a_frame_with_nothing_to_learn_from_is_refused_with_the_reasons() -> None:
    X = songs()[["uuid", "title"]]
    with pytest.raises(ComitiaError, match="a column to learn from; got none: left out 2: uuid, every row differs"):
        TableEncoder().fit(X)
    with pytest.raises(ComitiaError, match="a row at least"):
        TableEncoder().fit(songs()[:0])
    assert TableEncoder().fit(pd.DataFrame({"a": [None, None], "x": [1, 2]})).left_out_ == {
        "a": "every cell is missing"
    }


def test_a_missing_column_is_named_and_others_do_not_matter() -> None:
    X = songs()
    encoder = TableEncoder().fit(X)
    later = X[["released", "genre", "plays", "live", "tempo"]].assign(more="?")
    np.testing.assert_array_equal(encoder.transform(later), encoder.transform(X))
    with pytest.raises(ComitiaError, match=r"lacks a column that it had in fit: unknown column 'genre'"):
        encoder.transform(X.drop(columns="genre"))
    with pytest.raises(ComitiaError, match="'genre' twice"):
        encoder.transform(pd.concat([X, X[["genre"]]], axis=1))


def test_no_rows_give_no_rows() -> None:
    X = songs()
    for options in ({}, {"encoding": "ordinal"}, {"text": ["title"], "missing": "impute"}):
        encoder = TableEncoder(**options).fit(X)
        assert encoder.transform(X[:0]).shape == (0, len(encoder.get_feature_names_out()))


def test_arrays_pass_as_numbers() -> None:
    X = RNG.normal(size=(5, 2))
    encoder = TableEncoder().fit(X)
    np.testing.assert_array_equal(encoder.transform(X), X)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1"]
    objects = np.array([[1, "a"], [2, None], [3, "b"]], dtype=object)
    assert TableEncoder().fit_transform(objects).shape == (3, 4)


@pytest.mark.parametrize(
    "wrong", [{"encoding": "hash"}, {"numbers": "1.5"}, {"missing": "drop"}, {"min_frequency": 0}, {"max_words": 1.5}]
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ComitiaError, match=f"{next(iter(wrong))} must be"):
        TableEncoder(**wrong).fit(songs())


def test_it_works_in_a_pipeline() -> None:
    X = songs()
    y = X["genre"] == "rock"
    model = make_pipeline(TableEncoder(missing="impute", ignore=["plays"]), LogisticRegression(max_iter=1000)).fit(X, y)
    assert model.score(X, y) > 0.9
    later = X[:4].assign(genre=["polka", None, "rock", "jazz"])
    assert model.predict(later).shape == (4,)
    assert TableEncoder().set_output(transform="pandas").fit_transform(X).columns[0] == "genre=folk"


@pytest.mark.parametrize(
    "options", [{}, {"encoding": "ordinal"}, {"text": ["title"], "missing": "impute", "categories": ["plays"]}]
)
def test_a_saved_encoder_opens_and_encodes_unseen_values(options: dict[str, Any]) -> None:
    X = songs()
    X.loc[3, "genre"] = X.loc[4, "tempo"] = None
    encoder = TableEncoder(**options).fit(X)
    content = skops.io.dumps(encoder)
    assert set(skops.io.get_untrusted_types(data=content)) <= set(TRUSTED)
    opened = skops.io.loads(content, trusted=TRUSTED)
    later = X[:5].assign(genre=["polka", None, "rock", "jazz", "folk"])
    np.testing.assert_array_equal(_dense(opened.transform(later)), _dense(encoder.transform(later)))
    assert opened.describe() == encoder.describe()
