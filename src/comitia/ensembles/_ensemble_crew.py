"""Ensembles as the members of a committee."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from comitia._errors import ComitiaError
from comitia.aggregation import Beliefs, Decision, Pooled
from comitia.ensembles._bootstrap import BootstrapEnsemble
from comitia.ensembles._crews import Asked
from comitia.losses import Hamming
from comitia.relevance import Independent, Pool, Relevance, mean, mixture


@dataclass(frozen=True)
class EnsembleCrew:
    """Ensembles as members: each believes what its own members believe together."""

    ensembles: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.ensembles or not all(isinstance(ensemble, BootstrapEnsemble) for ensemble in self.ensembles):
            raise ComitiaError("ensembles must hold at least one ensemble.")
        if len({len(ensemble.label_names_) for ensemble in self.ensembles}) > 1:
            raise ComitiaError("ensembles must know the same labels.")

    def __len__(self) -> int:
        return len(self.ensembles)

    @property
    def n_labels(self) -> int:
        return len(self.ensembles[0].label_names_)

    def relevances(self, X: Any, asked: Asked) -> Iterator[Relevance]:
        return (believed_together(ensemble, X, asked) for ensemble in self.ensembles)

    def joined(self, other: EnsembleCrew) -> EnsembleCrew:
        return EnsembleCrew(self.ensembles + other.ensembles)


def believed_together(ensemble: Any, X: Any, asked: Asked, weights: NDArray[Any] | None = None) -> Relevance:
    """Return what the members of an ensemble believe together: a joint distribution, if asked for and to be had."""
    pool: Pool = mixture if asked.joint and ensemble.supports_joint else mean
    ask = partial(ensemble._believed, ensemble._features(X), asked.observed)
    mass = None if weights is None else weights.astype(np.float64)
    return Beliefs(ask, mass, once=True).distribution(Decision(Hamming(), Pooled(pool), Independent()))
