"""``comitia warm-up``: compile once what would be compiled at first use."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import make_multilabel_classification

from comitia import AGGREGATIONS, ENSEMBLES, LOSSES, READINGS, CommitteeClassifier, EMODTClassifier
from comitia._compiled import seconds_compiling
from comitia._labels import pack_rows
from comitia.cli._screen import messages, print_line
from comitia.report._words import duration


def warm_up() -> None:
    """Compile all loops, and keep them for later processes.

    The first use of an ensemble compiles the loops it needs, for some seconds. In the image of a container, or before
    many workers start, do that once. Loops are kept in the folder that NUMBA_CACHE_DIR names, beside the library, or in
    the user's folder for caches; they are read where they cannot be written, and only by the same kind of processor.

    [bold]Examples[/]

    $ comitia warm-up
    """
    if not hasattr(pack_rows, "stats"):
        print_line("NUMBA_DISABLE_JIT is set: there is nothing to compile")
        return
    started = time.perf_counter()
    with warnings.catch_warnings(), seconds_compiling() as compiling, messages.status("compiling ..."):
        warnings.simplefilter("ignore")  # of data that is made up
        for ensemble, X, Y in _ensembles():
            _decide(ensemble.fit(X, Y), X)
    folder = pack_rows.stats.cache_path
    print_line(
        f"{duration(time.perf_counter() - started, decimals=0)}, {compiling():.0f} s of them compiling; "
        + (f"kept in {folder} and others beside it" if folder else "nothing is kept")
    )


def _ensembles() -> Iterator[tuple[Any, Any, Any]]:
    """Yield small ensembles of all kinds, each with dense and with sparse data."""
    X, Y = make_multilabel_classification(n_samples=90, n_features=6, n_classes=4, random_state=0)
    Y = np.column_stack([Y, np.arange(90) % 15 == 0])  # chains keep what few instances have as a sparse column
    for features in (X, csr_array(X)):
        for kind, ensemble in ENSEMBLES.items():
            if ensemble is CommitteeClassifier:
                continue
            ways: list[dict[str, Any]] = [{}]
            if kind == "ecc":
                ways.append({"chain_method": "joint"})
            elif kind == "emodt":
                ways.append({"splitter": "random"})
            for way in ways:
                yield ensemble(n_estimators=3, random_state=0, oob_score=True, **way), features, Y
    yield EMODTClassifier(3, random_state=0), X, csr_array(Y)
    yield CommitteeClassifier(random_state=0), X[:60], Y[:60]


def _decide(ensemble: Any, X: Any) -> None:
    ensemble.predict_proba(X)
    if isinstance(ensemble, CommitteeClassifier):
        ensemble.predict(X)
        return
    for loss, aggregation, reading in product(LOSSES, AGGREGATIONS, READINGS):
        ensemble.set_params(loss=loss, aggregation=None, reading=reading)
        if ensemble.can_decide_by(AGGREGATIONS[aggregation]):
            ensemble.set_params(aggregation=aggregation).predict(X)
