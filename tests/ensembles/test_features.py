"""Nominal columns as numbers, against scikit-learn's encoders."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from comitia import ComitiaError, EMODTClassifier
from comitia.ensembles._features import NominalEncoder, nominal_columns

FRAME = pd.DataFrame(
    {
        "x": np.linspace(-1, 1, 12),
        "colour": pd.Categorical.from_codes(np.arange(12) % 3, ["red", "green", "blue", "never"]),
        "flag": np.arange(12) % 2 == 0,
        "text": list("abcabdabcdab"),
        "n": np.arange(12),
    }
)


@pytest.mark.parametrize("make", [lambda frame: frame, lambda frame: pl.from_pandas(frame)], ids=["pandas", "polars"])
@pytest.mark.parametrize(("kind", "peer"), [("one-hot", OneHotEncoder), ("ordinal", OrdinalEncoder)])
def test_numbers_are_those_of_scikit_learn(kind, peer, make):
    frame = make(FRAME)
    encoder = NominalEncoder.of(frame, nominal_columns(frame), kind)
    categories = [np.array(values, dtype=object) for values in encoder.categories]
    more = {"sparse_output": False} if peer is OneHotEncoder else {}
    encoders = [("nominal", peer(categories=categories, **more), ["colour", "text"])]
    expected = ColumnTransformer(encoders, remainder="passthrough", sparse_threshold=0).fit_transform(FRAME)
    np.testing.assert_array_equal(encoder.transform(frame), expected.astype(float))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_trees_take_missing_values_of_nominal_columns(missing):
    frame = FRAME.assign(text=[missing, *FRAME["text"][1:]])
    numbers = NominalEncoder.of(frame, ["colour", "text"], "ordinal").transform(frame)
    assert np.flatnonzero(np.isnan(numbers[:, 1])).tolist() == [0]
    Y = np.column_stack([FRAME["flag"], ~FRAME["flag"]]).astype(int)
    assert EMODTClassifier(n_estimators=2, random_state=0).fit(frame, Y).predict(frame).shape == (12, 2)
    with pytest.raises(ComitiaError, match="X must hold values in 'text' that were there in fit; got"):
        NominalEncoder.of(frame, ["colour", "text"], "one-hot").transform(frame)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "hashed"},
        {"names": ["x", "c"]},
        {"columns": ("z",)},
        {"categories": ()},
        {"categories": (("a", "a"),)},
        {"categories": (["a"],)},
    ],
)
def test_what_is_no_encoder_is_refused(wrong):
    right = {"kind": "ordinal", "names": ("x", "c"), "columns": ("c",), "categories": (("a", "b"),)}
    NominalEncoder(**right)
    with pytest.raises(ComitiaError):
        NominalEncoder(**{**right, **wrong})
