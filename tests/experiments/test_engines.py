"""Work in processes: limits on threads, and processes that end before their work does."""

import os

import pytest

from comitia.experiments.parallel import CrashError, outcomes


def test_results_come_with_their_items_for_any_number_of_processes():
    def square(item):
        return item * item

    expected = {item: item * item for item in range(7)}
    assert dict(outcomes(square, range(7), jobs=1, threads=1)) == expected
    assert dict(outcomes(square, range(7), jobs=2, threads=1)) == expected


def test_an_item_that_ends_its_process_is_told_and_the_others_are_done():
    def work(item):
        if item == 2:
            os._exit(1)
        return -item

    found = dict(outcomes(work, range(6), jobs=2, threads=1))
    assert isinstance(found.pop(2), CrashError)
    assert found == {item: -item for item in (0, 1, 3, 4, 5)}


@pytest.mark.parametrize(("jobs", "threads"), [(1, 1), (2, 1)])
def test_work_has_no_more_threads_than_it_is_given(jobs, threads):
    def limits(item):
        import numba
        import numpy  # noqa: F401  brings the threads of linear algebra that are to be limited
        import threadpoolctl

        pools = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
        return max([numba.get_num_threads(), *pools])

    assert {found for _, found in outcomes(limits, range(3), jobs, threads)} == {threads}
