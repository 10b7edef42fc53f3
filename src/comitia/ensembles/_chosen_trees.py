"""How far trees are grown and how many features a split looks at, chosen out of bag."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

from sklearn.utils import _safe_indexing

from comitia._arrays import as_count
from comitia._labels import FloatArray
from comitia.ensembles._chosen import AUTO, Trial, better
from comitia.ensembles._samples import TrainingSet, member_integers
from comitia.learners._tree import grow_trees
from comitia.learners._tree_apply import apply_trees
from comitia.learners._tree_pruning import cut_back

_SPLITS = (2, 4, 8, 16, 32)
_USUAL_SPLIT = 4
_MEMBERS = 10


@dataclass(frozen=True)
class TreeSize:
    """What is chosen for trees."""

    min_samples_split: int = _USUAL_SPLIT
    max_features: Any = "sqrt"


def choose_tree_size(
    data: TrainingSet, entropy: int, *, min_samples_split: Any, max_features: Any, **growth: Any
) -> TreeSize:
    """Return when nodes are split and how many features are tried: what is given as it is, and the rest chosen.

    A few trees are grown to the end and judged as they would be had they stopped earlier (:func:`cut_back`), with the
    square root of the features and with twice as many.  The usual values stay unless others beat them by more than two
    standard errors of the paired difference of a :class:`Trial`'s score.

    Parameters
    ----------
    entropy : int
        Of the ensemble: the choice follows from it and the data.
    **growth
        What else is given to :func:`grow_trees`.
    """
    if min_samples_split != AUTO:
        as_count("min_samples_split", min_samples_split, 2)
    usual = TreeSize(
        _USUAL_SPLIT if min_samples_split == AUTO else min_samples_split,
        "sqrt" if max_features == AUTO else max_features,
    )
    if AUTO not in (min_samples_split, max_features):
        return usual
    trial = Trial.of(data, entropy, _MEMBERS)
    if trial is None:
        return usual
    splits = _SPLITS if min_samples_split == AUTO else (min_samples_split,)
    d = data.X.shape[1]
    twice = min(d, int(2 * sqrt(d)))
    tried: list[Any] = [usual.max_features]
    if max_features == AUTO and twice > int(sqrt(d)):
        tried.append(twice)
    found: dict[TreeSize, FloatArray] = {}
    best = usual
    for features in tried:
        found |= _scores(data, trial, member_integers(entropy, range(_MEMBERS)), features, splits, growth)
        own = TreeSize(usual.min_samples_split, features)
        least = min((TreeSize(split, features) for split in splits), key=lambda size: found[size].sum())
        own = least if better(found[least], found[own]) else own
        best = own if features == usual.max_features or better(found[own], found[best]) else best
    return best


def _scores(
    data: TrainingSet, trial: Trial, seeds: Any, features: Any, splits: tuple[int, ...], growth: dict[str, Any]
) -> dict[TreeSize, FloatArray]:
    X = _safe_indexing(data.X, trial.rows)
    trees = grow_trees(
        X, data.Y[trial.rows], seeds, sample_weight=trial.draws, max_features=features, min_samples_split=2, **growth
    )
    leaves = [its[unseen] for its, unseen in zip(apply_trees(trees, X), trial.unseen, strict=True)]
    marginals = [tree.leaf_marginals()[:, trial.labels].toarray() for tree in trees]

    def beliefs(split: int) -> Iterator[FloatArray]:
        for tree, of_unseen, of_leaf in zip(trees, leaves, marginals, strict=True):
            yield cut_back(tree, split, of_leaf)[of_unseen]

    return {TreeSize(split, features): trial.judged(beliefs(split)) for split in splits}
