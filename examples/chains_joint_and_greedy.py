"""
Chains: joint beliefs and greedy ones
=====================================

A classifier chain predicts one label after another.  Greedy chains pass their decision on (``chain_method="predict"``,
as in the paper); with ``"joint"`` a chain gives every labelset of the training data its probability by the chain rule,
and the mixture of the chains is minimised over (``"ctp-joint"``).  The data has a known distribution, so that the
smallest loss which anybody could reach is known too.
"""

import matplotlib.pyplot as plt

from comitia import ECCClassifier, LabelSets, get_loss
from comitia.datasets import make_joint

strengths = [0.0, 0.5, 1.0]
ways = {
    "greedy, gmv": ("predict", "gmv"),
    "greedy, as advised": ("predict", None),
    "joint, ctp-joint": ("joint", "ctp-joint"),
}
titles = {"subset01": "Subset 0/1 loss", "f1": "1 − F1"}
curves = {loss: {name: [] for name in (*ways, "best possible")} for loss in titles}
for strength in strengths:
    data, labelings, probabilities = make_joint(2500, 6, 5, dependence=strength, random_state=3)
    X, Y, X_test, Y_test = data.X[:1000], data.Y[:1000], data.X[1000:], data.Y[1000:]
    chains = {
        method: ECCClassifier(n_estimators=20, chain_method=method, random_state=0).fit(X, Y)
        for method in ("predict", "joint")
    }
    truth = LabelSets(labelings, probabilities[1000:])
    for loss, found in curves.items():
        target = get_loss(loss)
        for name, (method, aggregation) in ways.items():
            answer = chains[method].set_params(loss=loss, aggregation=aggregation).predict(X_test)
            found[name].append(target.value(Y_test, answer).mean())
        found["best possible"].append(target.risk(truth, target.minimise(truth)).mean())

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for axis, (loss, title) in zip(axes, titles.items(), strict=True):
    for (name, values), style in zip(curves[loss].items(), ("--", "-", "-", ":"), strict=True):
        axis.plot(strengths, values, style, marker="o", ms=4, label=name, color="#444444" if style == ":" else None)
    axis.set(xlabel="dependence between the labels", title=title)
    axis.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
plt.show()
