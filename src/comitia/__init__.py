"""Ensembles of multilabel classifiers whose predictions are made for the loss that matters."""

from typing import TYPE_CHECKING, Any

from comitia._errors import ComitiaError
from comitia._version import __version__ as __version__
from comitia.aggregation import (
    AGGREGATIONS,
    Aggregation,
    Beliefs,
    CombineThenPredict,
    Decision,
    Pooled,
    PredictThenCombine,
    Votes,
    decide,
    get_aggregation,
)
from comitia.ensembles import (
    ENSEMBLES,
    CommitteeClassifier,
    EBRClassifier,
    ECCClassifier,
    EMOBTClassifier,
    EMODTClassifier,
    MultilabelBaggingClassifier,
    MultilabelVotingClassifier,
)
from comitia.losses import LOSSES, Constraints, CustomLoss, FLoss, Hamming, JaccardLoss, Loss, SubsetZeroOne, get_loss
from comitia.measures import MEASURES, Measure, get_measure
from comitia.model_file import ModelFileError, load, save
from comitia.relevance import (
    POOLS,
    READINGS,
    Independent,
    LabelSets,
    Marginals,
    NonEmpty,
    NonEmptyMarginals,
    Observed,
    Pool,
    Reading,
    Relevance,
    Seen,
    Shared,
    get_pool,
    get_reading,
    mixture,
    votes,
)

if TYPE_CHECKING:
    from comitia._compare import compare
    from comitia.report import Results

__all__ = [
    "AGGREGATIONS",
    "ENSEMBLES",
    "LOSSES",
    "MEASURES",
    "POOLS",
    "READINGS",
    "Aggregation",
    "Beliefs",
    "CombineThenPredict",
    "ComitiaError",
    "CommitteeClassifier",
    "Constraints",
    "CustomLoss",
    "Decision",
    "EBRClassifier",
    "ECCClassifier",
    "EMOBTClassifier",
    "EMODTClassifier",
    "FLoss",
    "Hamming",
    "Independent",
    "JaccardLoss",
    "LabelSets",
    "Loss",
    "Marginals",
    "Measure",
    "ModelFileError",
    "MultilabelBaggingClassifier",
    "MultilabelVotingClassifier",
    "NonEmpty",
    "NonEmptyMarginals",
    "Observed",
    "Pool",
    "Pooled",
    "PredictThenCombine",
    "Reading",
    "Relevance",
    "Results",
    "Seen",
    "Shared",
    "SubsetZeroOne",
    "Votes",
    "compare",
    "decide",
    "get_aggregation",
    "get_loss",
    "get_measure",
    "get_pool",
    "get_reading",
    "load",
    "mixture",
    "save",
    "votes",
]


def __getattr__(name: str) -> Any:
    """Import what needs pandas only when it is asked for."""
    if name not in ("Results", "compare"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from comitia._compare import compare
        from comitia.report import Results
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("comitia"):
            raise
        raise ImportError(f'comitia.{name} needs {error.name}: pip install "comitia[cli]"') from error
    return {"Results": Results, "compare": compare}[name]
