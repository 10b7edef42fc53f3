"""What somebody believes about the labels of each instance, and how beliefs are pooled.

A *relevance* is the belief of one ensemble member, of the pooled ensemble, or what votes express together:

- :class:`Marginals`: a probability for every label, read as independent where a loss needs more than that;
- :class:`LabelSets`: an explicit, sparse joint distribution over labelings, such as :func:`votes` gives;
- :class:`Shared`: either of them, where many instances share few beliefs (the leaves of a tree).

A *pool* makes one relevance of many: :data:`mean`, :data:`median`, :func:`trimmed_mean`, :data:`log_odds` pool
marginals, :data:`mixture` pools label sets.
"""

from comitia.relevance.ballots import votes
from comitia.relevance.base import Relevance, Shared
from comitia.relevance.labelsets import LabelSets
from comitia.relevance.marginals import Marginals
from comitia.relevance.pools import (
    POOLS,
    LogOdds,
    Mean,
    Median,
    Mixture,
    Pool,
    TrimmedMean,
    get_pool,
    log_odds,
    mean,
    median,
    mixture,
    trimmed_mean,
)

__all__ = [
    "POOLS",
    "LabelSets",
    "LogOdds",
    "Marginals",
    "Mean",
    "Median",
    "Mixture",
    "Pool",
    "Relevance",
    "Shared",
    "TrimmedMean",
    "get_pool",
    "log_odds",
    "mean",
    "median",
    "mixture",
    "trimmed_mean",
    "votes",
]
