"""How long the rest of a run will take: what other cells took, and otherwise what their sizes say."""

import pytest

from comitia.ensembles._size import Size
from comitia.experiments import Cell, DataSource, EnsembleSetting, Plan
from comitia.experiments._estimate import Estimate

MEMBERS = {"emodt": 4, "ebr": 8}
DATA = {
    "small": {"n": 100, "values_per_instance": 5.0, "K": 3, "cardinality": 1.5},
    "large": {"n": 900, "values_per_instance": 50.0, "K": 30, "cardinality": 2.5},
}
PLAN = Plan(
    "p",
    tuple(map(DataSource, DATA)),
    tuple(EnsembleSetting(kind, {"n_estimators": members}) for kind, members in MEMBERS.items()),
    sizes=(1, 2, 4),
    folds=3,
)
CELLS = list(PLAN.cells())


def work(cell):
    """What the fit of all members takes, and a fifth for each decision of each label by each number of members."""
    data, members = DATA[cell.dataset], MEMBERS[cell.ensemble]
    size = Size(data["n"], data["values_per_instance"], data["K"], data["cardinality"], members)
    return PLAN.setting(cell.ensemble).build()._work(size) + 0.2 * members * data["n"] * data["K"] * 3


@pytest.fixture
def estimate():
    found = Estimate(PLAN)
    for name, described in DATA.items():
        found.add_dataset({"name": name, **described})
    return found


def test_the_largest_cells_come_first(estimate):
    ordered = estimate.largest_first(CELLS)
    assert sorted(ordered, key=CELLS.index) == CELLS
    assert [work(cell) for cell in ordered] == sorted(map(work, CELLS), reverse=True)
    assert [cell.fold for cell in ordered[:3]] == [0, 1, 2], "those that are as large stay in their order"


def test_cells_take_the_median_of_their_kind_and_others_what_their_work_has_taken_so_far(estimate):
    estimate.expect(CELLS, lambda: 1)
    assert estimate.seconds_left() is None
    for fold, seconds in enumerate((10.0, 90.0, 20.0)):
        estimate.finished(Cell("large", "ebr", 0, fold), seconds)
    rate = 20.0 / work(Cell("large", "ebr", 0, 0))
    left = [cell for cell in CELLS if (cell.dataset, cell.ensemble) != ("large", "ebr")]
    assert estimate.seconds_left() == pytest.approx(sum(rate * work(cell) for cell in left))
    estimate.finished(Cell("small", "emodt", 0, 0), 3.0)
    rate = 23.0 / (work(Cell("large", "ebr", 0, 0)) + work(Cell("small", "emodt", 0, 0)))
    unknown = [cell for cell in left if (cell.dataset, cell.ensemble) != ("small", "emodt")]
    assert estimate.seconds_left() == pytest.approx(2 * 3.0 + sum(rate * work(cell) for cell in unknown))


@pytest.mark.parametrize(("jobs", "share"), [(1, 1), (2, 2), (5, 2)])
def test_what_is_left_is_shared_by_as_many_jobs_as_there_are_cells(jobs, share, estimate):
    three = [Cell("small", "ebr", 0, fold) for fold in range(3)]
    estimate.expect(three, lambda: jobs)
    estimate.finished(three[0], 6.0)
    assert estimate.seconds_left() == pytest.approx(12.0 / share)
    for cell in three[1:]:
        estimate.finished(cell, 6.0)
    assert estimate.seconds_left() == 0


def test_what_is_left_takes_less_when_workers_come(estimate):
    jobs = [1]
    estimate.expect(CELLS[:9], jobs.pop)
    estimate.finished(CELLS[0], 6.0)
    alone = estimate.seconds_left()
    jobs.append(4)
    assert estimate.seconds_left() == pytest.approx(alone / 4)
