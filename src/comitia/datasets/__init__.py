"""Multilabel data: readers for the formats it comes in, a catalogue of benchmarks, examples and folds."""

from comitia.datasets.catalogue import CatalogueEntry, fetch_dataset, list_datasets
from comitia.datasets.dataset import DataFormatError, Dataset
from comitia.datasets.examples import JointSample, load_seven_segment, make_joint
from comitia.datasets.folds import MultilabelStratifiedKFold
from comitia.datasets.labels import label_matrix, label_notes
from comitia.datasets.load import load_dataset, load_features
from comitia.datasets.mulan import load_meka, load_mulan
from comitia.datasets.table import load_table

__all__ = [
    "CatalogueEntry",
    "DataFormatError",
    "Dataset",
    "JointSample",
    "MultilabelStratifiedKFold",
    "fetch_dataset",
    "label_matrix",
    "label_notes",
    "list_datasets",
    "load_dataset",
    "load_features",
    "load_meka",
    "load_mulan",
    "load_seven_segment",
    "load_table",
    "make_joint",
]
