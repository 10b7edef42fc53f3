"""What a fit costs, for estimates of time: about right, so as what it is for."""

from dataclasses import replace

import pytest

from comitia import ENSEMBLES
from comitia.ensembles._size import Size
from comitia.experiments._settings import KINDS

USUAL = Size(n=1000, values=100.0, labels=20, cardinality=3.0, members=50)


@pytest.mark.parametrize("name", KINDS)
def test_twice_the_instances_or_members_are_twice_the_work_and_nothing_larger_is_less(name):
    work = KINDS[name]._work
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


def test_ensembles_cost_beside_each_other_what_was_measured():
    """In units of a logistic regression for each label and member: the factors behind every estimate of time."""
    found = {name: kind._work(USUAL) / ENSEMBLES["ebr"]._work(USUAL) for name, kind in KINDS.items()}
    boosted = 300 * (100**0.5 + 20**0.5) / (0.8 * 20 * 100)
    assert found == pytest.approx(
        {
            "ebr": 1.0,
            "ecc": (20 + 100) / (0.8 * 100),
            "emodt": 12 * 10 * (1 + 3) / (0.8 * 20 * 100),
            "emobt": boosted,
            "bagging": 1 / 0.8,
            "voting": 1 / 0.8,
            "committee": 1 + 1.5 + 2 * 0.3 + boosted * 10 / 50,
        }
    )


@pytest.mark.parametrize("name", ENSEMBLES)
def test_an_ensemble_and_its_class_say_the_same(name):
    assert ENSEMBLES[name]()._work(USUAL) == ENSEMBLES[name]._work(USUAL)
