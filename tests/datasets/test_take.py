"""A part of a dataset keeps rows, labels and weights together."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse

from comitia.datasets import make_joint

data = replace(make_joint(20, 4, 3, dependence=0.5, random_state=0).dataset, sample_weight=np.arange(20.0))
KINDS = {
    "array": data,
    "sparse": replace(data, X=csr_array(data.X)),
    "frame": replace(data, X=pd.DataFrame(data.X, columns=list(data.feature_names), index=np.arange(20)[::-1])),
}


@pytest.mark.parametrize(
    "rows", [np.array([3, 1, 3]), np.arange(20) % 2 == 0, slice(5, 9)], ids=["int", "bool", "slice"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_part_has_its_rows_its_labels_and_its_weights(kind, rows):
    part = KINDS[kind].take(rows)
    X = part.X.toarray() if issparse(part.X) else np.asarray(part.X)
    np.testing.assert_array_equal(X, data.X[rows])
    np.testing.assert_array_equal(part.Y, data.Y[rows])
    np.testing.assert_array_equal(part.sample_weight, data.sample_weight[rows])
    assert (part.name, part.feature_names, part.label_names) == (data.name, data.feature_names, data.label_names)


def test_a_part_of_data_without_weights_has_none():
    assert replace(data, sample_weight=None).take(np.array([0])).sample_weight is None
