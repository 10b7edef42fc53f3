"""The orders that an ensemble of chains reports are those that its chains follow."""

import numpy as np

from comitia import ECCClassifier
from comitia.datasets import make_joint

DATA = make_joint(80, 4, 3, dependence=0.9, random_state=2).dataset


def fitted(order, **options):
    ensemble = ECCClassifier(n_estimators=3, chain_method="predict", order=order, random_state=0)
    return ensemble.set_params(**options).fit(DATA.X, DATA.Y)


def test_orders_that_are_given_are_the_orders_of_the_chains():
    np.testing.assert_array_equal(fitted([2, 0, 1]).orders_, [[2, 0, 1]] * 3)
    each = [[2, 0, 1], [0, 1, 2], [1, 2, 0]]
    np.testing.assert_array_equal(fitted(each).orders_, each)


def test_chains_of_the_reported_orders_are_the_same_chains():
    drawn = fitted("random", bootstrap=False)
    again = fitted(drawn.orders_, bootstrap=False)
    np.testing.assert_array_equal(again.predict_proba(DATA.X), drawn.predict_proba(DATA.X))
    backwards = fitted(drawn.orders_[:, ::-1], bootstrap=False)
    assert (backwards.predict_proba(DATA.X) != drawn.predict_proba(DATA.X)).any()


def test_a_warm_start_keeps_the_orders_it_had_and_adds_new_ones():
    few = fitted("random", warm_start=True)
    first = few.orders_.copy()
    more = few.set_params(n_estimators=5).fit(DATA.X, DATA.Y)
    assert more.orders_.shape == (5, 3)
    np.testing.assert_array_equal(more.orders_[:3], first)


def test_an_order_that_was_read_from_a_file_is_that_of_its_name():
    read = b"random".decode()  # another object than the name in the code
    assert (fitted(read).orders_ == fitted("random").orders_).all()
