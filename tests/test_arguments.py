"""What public functions say of arguments that cannot be meant: a ComitiaError that names the argument."""

import numpy as np
import pandas as pd
import pytest

from comitia import ComitiaError, Constraints, FLoss, LabelSets, Marginals, Observed, votes
from comitia.columns import TableEncoder
from comitia.datasets import load_table, make_joint
from comitia.learners import boost_trees, fit_chains, fit_logistic, grow_trees
from comitia.relevance import fit_calibration
from comitia.statistics import cliques, critical_distance, friedman, holm, wilcoxon

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
Y = (X[:, :2] > 0).astype(np.int8)
P = RNG.random((30, 2))
FRAME = pd.DataFrame({"a": [1, 2, 3] * 5, "b": list("xyz") * 5})

REFUSED = {
    "max_iter must be an integer, at least 1; got 2.5": lambda: fit_logistic(X, Y, max_iter=2.5),
    "tol must be a positive number; got None": lambda: fit_logistic(X, Y, tol=None),
    "C must be a positive number; got 'much'": lambda: fit_chains(X, Y, [[0, 1]], C="much"),
    "sample_weight must hold numbers; got 'equal'": lambda: fit_logistic(X, Y, sample_weight="equal"),
    r"sample_weight must have shape \(30, W\)": lambda: fit_logistic(X, Y, sample_weight=np.empty((30, 0))),
    "seeds must be one or more integers from 0 .*; got 'x'": lambda: grow_trees(X, Y, "x"),
    "seeds must be one or more integers .*; got 3": lambda: boost_trees(X, Y, 3),
    "the weights of tree 0 must hold numbers; got 'x'": lambda: grow_trees(X, Y, [0], sample_weight=["x"]),
    "X must hold numbers": lambda: grow_trees([["a"]], Y, [0]),
    "max_depth must be an integer, at least 1; got 'deep'": lambda: grow_trees(X, Y, [0], max_depth="deep"),
    "min_positives must be an integer": lambda: fit_calibration(P, Y, min_positives=None),
    "random_state must be an integer": lambda: fit_calibration(P, Y, random_state=0.5),
    "weight must hold numbers; got 'x'": lambda: Observed.of(Y, "x"),
    "weight must hold a number ≥ 0 for each of 30": lambda: Observed.of(Y, [1]),
    r"weights must have shape \(n, U\); got shape \(\)": lambda: LabelSets([[0, 1]], 1.0),
    r"labelings must have shape \(M, n, K\); got shape \(\)": lambda: votes(3),
    "ignore must be a text or a list of texts; got 3": lambda: TableEncoder(ignore=3).fit(FRAME),
    r"text must be a text or a list of texts; got \[\[1\]\]": lambda: TableEncoder(text=[[1]]).fit(FRAME),
    "missing_values must be a text or a list": lambda: TableEncoder(missing_values=7).fit(FRAME),
    "numbers must be one of": lambda: TableEncoder(numbers=["plain"]).fit(FRAME),
    "path must be that of a file; got ''": lambda: load_table("", ["a"]),
    "labels must be a text or a list of texts; got 3": lambda: load_table("t.csv", 3),
    "labels_in must be the name of a column; got 3": lambda: load_table("t.csv", labels_in=3),
    "n_labels must be an integer, at least 1 and at most 16; got None": lambda: make_joint(9, 2, None, 0.5),
    r"dependence must lie in \[0, 1\]; got 'some'": lambda: make_joint(9, 2, 2, "some"),
    "table must hold numbers; got 'x'": lambda: friedman("x"),
    "differences must hold numbers; got 'x'": lambda: wilcoxon("x"),
    "p_values must hold numbers; got 'x'": lambda: holm("x"),
    "alpha must lie between 0 and 1, such as 0.05; got None": lambda: critical_distance(3, 7, alpha=None),
    "methods must be an integer, at least 2 .*; got 2.5": lambda: critical_distance(2.5, 7),
    r"average_ranks must be a list .*; got shape \(\), 0.5": lambda: cliques(1.0, 0.5),
    "exclusive must hold groups of labels": lambda: Constraints(exclusive=3),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_meant_is_refused_by_name(message):
    with pytest.raises(ComitiaError, match=message):
        REFUSED[message]()


@pytest.mark.parametrize("beta", [2, np.int64(2), np.float32(2), 10**12])
def test_a_beta_of_any_kind_of_number_is_that_number(beta):
    assert FLoss(beta) == FLoss(float(beta))
    assert (FLoss(beta).minimise(Marginals(P)) == FLoss(float(beta)).minimise(Marginals(P))).all()
