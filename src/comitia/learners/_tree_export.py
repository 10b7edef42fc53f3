"""Trees as text and as graphs, in the form that scikit-learn's users know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from comitia._errors import ComitiaError

if TYPE_CHECKING:
    from comitia.learners._tree import MultiObjectiveTree


def export_text(
    tree: MultiObjectiveTree,
    *,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    max_labels: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Describe a tree as indented text, one rule a line.

    Parameters
    ----------
    tree : MultiObjectiveTree
    feature_names, label_names : sequence of str, optional
        ``feature_0``, … and ``label_0``, … if they are not given.
    max_depth : int, optional
        Deeper branches are cut off, and the line says how deep they go.
    max_labels : int
        A leaf shows so many of its most probable labels; labels that it does not have are never shown.
    spacing : int
        Width of one level of indentation.
    decimals : int
        Digits of thresholds and proportions.
    show_weights : bool
        Whether leaves show their weight.

    Returns
    -------
    str

    Examples
    --------
    >>> from comitia.learners import export_text, grow_trees
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[1, 0], [1, 0], [0, 1], [0, 0]]
    >>> (tree,) = grow_trees(X, Y, seeds=[0], max_depth=1)
    >>> print(export_text(tree, feature_names=["tempo"], label_names=["calm", "happy"]))
    |--- tempo <= 1.50
    |   |--- labels: calm 1.00
    |--- tempo >  1.50
    |   |--- labels: happy 0.50
    """
    features = _names(feature_names, tree.n_features, "feature")
    leaf_text = _LeafText(tree, label_names, max_labels, decimals)
    below = _depths_below(tree)
    lines: list[str] = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, condition = stack.pop()
        bar = "|" + " " * spacing
        dash = "|" + "-" * spacing + " "
        indent = bar * depth + dash
        if condition:
            lines.append(bar * (depth - 1) + dash + condition)
        if tree.feature[node] < 0:
            weight = f" weight: {tree.weight[node]:.{decimals}f}" if show_weights else ""
            lines.append(f"{indent}labels: {leaf_text(node)}{weight}")
        elif max_depth is not None and depth > max_depth:
            lines.append(f"{indent}truncated branch of depth {below[node]}")
        else:
            left, right = _answers(features[tree.feature[node]], tree.threshold[node], decimals)
            stack.append((int(tree.right[node]), depth + 1, right))
            stack.append((node + 1, depth + 1, left))
    return "\n".join(lines)


def export_graphviz(
    tree: MultiObjectiveTree,
    *,
    feature_names: Sequence[str] | None = None,
    label_names: Sequence[str] | None = None,
    max_depth: int | None = None,
    max_labels: int = 10,
    decimals: int = 3,
    filled: bool = False,
) -> str:
    """Describe a tree in the DOT language of Graphviz.

    Parameters
    ----------
    tree : MultiObjectiveTree
    feature_names, label_names : sequence of str, optional
        ``feature_0``, … and ``label_0``, … if they are not given; characters that DOT reserves are escaped.
    max_depth : int, optional
        Deeper nodes are drawn as an ellipsis.
    max_labels : int
        A leaf shows so many of its most probable labels.
    decimals : int
        Digits of thresholds, impurities and proportions.
    filled : bool
        Whether nodes are the darker, the purer they are.

    Returns
    -------
    str

    Examples
    --------
    >>> from comitia.learners import export_graphviz, grow_trees
    >>> (tree,) = grow_trees([[0.0], [1.0]], [[1, 0], [0, 1]], seeds=[0])
    >>> print(export_graphviz(tree).splitlines()[-2])
    0 -> 2 [labeldistance=2.5, labelangle=-45, headlabel="False"] ;
    """
    features = _names(feature_names, tree.n_features, "feature")
    leaf_text = _LeafText(tree, label_names, max_labels, decimals)
    style = ', style="filled"' if filled else ""
    lines = ["digraph Tree {", f'node [shape=box{style}, fontname="helvetica"] ;', 'edge [fontname="helvetica"] ;']
    highest = max(float(tree.impurity.max()), np.finfo(float).tiny)
    stack: list[tuple[int, int, int]] = [(0, 0, -1)]
    while stack:
        node, depth, parent = stack.pop()
        cut_off = max_depth is not None and depth > max_depth
        if cut_off:
            lines.append(f'{node} [label="(...)"] ;')
        else:
            rows = [f"gini = {tree.impurity[node]:.{decimals}f}", f"samples = {tree.n_samples[node]}"]
            if tree.feature[node] < 0:
                rows.append(f"labels = {leaf_text(node)}")
            else:
                rows.insert(0, _answers(features[tree.feature[node]], tree.threshold[node], decimals)[0])
            grey = 255 - round(120 * (1 - tree.impurity[node] / highest))
            colour = f', fillcolor="#{grey:02x}{grey:02x}ff"' if filled else ""
            text = "\\n".join(map(_escaped, rows))
            lines.append(f'{node} [label="{text}"{colour}] ;')
        if parent >= 0:
            head = ""
            if parent == 0:
                side, angle = ("True", 45) if node == 1 else ("False", -45)
                head = f' [labeldistance=2.5, labelangle={angle}, headlabel="{side}"]'
            lines.append(f"{parent} -> {node}{head} ;")
        if not cut_off and tree.feature[node] >= 0:
            stack.append((int(tree.right[node]), depth + 1, node))
            stack.append((node + 1, depth + 1, node))
    return "\n".join([*lines, "}"])


class _LeafText:
    """The most probable labels of a leaf in words."""

    def __init__(
        self, tree: MultiObjectiveTree, label_names: Sequence[str] | None, max_labels: int, decimals: int
    ) -> None:
        self._leaf = tree.right
        self._marginals = tree.leaf_marginals()
        self._names = _names(label_names, tree.n_labels, "label")
        self._max_labels = max_labels
        self._decimals = decimals

    def __call__(self, node: int) -> str:
        leaf = self._leaf[node]
        entries = slice(self._marginals.indptr[leaf], self._marginals.indptr[leaf + 1])
        labels, proportions = self._marginals.indices[entries], self._marginals.data[entries]
        order = np.argsort(-proportions, kind="stable")[: self._max_labels]
        words = [f"{self._names[labels[i]]} {proportions[i]:.{self._decimals}f}" for i in order]
        if len(labels) > len(words):
            words.append(f"and {len(labels) - len(words)} more")
        return ", ".join(words) if words else "none"


def _names(given: Sequence[str] | None, n: int, what: str) -> list[str]:
    if given is None:
        return [f"{what}_{i}" for i in range(n)]
    if len(given) != n:
        raise ComitiaError(f"{what}_names must have {n} entries, one a {what}; got {len(given)}.")
    return [str(name) for name in given]


def _answers(name: str, threshold: float, decimals: int) -> tuple[str, str]:
    """Return what holds for the instances that go left and right; an infinite threshold asks for missing values."""
    if np.isinf(threshold):
        present, missing = f"{name} is present", f"{name} is missing"
        return (present, missing) if threshold > 0 else (missing, present)
    return f"{name} <= {threshold:.{decimals}f}", f"{name} >  {threshold:.{decimals}f}"


def _depths_below(tree: MultiObjectiveTree) -> list[int]:
    """Return how many levels lie below each node; children come after their parents, so they are done first."""
    below = [0] * tree.n_nodes
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.feature[node] >= 0:
            below[node] = 1 + max(below[node + 1], below[tree.right[node]])
    return below


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
