"""Where logistic regressions are solved: the processor, or an accelerator that a library of arrays speaks to."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from comitia._errors import ComitiaError

_PRODUCTS = 2 * 10**9
_USERS = 4  # processes that use a device at a time, each with so many bytes of its memory at most
_ROOM = 16 * 2**30
_PAUSE = 0.02  # seconds until it is asked again whether one has done


class DeviceError(ComitiaError, RuntimeError):
    """A device was asked for that is not there, or cannot do what is needed."""


@dataclass(frozen=True)
class Device:
    """A namespace of the array API and two places: the device, and the host that NumPy reads from.

    Parameters
    ----------
    xp : module
    place, host : device objects of that namespace
    """

    xp: Any
    place: Any
    host: Any

    def __post_init__(self) -> None:
        try:
            self.xp.zeros(1, dtype=self.xp.float64, device=self.place)
        except Exception as error:
            raise DeviceError(f"device must compute in double precision; {self.place} does not: {error}") from error

    def send(self, array: Any, dtype: Any = None) -> Any:
        """Return a NumPy array as one on the device."""
        return self.xp.asarray(np.ascontiguousarray(array), dtype=dtype, device=self.place)

    def fetch(self, array: Any) -> Any:
        """Return an array of the device as one of NumPy."""
        from array_api_compat import to_device

        return np.asarray(to_device(array, self.host))

    def take(self, array: Any, index: Any, axis: int = 0) -> Any:
        """Return the entries at a NumPy array of places."""
        return self.xp.take(array, self.send(index), axis=axis)


def check_device(device: str) -> None:
    """Raise ComitiaError unless ``device`` is the name of one."""
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise ComitiaError(f"device must be 'cpu', 'cuda' or 'cuda:N' with the number of a GPU; got {device!r}.")


def gains(n_values: int, n_problems: int) -> bool:
    """Whether so many logistic regressions are worth an accelerator that other processes want to use as well.

    The measure is the products of one evaluation of all of them on the processor, which passes zeros of sparse features
    over.  Below two thousand million one core takes some seconds for a fit, which is how long others would wait for
    the accelerator meanwhile.

    Parameters
    ----------
    n_values : int
        Values of the features: those that are present, where they are sparse.
    n_problems : int
    """
    return n_values * n_problems >= _PRODUCTS


def get_device(device: str) -> Device | None:
    """Return the device of a name; None for ``"cpu"``, which needs no library.

    Raises
    ------
    ImportError
        Without PyTorch and array-api-compat; the message names the extra.
    DeviceError
        Where there is no such GPU.  Nothing falls back to the processor in silence.
    """
    check_device(device)
    if device == "cpu":
        return None
    try:
        import array_api_compat.torch as xp
        import torch
    except ImportError as error:
        raise ImportError(
            f'device={device!r} needs {error.name}: pip install "comitia[gpu]"', name=error.name
        ) from error
    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    number = int(device.partition(":")[2] or 0)
    if number >= found:
        raise DeviceError(f"device={device!r} was asked for, but PyTorch finds {found} CUDA devices here.")
    return Device(xp, torch.device("cuda", number), torch.device("cpu"))


@contextlib.contextmanager
def in_use(device: Device) -> Iterator[None]:
    """Use a device in full precision, beside as many other processes of this user as its memory has room for.

    Products of matrices stay in the precision that they are given in, whatever the user allows elsewhere.  Cells of an
    experiment share one GPU: each needs gigabytes, and leaves the GPU idle half of the time, while Python says what
    is next.
    """
    if "torch" not in device.xp.__name__:
        yield
        return
    import torch

    room = torch.cuda.get_device_properties(device.place).total_memory // _ROOM
    with _one_of(f"cuda-{device.place.index}", max(1, min(_USERS, room))):
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)
            torch.cuda.empty_cache()


@contextlib.contextmanager
def _one_of(name: str, users: int) -> Iterator[None]:
    """Wait until fewer than so many processes of this user hold a name; a lock ends with its process, however it ends.

    Threads of this process wait for each other too.
    """
    import filelock

    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "comitia"
    held = None
    with contextlib.suppress(OSError):  # where nothing can be written nobody is waited for
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        locks = [filelock.FileLock(folder / f"{name}-{place}.lock") for place in range(users)]
        while held is None:
            for lock in locks:
                with contextlib.suppress(filelock.Timeout):
                    lock.acquire(timeout=0)
                    held = lock
                    break
            else:
                time.sleep(_PAUSE)
    try:
        yield
    finally:
        if held is not None:
            held.release()
