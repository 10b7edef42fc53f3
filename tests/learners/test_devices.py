"""The solver for accelerators, on NumPy, on a second device of array-api-strict, and on a GPU where there is one."""

import threading

import numpy as np
import pytest
import scipy.sparse as sp
from tests.learners.test_logistic import CASES, bootstraps

from comitia import ComitiaError, EBRClassifier, ECCClassifier
from comitia.learners import _logistic, _logistic_arrays, _logistic_blocks, fit_chains, fit_logistic
from comitia.learners._device import Device, DeviceError, _one_of, get_device
from comitia.learners._logistic_kernels import Sample
from comitia.learners._logistic_solver import Objectives, padded

DEVICES = ["numpy", "strict", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    """Let ``device="cuda"`` mean another library of arrays."""
    if request.param == "cuda":
        torch = pytest.importorskip("torch", reason="no GPU was tried: torch is not installed")
        if not torch.cuda.is_available():
            pytest.skip("no GPU was tried: PyTorch finds none")
        return get_device("cuda")
    if request.param == "numpy":
        found = Device(pytest.importorskip("array_api_compat.numpy"), "cpu", "cpu")
    else:
        strict = pytest.importorskip("array_api_strict")
        if np.lib.NumpyVersion(np.__version__) < "2.0.0":
            pytest.skip("array-api-strict moves arrays between devices by an argument that NumPy has since 2.0")
        found = Device(strict, strict.Device("device1"), strict.Device("CPU_DEVICE"))
    monkeypatch.setattr(_logistic, "get_device", lambda _: found)
    return found


def accepted(X, Y, fit, weights, tol):
    """Whether the compiled solver's own certificate, in double precision, holds at these points."""
    X = X.toarray() if sp.issparse(X) else X
    design = _logistic._design(X.astype(np.float64), True)
    penalty = np.append(np.ones(X.shape[1]), 0.0)
    for b in np.flatnonzero(np.isfinite(fit.intercept)):
        m, label = divmod(b, Y.shape[1])
        rows = np.flatnonzero(weights[:, m])
        sample = Sample(rows, weights[rows, m].astype(np.float64), padded(Y[rows, label : label + 1]))
        objectives = Objectives(design.design, design.design, sample, penalty, None)
        point = np.append(fit.coef[b], fit.intercept[b] + fit.coef[b] @ design.centre)
        value, gradient = objectives.at(point[np.append(design.order, X.shape[1])][None])
        assert value == pytest.approx(fit.objective[b], rel=1e-9)
        bound = (gradient[0, :-1] ** 2).sum() / 2 + abs(gradient[0, -1])
        assert bound <= 1.001 * tol * value, (m, label)
    return True


@pytest.mark.parametrize("metric", ["matrix", "diagonal"])
@pytest.mark.parametrize("case", CASES)
def test_the_certificate_of_the_processor_accepts_the_points_of_a_device(device, case, metric, monkeypatch):
    if metric == "diagonal":
        monkeypatch.setattr(_logistic_blocks, "MATRIX_FEATURES", 0)
    X, Y = CASES[case]
    weights = bootstraps(X.shape[0], 3) * (1e6 if "million" in case else 1)
    there = fit_logistic(X, Y, sample_weight=weights, device="cuda")
    here = fit_logistic(X, Y, sample_weight=weights) if device.xp.__name__.endswith("torch") else None
    assert there.converged.all()
    assert all(type(getattr(there, name)) is np.ndarray for name in there.__dataclass_fields__)
    assert accepted(X, Y, there, weights, 1e-5)
    if here is not None:
        np.testing.assert_allclose(there.objective, here.objective, rtol=1e-5)


def test_a_tight_tolerance_gives_the_coefficients_of_the_processor(device, monkeypatch):
    X, Y = CASES["plain"]
    weights = bootstraps(len(X), 3)
    there = fit_logistic(X, Y, sample_weight=weights, tol=1e-12, device="cuda")
    monkeypatch.undo()
    here = fit_logistic(X, Y, sample_weight=weights, tol=1e-12)
    finite = np.isfinite(here.intercept)
    np.testing.assert_allclose(there.coef, here.coef, atol=1e-4)
    np.testing.assert_allclose(there.intercept[finite], here.intercept[finite], atol=1e-4)


@pytest.mark.parametrize("metric", ["matrix", "diagonal"])
def test_chains_on_a_device_have_the_objectives_of_the_processor(device, metric, monkeypatch):
    if metric == "diagonal":
        monkeypatch.setattr(_logistic_blocks, "MATRIX_FEATURES", 0)
    X, Y = CASES["plain"]
    orders, weights = [[0, 1, 2], [2, 0, 1], [1, 2, 0]], bootstraps(len(X), 3)
    there = fit_chains(X, Y, orders, sample_weight=weights, device="cuda")
    monkeypatch.undo()
    here = fit_chains(X, Y, orders, sample_weight=weights)
    assert there.converged.all()
    assert (np.triu(there.influence, 1) == there.influence).all()
    np.testing.assert_allclose(there.objective, here.objective, rtol=1e-5)
    # A label must not be its own feature, not even where its problems start.
    assert there.n_iter.mean() < 1.5 * here.n_iter.mean() + 1


@pytest.mark.parametrize("way", ["in chunks", "streamed", "in blocks"])
def test_how_data_reach_a_device_changes_the_last_digits_alone(device, way, monkeypatch):
    X, Y = CASES["plain"]
    weights = bootstraps(len(X), 4)
    whole = fit_logistic(X, Y, sample_weight=weights, device="cuda")
    again = fit_logistic(X, Y, sample_weight=weights, device="cuda")
    assert (whole.coef == again.coef).all()
    monkeypatch.setattr(_logistic_arrays, "ROWS", 64)
    monkeypatch.setattr(_logistic_arrays, "PROBLEMS", 5 if way == "in blocks" else 8192)
    if way == "streamed":
        monkeypatch.setattr(_logistic_arrays, "RESIDENT", 0)
    cut = fit_logistic(X, Y, sample_weight=weights, device="cuda")
    assert cut.converged.all()
    np.testing.assert_allclose(cut.objective, whole.objective, rtol=1e-5)


@pytest.mark.parametrize("kind", [EBRClassifier, ECCClassifier])
def test_an_ensemble_fitted_on_a_device_predicts_on_the_processor(device, kind, monkeypatch):
    X, Y = CASES["plain"]
    there = kind(n_estimators=4, random_state=0, device="cuda").fit(X, Y)
    monkeypatch.undo()
    here = kind(n_estimators=4, random_state=0).fit(X, Y)
    np.testing.assert_allclose(there.predict_proba(X), here.predict_proba(X), atol=5e-3)


@pytest.mark.parametrize("name", ["gpu", "cuda:", "cuda:-1", "mps", 0, None])
def test_other_names_of_devices_are_refused(name):
    X, Y = CASES["plain"]
    with pytest.raises(ComitiaError, match="device must be 'cpu', 'cuda' or 'cuda:N'"):
        EBRClassifier(device=name).fit(X, Y)


def test_nothing_falls_back_to_the_processor_in_silence():
    X, Y = CASES["plain"]
    try:
        import torch
    except ImportError:
        with pytest.raises(ImportError, match=r'pip install "comitia\[gpu\]"'):
            fit_logistic(X, Y, device="cuda")
    else:
        with pytest.raises(DeviceError, match=r"PyTorch finds \d+ CUDA devices"):
            fit_logistic(X, Y, device=f"cuda:{torch.cuda.device_count()}")


def test_a_device_without_double_precision_is_refused():
    strict = pytest.importorskip("array_api_strict")
    try:
        place = strict.Device("no_float64")
    except (ValueError, TypeError):
        pytest.skip("this array-api-strict has no such device")
    with pytest.raises(DeviceError, match="double precision"):
        Device(strict, place, strict.Device("CPU_DEVICE"))


def test_processes_of_a_user_wait_for_each_other_and_a_folder_that_cannot_be_written_stops_nobody(
    tmp_path, monkeypatch
):
    pytest.importorskip("filelock")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    order = []

    def other(users):
        with _one_of("cuda-0", users):
            order.append(f"one of {users}")

    with _one_of("cuda-0", 2):
        beside = threading.Thread(target=other, args=(2,))
        beside.start()
        beside.join()
        waiting = threading.Thread(target=other, args=(1,))
        waiting.start()
        waiting.join(0.3)
        order.append("first")
    waiting.join()
    assert order == ["one of 2", "first", "one of 1"]
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with _one_of("cuda-0", 1):
        pass
