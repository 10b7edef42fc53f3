"""What a fit costs, for estimates of time: about right, so as what it is for."""

from dataclasses import replace

import pytest

from comitia import ENSEMBLES
from comitia.ensembles._size import Size

USUAL = Size(n=1000, values=100.0, labels=20, cardinality=3.0, members=50)


@pytest.mark.parametrize("name", [name for name in ENSEMBLES if name not in ("bagging", "voting")])
def test_twice_the_instances_or_members_are_twice_the_work_and_nothing_larger_is_less(name):
    work = ENSEMBLES[name]._work
    assert work(replace(USUAL, n=2000)) == pytest.approx(2 * work(USUAL))
    if name != "committee":  # which has as many members as it wants
        assert work(replace(USUAL, members=100)) == pytest.approx(2 * work(USUAL))
    for part in ("values", "labels", "cardinality"):
        more = work(replace(USUAL, **{part: 4 * getattr(USUAL, part)}))
        assert work(USUAL) <= more <= 16 * work(USUAL)
    assert work(replace(USUAL, values=400.0)) > 1.05 * work(USUAL)


def test_logistic_regressions_cost_what_labels_and_values_do():
    work = ENSEMBLES["ebr"]._work
    assert work(replace(USUAL, labels=40)) == work(replace(USUAL, values=200.0)) == pytest.approx(2 * work(USUAL))


@pytest.mark.parametrize("name", ENSEMBLES)
def test_an_ensemble_and_its_class_say_the_same(name):
    assert ENSEMBLES[name]()._work(USUAL) == ENSEMBLES[name]._work(USUAL)
