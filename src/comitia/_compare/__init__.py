"""Comparisons: data and classifiers in, results out.  What `comitia.compare` and the command line are made of."""

from comitia._compare.answers import EXPECTED, answer_table, kept_columns, known_labels, write_answers
from comitia._compare.comparison import ENSEMBLE_NAMES, compare, comparison
from comitia._compare.data import Compared, Labelled, compared_data, dataset_names, introduction, named_source
from comitia._compare.gather import published_file, read_run, results_of
from comitia._compare.training import THIS_MODEL, trained
from comitia._compare.warm_up import are_compiled, compile_all, compile_for

__all__ = [
    "ENSEMBLE_NAMES",
    "EXPECTED",
    "THIS_MODEL",
    "Compared",
    "Labelled",
    "answer_table",
    "are_compiled",
    "compare",
    "compared_data",
    "comparison",
    "compile_all",
    "compile_for",
    "dataset_names",
    "introduction",
    "kept_columns",
    "known_labels",
    "named_source",
    "published_file",
    "read_run",
    "results_of",
    "trained",
    "write_answers",
]
