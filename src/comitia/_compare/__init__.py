"""Comparisons: data and classifiers in, results out.  What `comitia.compare` and the command line are made of."""

from comitia._compare.comparison import ENSEMBLE_NAMES, compare, comparison
from comitia._compare.data import Compared, Labelled, compared_data, dataset_names, introduction, named_source
from comitia._compare.gather import published_file, read_run, results_of

__all__ = [
    "ENSEMBLE_NAMES",
    "Compared",
    "Labelled",
    "compare",
    "compared_data",
    "comparison",
    "dataset_names",
    "introduction",
    "named_source",
    "published_file",
    "read_run",
    "results_of",
]
