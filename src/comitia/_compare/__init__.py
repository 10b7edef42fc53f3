"""Comparisons: data and classifiers in, results out.  What `comitia.compare` and the command line are made of."""

from comitia._compare.comparison import ENSEMBLE_NAMES, compare, comparison
from comitia._compare.data import Compared, compared_data, named_source
from comitia._compare.gather import published_file, read_run, results_of

__all__ = [
    "ENSEMBLE_NAMES",
    "Compared",
    "compare",
    "compared_data",
    "comparison",
    "named_source",
    "published_file",
    "read_run",
    "results_of",
]
