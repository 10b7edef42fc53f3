"""What is told of data and machines: the same for the same, another for whatever differs."""

import platform
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from comitia.datasets import Dataset
from comitia.experiments import _cell, _provenance, _run, run_plan
from comitia.experiments._provenance import checksum, describe, machine

Y = np.array([[1, 0], [0, 1], [1, 1]], np.int8)


def letters(text):
    """Strings that are equal to others and still objects of their own."""
    return np.array(["".join([letter, letter]) for letter in text], dtype=object)


def frame(words="abc"):
    days = pd.to_datetime(["2020-01-01", "2020-01-02", "2021-01-01"])
    return pd.DataFrame({"word": letters(words), "number": [0.5, 1.0, np.nan], "count": [1, 2, 3], "day": days})


def dataset(X, **more):
    return Dataset(X, Y.copy(), tuple(f"x{j}" for j in range(X.shape[1])), ("a", "b"), "mine", **more)


KINDS = {
    "dense": lambda: np.arange(6.0).reshape(3, 2),
    "sparse": lambda: csr_array(np.array([[0, 1.5], [2, 0], [0, 0]])),
    "a frame": frame,
    "weighed": lambda: np.arange(6.0).reshape(3, 2),
}


def made(kind):
    return dataset(KINDS[kind](), **({"sample_weight": np.array([1.0, 2, 3])} if kind == "weighed" else {}))


@pytest.mark.parametrize("kind", KINDS)
def test_equal_data_have_one_checksum(kind):
    assert checksum(made(kind)) == checksum(made(kind))


def test_how_an_array_lies_in_memory_does_not_matter():
    X = KINDS["dense"]()
    assert checksum(dataset(np.asfortranarray(X))) == checksum(dataset(X)) == checksum(dataset(np.repeat(X, 2, 0)[::2]))


def changes():
    """A dataset, and the same with one thing changed."""
    for kind in KINDS:
        one = made(kind)
        other = Y.copy()
        other[2, 0] = 0
        yield f"{kind}, a label", one, replace(one, Y=other)
        yield f"{kind}, the name of a label", one, replace(one, label_names=("a", "c"))
        yield f"{kind}, the name of a feature", one, replace(one, feature_names=("z", *one.feature_names[1:]))
        yield f"{kind}, weights", one, replace(one, sample_weight=np.array([1.0, 2, 4]))
    dense, sparse = made("dense"), made("sparse")
    yield "a value", dense, replace(dense, X=dense.X + np.array([0, 1e-12]))
    yield "the kind of values", dense, replace(dense, X=dense.X.astype(np.float32))
    yield "a sparse value", sparse, replace(sparse, X=sparse.X * 2)
    yield "a sparse place", sparse, replace(sparse, X=csr_array(np.array([[1.5, 0], [2, 0], [0, 0]])))
    yield "a sparse row", sparse, replace(sparse, X=csr_array(np.array([[0, 1.5], [0, 0], [2, 0]])))
    for name, value in {"word": "q", "number": 7.0, "count": 7, "day": pd.Timestamp("1999-01-01")}.items():
        X = frame()
        X.loc[1, name] = value
        yield f"a {name} of a frame", dataset(frame()), dataset(X)


@pytest.mark.parametrize(("one", "other"), [pytest.param(*pair, id=name) for name, *pair in changes()])
def test_whatever_differs_has_another_checksum(one, other):
    assert checksum(one) != checksum(other)


def test_a_dataset_is_described_by_what_can_be_counted():
    found = describe(made("sparse"), "mine")
    assert {key: value for key, value in found.items() if key != "checksum"} == {
        "name": "mine", "n": 3, "d": 2, "K": 2, "cardinality": 4 / 3, "density": 2 / 3, "values_per_instance": 2 / 3,
        "label_names": ["a", "b"], "label_frequencies": [2 / 3, 2 / 3],
    }  # fmt: skip
    assert describe(made("dense"), "mine")["values_per_instance"] == 2


@pytest.mark.parametrize(
    ("text", "known", "expected"),
    [
        ("processor\t: 0\nmodel name\t: Some  CPU @ 3\nmodel name\t: Other\n", "x", "Some CPU @ 3"),
        ("processor\t: 0\n", "arm", "arm"),
        ("processor\t: 0\n", "", "unknown"),
        (None, "arm", "arm"),
        (None, "", "unknown"),
    ],
)
def test_the_processor_is_told_by_the_name_it_goes_by(text, known, expected, tmp_path, monkeypatch):
    if text is not None:
        (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(_provenance, "Path", lambda _: tmp_path / "cpuinfo")
    monkeypatch.setattr(platform, "processor", lambda: known)
    assert _provenance._processor.__wrapped__() == expected


def test_memory_and_a_gpu_are_told_where_they_are_known(monkeypatch):
    monkeypatch.setattr(_provenance, "_memory", lambda: 5 * 2**29 + 2**25)
    cuda = SimpleNamespace(is_available=lambda: True, get_device_name=lambda: "G")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, __version__="9.1"))
    assert machine().items() >= {"memory_gib": 2.5, "gpu": "G", "torch": "9.1"}.items()
    cuda.is_available = lambda: False
    monkeypatch.setattr(_provenance, "_memory", lambda: None)
    assert not {"memory_gib", "gpu", "torch"} & machine().keys()


def test_the_memory_of_this_machine_is_all_of_its_pages(monkeypatch):
    pages = {"SC_PHYS_PAGES": 7, "SC_PAGE_SIZE": 4096}
    monkeypatch.setattr(_provenance.os, "sysconf", pages.get)
    assert _provenance._memory() == 7 * 4096
    monkeypatch.setattr(_provenance.os, "sysconf_names", {"SC_PAGE_SIZE": 1})
    assert _provenance._memory() is None


def test_seconds_are_told_to_the_thousandth(plan, monkeypatch):
    ticks = iter(np.arange(10**6) * 0.0123)
    clock = SimpleNamespace(monotonic=lambda: float(next(ticks)), perf_counter=lambda: float(next(ticks)))
    for module in (_run, _cell):
        monkeypatch.setattr(module, "time", clock)
    cell = next(plan.cells())
    store = run_plan(plan, cells=[cell], n_jobs=1).store
    told = store.cell_provenance(cell)
    assert (told["seconds_to_fit"], told["seconds"]) == (0.012, 0.025)
    assert round(store.provenance()["sessions"][0]["seconds"] / 0.0123 % 1, 1) in (0.0, 1.0)
