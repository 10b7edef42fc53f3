"""Comparisons: data and classifiers in, results out.  What `comitia.compare` and the command line are made of."""

from comitia._compare._comparison import ENSEMBLE_NAMES, compare, comparison
from comitia._compare._data import Compared, Labelled, compared_data, dataset_names, introduction, named_source
from comitia._compare._gather import published_file, read_run, results_of
from comitia._compare._warm_up import are_compiled, compile_all, compile_for

__all__ = [
    "ENSEMBLE_NAMES",
    "Compared",
    "Labelled",
    "are_compiled",
    "compare",
    "compared_data",
    "comparison",
    "compile_all",
    "compile_for",
    "dataset_names",
    "introduction",
    "named_source",
    "published_file",
    "read_run",
    "results_of",
]
