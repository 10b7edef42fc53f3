"""
Chains: joint beliefs and greedy ones
=====================================

A classifier chain predicts one label after another.  Greedy chains pass their decision on
(``chain_method="predict"``, as in the paper); with ``"joint"`` a chain gives every labelset of the training data its
probability by the chain rule, and the mixture of the chains (``"ctp-joint"``) is minimised over.  The data has a
known distribution, so that the smallest loss which anybody could reach is known too.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import ECCClassifier, get_loss
from comitia.datasets import make_joint

strengths = [0.0, 0.25, 0.5, 0.75, 1.0]
curves = {"greedy, ptc-mode": [], "greedy, gmv": [], "joint, ctp-joint": [], "best possible": []}
for strength in strengths:
    data, _, probabilities = make_joint(3000, 6, 5, dependence=strength, random_state=3)
    train, test = np.arange(1000), np.arange(1000, 3000)
    subset = get_loss("subset01")
    for method, aggregations in {"predict": ("ptc-mode", "gmv"), "joint": ("ctp-joint",)}.items():
        ecc = ECCClassifier(n_estimators=20, chain_method=method, loss="subset01", random_state=0)
        ecc.fit(data.X[train], data.Y[train])
        for aggregation in aggregations:
            answer = ecc.set_params(aggregation=aggregation).predict(data.X[test])
            name = f"{'greedy' if method == 'predict' else 'joint'}, {aggregation}"
            curves[name].append(subset.value(data.Y[test], answer).mean())
    curves["best possible"].append((1 - probabilities[test].max(axis=1)).mean())

figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for (name, values), style in zip(curves.items(), ("-", "--", "-", ":"), strict=True):
    axes.plot(strengths, values, style, marker="o", ms=4, label=name, color="#444444" if style == ":" else None)
axes.set(xlabel="dependence between the labels", ylabel="subset 0/1 loss", title="Chains of 5 labels, 20 members")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
