"""What somebody believes about the labels of each instance, how it is read, and how beliefs are pooled.

A *relevance* is the belief of one ensemble member, of the pooled ensemble, or what votes express together:

- :class:`Marginals`: a probability for every label, which a reading takes for more than that;
- :class:`NonEmptyMarginals`: independent labels of which at least one is relevant;
- :class:`LabelSets`: an explicit, sparse joint distribution over labelings, such as :func:`votes` gives;
- :class:`Shared`: any of them, where many instances share few beliefs (the leaves of a tree).

A *reading* (:data:`READINGS`) makes a belief about whole labelings of marginals.  A *pool* (:data:`POOLS`) makes one
relevance of many: :data:`mean`, :data:`median`, :data:`trimmed_mean`, :data:`log_odds` pool marginals, :data:`mixture`
pools label sets.  A :class:`Calibration` brings pooled marginals into line with what was observed.
"""

from comitia.relevance._ballots import Ballots, votes
from comitia.relevance._base import Members, Relevance, Shared
from comitia.relevance._calibration import Calibration, fit_calibration
from comitia.relevance._labelsets import LabelSets
from comitia.relevance._marginals import Marginals, NonEmptyMarginals
from comitia.relevance._observed import Observed
from comitia.relevance._pools import (
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
from comitia.relevance._readings import READINGS, Auto, Independent, NonEmpty, Reading, Seen, get_reading

__all__ = [
    "POOLS",
    "READINGS",
    "Auto",
    "Ballots",
    "Calibration",
    "Independent",
    "LabelSets",
    "LogOdds",
    "Marginals",
    "Mean",
    "Median",
    "Members",
    "Mixture",
    "NonEmpty",
    "NonEmptyMarginals",
    "Observed",
    "Pool",
    "Reading",
    "Relevance",
    "Seen",
    "Shared",
    "TrimmedMean",
    "fit_calibration",
    "get_pool",
    "get_reading",
    "log_odds",
    "mean",
    "median",
    "mixture",
    "trimmed_mean",
    "votes",
]
