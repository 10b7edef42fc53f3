"""
A loss of your own
==================

Any function of (truth, labeling) is a loss.  Here a missed first label is urgent: it costs ten times as much as any
other error, and half as much if at least something was reported.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import EBRClassifier
from comitia.datasets import make_joint
from comitia.losses import CustomLoss


def urgent(truth, labeling):
    wrong = (truth != labeling).sum(axis=1)
    missed = (truth[:, 0] == 1) & (labeling[:, 0] == 0)
    silent = labeling.sum(axis=1) == 0
    return wrong + missed * np.where(silent, 9.0, 4.0)


data = make_joint(2500, 5, 4, dependence=0.5, random_state=2).dataset
train, test = np.arange(800), np.arange(800, 2500)
ebr = EBRClassifier(n_estimators=30, random_state=0).fit(data.X[train], data.Y[train])

loss = CustomLoss(urgent)
costs = {}
for title, wanted in (("Hamming", "hamming"), ("F1", "f1"), ("your own", loss)):
    answer = ebr.set_params(loss=wanted, aggregation="ctp").predict(data.X[test])
    costs[title] = loss.value(data.Y[test], answer)
    print(f"decided for {title:<8} costs {costs[title].mean():.3f}; first label reported: {answer[:, 0].mean():.0%}")

# %%

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
means = [cost.mean() for cost in costs.values()]
errors = [cost.std() / np.sqrt(len(cost)) for cost in costs.values()]
bars = axes.bar(list(costs), means, yerr=errors, capsize=4, color=["#c6dbef", "#6baed6", "#08519c"])
axes.bar_label(bars, fmt="%.2f", padding=4)
axes.set(ylabel="your loss on the test set", xlabel="decided for", ylim=(0, max(means) * 1.25))
axes.spines[["top", "right"]].set_visible(False)
plt.show()
