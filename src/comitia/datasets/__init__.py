"""Multilabel data: readers for the formats it comes in, a catalogue of benchmarks, examples and folds."""

from comitia._labels import label_matrix
from comitia.datasets._catalogue import CatalogueEntry, fetch_dataset, list_datasets
from comitia.datasets._dataset import DataFormatError, Dataset
from comitia.datasets._examples import JointSample, load_seven_segment, make_joint
from comitia.datasets._folds import MultilabelStratifiedKFold
from comitia.datasets._labels import label_notes
from comitia.datasets._load import load_dataset, load_features
from comitia.datasets._mulan import load_meka, load_mulan
from comitia.datasets._table import load_table

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
