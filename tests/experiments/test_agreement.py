"""What workers say of themselves is compared before anything is computed, without a cluster."""

import os
import warnings

import pytest

from comitia.experiments import Cell, ClusterError
from comitia.experiments._agreement import Agreement, about, computed_by
from comitia.experiments._provenance import _name_of_process


def said(**changes):
    return {**about(), **changes}


def test_workers_that_round_alike_agree():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Agreement((), True).check({"a": said(rounding="x"), "b": said(rounding="x")})
    assert [answer["rounding"] for answer in found] == ["x", "x"]
    assert all("a" not in answer.values() for answer in found)


@pytest.mark.parametrize(
    ("kept", "answers"), [((), ("x", "y")), (("x",), ("y", "y")), ((None, "x"), ("x", "y")), (("x", "y"), ())]
)
def test_workers_that_round_otherwise_are_told_or_refused(kept, answers):
    workers = {str(i): said(rounding=kind) for i, kind in enumerate(answers)}
    with pytest.raises(ClusterError, match=r"round differently \(x, y\).*same_bits refuses that"):
        Agreement(kept, True).check(workers)
    if answers:
        with pytest.warns(UserWarning, match=r"round differently \(x, y\)"):
            Agreement(kept, False).check(workers)


def test_workers_of_other_versions_are_named_and_those_that_died_are_left_out():
    other = said(versions={**about()["versions"], "numpy": "0.1"})
    with pytest.raises(ClusterError, match=r"must have the versions of this machine; b has numpy 0\.1 \(here"):
        Agreement((), False).check({"a": said(), "b": other})
    with pytest.raises(ClusterError, match="worker b cannot compute cells: ImportError: no comitia"):
        Agreement((), False).check({"a": said(), "b": ImportError("no comitia")})
    assert len(Agreement((), False).check({"a": said(), "b": OSError("gone")})) == 1


def test_a_process_keeps_its_name_and_another_has_another():
    assert _name_of_process(os.getpid()) == _name_of_process(os.getpid())
    assert _name_of_process(1) != _name_of_process(2)


def test_who_computed_what_is_listed_by_dataset_and_ensemble():
    a = {"worker": "a", "processor": "P", "rounding": "x"}
    b = {"worker": "b", "processor": "Q", "rounding": "y", "data came": "by its path"}
    cells = [("songs", "ecc", a), ("birds", "ecc", a), ("songs", "ebr", a), ("songs", "ecc", a), ("birds", "ebr", b)]
    found = computed_by([(Cell(dataset, kind, 0, i), kept) for i, (dataset, kind, kept) in enumerate(cells)])
    assert found["workers"] == {
        "a, P, rounding x": "songs: ecc 2, ebr 1; birds: ecc 1",
        "b, Q, rounding y, data by its path": "birds: ebr 1",
    }
    assert found["rounding"].startswith("2 kinds: ")
    assert "rounding" not in computed_by([(Cell("songs", "ecc", 0, 0), a)])
    assert computed_by([(Cell("songs", "ecc", 0, 0), {})]) == {}
