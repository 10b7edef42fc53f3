"""Fast fitting of many models at once; nothing here knows of ensembles."""

from comitia.learners._boosting import BoostedTrees, boost_trees, predict_boosted
from comitia.learners._chains import ChainFit, fit_chains, predict_chains
from comitia.learners._logistic import LogisticFit, fit_logistic
from comitia.learners._logistic_predict import predict_logistic
from comitia.learners._tree import MultiObjectiveTree, grow_trees
from comitia.learners._tree_export import export_graphviz, export_text

__all__ = [
    "BoostedTrees",
    "ChainFit",
    "LogisticFit",
    "MultiObjectiveTree",
    "boost_trees",
    "export_graphviz",
    "export_text",
    "fit_chains",
    "fit_logistic",
    "grow_trees",
    "predict_boosted",
    "predict_chains",
    "predict_logistic",
]
