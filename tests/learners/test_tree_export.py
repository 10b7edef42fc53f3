"""Trees as text and as graphs."""

import re

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor
from sklearn.tree import export_graphviz as peer_graphviz
from sklearn.tree import export_text as peer_text
from tests.learners.tree_twins import make_data

from comitia.learners._tree import grow_trees
from comitia.learners._tree_export import export_graphviz, export_text


def rules(text: str) -> list[str]:
    return [line for line in text.splitlines() if "=" in line or ">" in line]


def test_the_rules_are_those_that_scikit_learn_prints():
    X, Y = make_data(200, 4, 3)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 200)
    (tree,) = grow_trees(X, Y, [0], sample_weight=weight, max_features=None, min_samples_leaf=20)
    peer = DecisionTreeRegressor(min_samples_leaf=20, random_state=0).fit(X, Y, sample_weight=weight)
    assert rules(export_text(tree)) == rules(peer_text(peer))
    assert len(rules(export_text(tree))) == 2 * (tree.n_leaves - 1)


def test_the_graph_has_the_nodes_and_edges_of_scikit_learns():
    X, Y = make_data(200, 4, 3)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, 200)
    (tree,) = grow_trees(X, Y, [0], sample_weight=weight, max_features=None, min_samples_leaf=20)
    peer = DecisionTreeRegressor(min_samples_leaf=20, random_state=0).fit(X, Y, sample_weight=weight)
    ours, theirs = export_graphviz(tree), peer_graphviz(peer)
    edges = re.compile(r"^(\d+ -> \d+)", re.MULTILINE)
    assert sorted(edges.findall(ours)) == sorted(edges.findall(theirs))
    questions = re.compile(r"<= ([-\d.]+)")
    assert questions.findall(ours) == [f"{float(number):.3f}" for number in questions.findall(theirs)]


def test_a_leaf_names_its_most_probable_labels_and_counts_the_rest():
    Y = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
    (tree,) = grow_trees(np.zeros((4, 1)), Y, [0])
    names = ["a", "b", "c", "d"]
    assert export_text(tree, label_names=names) == "|--- labels: a 1.00, b 0.50, c 0.25"
    assert export_text(tree, label_names=names, max_labels=1) == "|--- labels: a 1.00, and 2 more"
    assert export_text(tree, label_names=names, show_weights=True).endswith(" weight: 4.00")
    (empty,) = grow_trees(np.zeros((4, 1)), 0 * Y, [0])
    assert export_text(empty) == "|--- labels: none"


def test_deep_branches_are_cut_off_where_asked():
    X = np.arange(8.0)[:, np.newaxis]
    (tree,) = grow_trees(X, np.eye(8, dtype=int), [0])
    assert "truncated branch of depth" in export_text(tree, max_depth=0)
    assert "(...)" in export_graphviz(tree, max_depth=0)
    assert "truncated" not in export_text(tree, max_depth=tree.depth)
    assert "(...)" not in export_graphviz(tree, max_depth=tree.depth)


def test_a_split_on_missing_values_says_so():
    (tree,) = grow_trees([[0.0], [1.0], [np.nan]], [[0], [0], [1]], [0])
    lines = ["|--- x is present", "|   |--- labels: none", "|--- x is missing", "|   |--- labels: label_0 1.00"]
    assert export_text(tree, feature_names=["x"]).splitlines() == lines
    assert "x is present" in export_graphviz(tree, feature_names=["x"])


def test_names_cannot_break_out_of_the_graph():
    (tree,) = grow_trees([[0.0], [1.0]], [[0], [1]], [0])
    graph = export_graphviz(tree, feature_names=['x"]; evil [label="'], label_names=["back\\slash\nline"], filled=True)
    assert r"x\"]; evil [label=\" <= 0.500" in graph
    assert r"back\\slash line 1.000" in graph
    assert graph.count("\n") == 8


@pytest.mark.parametrize("export", [export_text, export_graphviz])
def test_names_of_the_wrong_number_are_refused(export):
    (tree,) = grow_trees([[0.0], [1.0]], [[0], [1]], [0])
    with pytest.raises(ValueError, match="feature_names must have 1 entries, one a feature; got 2"):
        export(tree, feature_names=["a", "b"])
    with pytest.raises(ValueError, match="label_names must have 1 entries, one a label; got 0"):
        export(tree, label_names=[])
