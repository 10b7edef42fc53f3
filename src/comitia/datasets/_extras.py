"""Packages that only some readers need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(package: str, who: str = "this", extra: str = "cli") -> Any:
    """Import an optional package, or say how to get it."""
    try:
        return import_module(package)
    except ImportError as error:
        name = package.partition(".")[0]
        raise ImportError(f'{who} needs {name}: pip install "comitia[{extra}]"', name=name) from error
