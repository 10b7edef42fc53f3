"""Frames in, numbers out: the transformer that decides what each column is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from comitia._errors import ComitiaError
from comitia._frames import is_frame
from comitia._names import printable, unknown
from comitia.columns._cells import Cells, column_names
from comitia.columns._dates import ORDERS, PERIODS, date_parts, encode_dates
from comitia.columns._encoders import RARE, Categories, Medians, Words
from comitia.columns._kinds import Place, Use, Writing, dates_of, decide, matching, numbers_of
from comitia.columns._numbers import NOTATIONS, Notation, as_numbers


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a frame into numbers, after deciding what each of them is.

    ============  ==================================================================================================
    a column of   becomes
    ============  ==================================================================================================
    numbers       itself; true and false are 1 and 0
    dates         its place between the first and the last date seen, and the parts that vary: day of week, month, hour;
                  earlier and later dates stand at the ends
    categories    one column for each value (``"one-hot"``) or one column of codes (``"ordinal"``)
    text          TF-IDF weights of its words, where ``text`` names it; words of one row only, or of all, are left out
    anything      nothing, where (nearly) every row differs or nothing is known: identifiers, names, free text
    ============  ==================================================================================================

    A missing category is a category of its own, rare ones share one, and a value that was not seen in `fit` is none of
    them: zero in all one-hot columns, NaN as a code.  So every row can be transformed; what is refused is a cell of a
    number or date column that is none, with its column and row.

    Parameters
    ----------
    encoding : {"one-hot", "ordinal"}, default="one-hot"
        One-hot columns suit linear models, which would take an order for real; trees split codes well and stay small.
        Parts of dates are points on a circle (sine and cosine) in the first case and plain numbers in the second.
    features : list of str, optional
        The columns to use, or patterns such as ``"x*"``; all by default.
    ignore, categories, text : list of str, default=()
        Columns, or patterns of them, to leave out, to take as categories (whatever they hold) and to take as text.
    numbers : {"plain", "1,234.5", "1.234,5"}, default="plain"
        How numbers in texts are written.  The last two allow thousands separators, currency and per cent signs, with
        the decimal sign of the example.
    missing : {"keep", "impute"}, default="keep"
        Keep missing numbers as NaN, or put the median in their place and add a column that says where.
    missing_values : list of str, default=()
        Texts that stand for a missing cell, besides blank ones.
    day_first : bool, optional
        Whether 1/2/2020 is a day in February; by default the order is taken only where some date leaves no doubt.
    min_frequency : int, optional
        Values in fewer rows are rare.  By default 5 in a column of more than 20 values, and 1 elsewhere.
    max_categories : int or None, default=255
        The most values of a column that are told apart; the less frequent ones are rare.
    max_words : int or None, default=20000
        The most words of a text column that are told apart.

    How cells are written may differ from file to file: `fit` and `transform` follow ``numbers``, ``missing_values`` and
    ``day_first`` in ``X.attrs["columns"]`` of a pandas frame, where they stand there.

    Attributes
    ----------
    kinds_ : dict of str to str
        What each column is: "number", "date", "category", "text" or "left out".
    left_out_ : dict of str to str
        Why a column is left out.
    feature_names_in_ : ndarray of str
        The columns that were seen in `fit`.
    sparse_output_ : bool
        Whether `transform` gives a sparse array: when less than a quarter of the entries are not zero.

    See Also
    --------
    sklearn.compose.ColumnTransformer : Encoders for columns that are listed by hand.

    Notes
    -----
    The cost is linear in the number of cells, the memory that of the result and of one column at a time.  All that is
    learnt is plain data: arrays, dicts, lists and strings, which `check` looks through.

    skrub's ``TableVectorizer`` has the same aim.  It guesses numbers and dates from texts more freely, turns every text
    into dense components, leaves nothing out because its rows differ, and its classes are not among those that skops
    opens without being asked.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia.columns import TableEncoder
    >>> X = pd.DataFrame({"width": [0.5, None, 2], "genre": ["rock", "jazz", "rock"], "live": [True, False, True]})
    >>> encoder = TableEncoder().fit(X)
    >>> encoder.describe()
    'numbers 2; categories 1: genre, 2 values'
    >>> encoder.transform(pd.DataFrame({"width": [1.0], "genre": ["polka"], "live": [False]}))
    array([[0., 0., 1., 0.]])
    """

    def __init__(
        self,
        encoding: Literal["one-hot", "ordinal"] = "one-hot",
        *,
        features: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        categories: Sequence[str] = (),
        text: Sequence[str] = (),
        numbers: Notation = "plain",
        missing: Literal["keep", "impute"] = "keep",
        missing_values: Sequence[str] = (),
        day_first: bool | None = None,
        min_frequency: int | None = None,
        max_categories: int | None = 255,
        max_words: int | None = 20_000,
    ) -> None:
        self.encoding = encoding
        self.features = features
        self.ignore = ignore
        self.categories = categories
        self.text = text
        self.numbers = numbers
        self.missing = missing
        self.missing_values = missing_values
        self.day_first = day_first
        self.min_frequency = min_frequency
        self.max_categories = max_categories
        self.max_words = max_words

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide what each column is and learn its values.

        Parameters
        ----------
        X : frame or array of shape (n, d)
            A pandas or polars frame; an array has the columns x0, x1 and so on.
        y : object
            Not used.
        """
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Any:  # noqa: ARG002
        """Decide what each column is and return it as numbers; what `transform` returns after `fit`."""
        self._check_parameters()
        names = column_names(X)
        written, place = self._written(X), Place.in_frame(X)
        if not len(X):
            raise ComitiaError("X must have a row at least; got none.")
        self.feature_names_in_ = np.asarray(names, dtype=object)
        self.n_features_in_ = len(names)
        wanted = self._wanted(names)
        self.kinds_: dict[str, str] = {}
        self.left_out_: dict[str, str] = {}
        self.date_orders_: dict[str, str] = {}
        self.date_parts_: dict[str, list[str]] = {}
        self.date_spans_: dict[str, list[int]] = {}
        self.encoders_: dict[str, Any] = {}
        blocks: dict[str, Any] = {}
        for name in names:
            if wanted[name] == "ignored":
                self.kinds_[name], self.left_out_[name] = "left out", "ignored"
                continue
            blocks[name] = self._fit_column(name, written.cells(X, name, names), wanted[name], written, place)
        return self._finish(len(X), {name: block for name, block in blocks.items() if block is not None}, fit=True)

    def transform(self, X: Any) -> Any:
        """Return the columns as numbers.

        Parameters
        ----------
        X : frame or array of shape (n, d)
            With the columns of `fit`, found by their names; others are left alone.  An array has them in their order.

        Returns
        -------
        ndarray or CSR array of shape (n, d')
        """
        check_is_fitted(self, "kinds_")
        names, written, place = column_names(X), self._written(X), Place.in_frame(X)
        if not is_frame(X) and len(names) == self.n_features_in_:
            names = self.feature_names_in_.tolist()
        used = [name for name, kind in self.kinds_.items() if kind != "left out"]
        for name in used:
            if name not in names:
                where = f"{place.source}: " if place.source else ""
                raise ComitiaError(f"{where}X lacks a column that it had in fit: {unknown('column', name, names)}")
        blocks = {name: self._transform_column(name, written.cells(X, name, names), written, place) for name in used}
        return self._finish(len(X), blocks, fit=False)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the names of the columns that `transform` gives."""
        check_is_fitted(self, "kinds_")
        names = [out for name in self._ordered("category", "number", "date") for out in self._names_out(name)]
        if self.imputer_ is not None:
            numbers = [out for name in self._ordered("number", "date") for out in self._names_out(name)]
            names += [f"{numbers[j]}=missing" for j in self.imputer_.told]
        return np.asarray([*names, *(out for name in self._ordered("text") for out in self._names_out(name))], object)

    def describe(self) -> str:
        """Say in a line what the columns are.

        Examples
        --------
        >>> import pandas as pd
        >>> from comitia.columns import TableEncoder
        >>> X = pd.DataFrame({"id": [f"a{i}" for i in range(50)], "width": range(50)})
        >>> TableEncoder().fit(X).describe()
        'numbers 1; left out 1: id, every row differs'
        """
        return "; ".join(f"{group} {len(rows)}{_listed(rows)}" for group, rows in self.summary_.items() if rows)

    @property
    def summary_(self) -> dict[str, list[tuple[str, str]]]:
        """What `describe` says, as groups of columns with a word about each."""
        check_is_fitted(self, "kinds_")
        return {
            "numbers": [(name, "") for name in self._ordered("number")],
            "categories": [(name, self._values_in_words(name)) for name in self._ordered("category")],
            "dates": [(name, "") for name in self._ordered("date")],
            "text": [(name, f"{self.encoders_[name].width} words") for name in self._ordered("text")],
            "left out": [(name, self.left_out_[name]) for name in self._ordered("left out")],
        }

    @property
    def rare_(self) -> dict[str, list[str]]:
        """The values of each category that are rare."""
        return {name: list(self.encoders_[name].rare) for name in self._ordered("category")}

    def check(self) -> None:
        """Raise ComitiaError unless what was learnt fits together; for encoders that come from a file."""
        check_is_fitted(self, "kinds_")
        self._check_parameters()
        names = [str(name) for name in self.feature_names_in_]
        if list(self.kinds_) != names or self.n_features_in_ != len(names) or not isinstance(self.sparse_output_, bool):
            raise ComitiaError("an encoder must know what each of its columns is.")
        made = {"category": Categories, "text": Words}
        for name, kind in self.kinds_.items():
            if kind not in ("number", "date", "category", "text", "left out"):
                raise ComitiaError(f"column {name!r} must be of a known kind; got {kind!r}.")
            if kind in made and type(self.encoders_.get(name)) is not made[kind]:
                raise ComitiaError(f"column {name!r} must have the values of a {kind}.")
            if kind == "date":
                self._check_date(name)
        if self.imputer_ is not None and type(self.imputer_) is not Medians:
            raise ComitiaError("missing numbers must have medians in their place.")

    def _check_date(self, name: str) -> None:
        span, parts = self.date_spans_[name], self.date_parts_[name]
        if len(span) != 2 or not all(type(end) is int and abs(end) < 2**63 for end in span) or span[0] > span[1]:
            raise ComitiaError(f"column {name!r} must have a first and a last date.")
        if self.date_orders_[name] not in ("", *ORDERS) or not set(parts) <= set(PERIODS):
            raise ComitiaError(f"column {name!r} must have dates of a known form.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _check_parameters(self) -> None:
        for name, value, known in (
            ("encoding", self.encoding, ("one-hot", "ordinal")),
            ("missing", self.missing, ("keep", "impute")),
        ):
            if value not in known:
                raise ComitiaError(f"{name} must be one of {', '.join(known)}; got {value!r}.")
        self._written(None)
        for name in ("min_frequency", "max_categories", "max_words"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
                raise ComitiaError(f"{name} must be a whole number of at least 1, or None; got {value!r}.")

    def _wanted(self, names: list[str]) -> dict[str, str]:
        """What was asked of each column: "category", "text", "ignored" or "" for nothing."""
        asked = dict.fromkeys(names, "ignored" if self.features is not None else "")
        if self.features is not None:
            asked.update(dict.fromkeys(matching(names, self.features, "features"), ""))
        for option, what in (("categories", "category"), ("text", "text"), ("ignore", "ignored")):
            for name in matching(names, getattr(self, option), option):
                if asked[name] in ("category", "text"):
                    raise ComitiaError(f"column {name!r} is named by two of categories, text and ignore.")
                asked[name] = what
        return asked

    def _written(self, X: Any) -> Writing:
        return Writing(self.numbers, self.missing_values, self.day_first).in_frame(X)

    def _fit_column(self, name: str, cells: Cells, asked: str, written: Writing, place: Place) -> Any:
        use = Use("category" if asked == "category" else "text") if asked else decide(name, cells, written, place)
        if use.kind == "date":
            self._fit_date(name, dates_of(name, cells, use.detail, written, place), use.detail)
        elif use.kind == "category":
            self.encoders_[name] = Categories.of(cells, self.encoding, self.min_frequency, self.max_categories)
        elif use.kind == "text":
            words = Words.of(cells, self.max_words)
            if words is None:
                use = Use("left out", "text without words")
            else:
                self.encoders_[name] = words
        self.kinds_[name] = use.kind
        if use.kind == "left out":
            self.left_out_[name] = use.detail
            return None
        return self._transform_column(name, cells, written, place)

    def _fit_date(self, name: str, instants: NDArray[Any], order: str) -> None:
        known = instants[~np.isnat(instants)].astype(np.int64)
        self.date_orders_[name] = order
        self.date_spans_[name] = [int(known.min()), int(known.max())]
        parts = date_parts(instants)
        self.date_parts_[name] = [part for part in PERIODS if np.nanmin(parts[part]) < np.nanmax(parts[part])]

    def _transform_column(self, name: str, cells: Cells, written: Writing, place: Place) -> Any:
        kind = self.kinds_[name]
        if kind == "number":
            return numbers_of(name, cells, written, place)[:, None]
        if kind == "date":
            instants = dates_of(name, cells, self.date_orders_[name], written, place)
            return encode_dates(instants, self.date_spans_[name], self.date_parts_[name], self.encoding)
        if not len(cells.values):
            return csr_array((0, self.encoders_[name].width))
        return self.encoders_[name].encode(cells)

    def _finish(self, n: int, blocks: dict[str, Any], *, fit: bool) -> Any:
        """Put the blocks of the columns side by side: categories, numbers and dates, texts."""
        dense = [blocks[name] for name in self._ordered("number", "date")]
        numbers = np.column_stack([np.empty((n, 0)), *dense])
        if fit:
            self.imputer_ = None
            if self.missing == "impute" and numbers.shape[1]:
                self.imputer_ = Medians.of(numbers)
        if self.imputer_ is not None:
            numbers = self.imputer_.encode(numbers)
        parts = [blocks[name] for name in self._ordered("category")] + [numbers]
        parts += [blocks[name] for name in self._ordered("text")]
        if fit:
            entries = sum(part.nnz if issparse(part) else np.count_nonzero(part) for part in parts)
            width = sum(part.shape[1] for part in parts)
            if not width:
                raise ComitiaError(f"X must have a column to learn from; got none: {self.describe()}.")
            self.sparse_output_ = bool(width > 32 and entries < 0.25 * n * width)
        if self.sparse_output_:
            return csr_array(hstack([csr_array(part) for part in parts if part.shape[1]], format="csr"))
        return np.hstack([part.toarray() if issparse(part) else part for part in parts])

    def _ordered(self, *kinds: str) -> list[str]:
        return [name for kind in kinds for name, found in self.kinds_.items() if found == kind]

    def _names_out(self, name: str) -> list[str]:
        encoder = self.encoders_.get(name)
        if isinstance(encoder, Words):
            return [f"{name}: {word}" for word in encoder.words]
        if isinstance(encoder, Categories) and encoder.encoding == "one-hot":
            return [f"{name}={'missing' if value is None else value}" for value in encoder.values]
        if name not in self.date_spans_:
            return [name]
        parts = self.date_parts_[name]
        waves = [f"{part} ({wave})" for part in parts for wave in ("sin", "cos")]
        return [name, *(f"{name}: {part}" for part in (parts if self.encoding == "ordinal" else waves))]

    def _values_in_words(self, name: str) -> str:
        found = self.encoders_[name]
        kept = [value for value in found.values if value not in (None, RARE)]
        if not kept and found.rare:
            return f"{len(found.rare)} values, all of them rare"
        rare = f" and {len(found.rare)} rare ones" if found.rare else ""
        return f"{len(kept)} value{'' if len(kept) == 1 else 's'}{rare}{_offer(kept)}"


def _offer(values: Sequence[str]) -> str:
    """Say how the values of a category would be numbers, where all of them are in one notation."""
    if len(as_numbers(values, "plain")) == len(values):
        return ""
    notation = next((one for one in NOTATIONS[1:] if len(as_numbers(values, one)) == len(values)), None)
    return "" if notation is None else f", numbers with numbers={notation!r}"


def _listed(rows: list[tuple[str, str]], most: int = 12) -> str:
    words = [f"{printable(name)}, {word}" for name, word in rows[:most] if word]
    more = [f"{len(rows) - most} more"] if len(rows) > most and words else []
    return f": {'; '.join([*words, *more])}" if words else ""
