"""
Macro-F1 without retraining
===========================

Macro-F1 averages over labels, and rare ones count as much as frequent ones.  A cut at one half hardly ever predicts
them.  The measure *resolves* to a loss, a cut for each label found on out-of-bag beliefs, and the fitted ensemble
decides for that.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_multilabel_classification

from comitia import EMODTClassifier
from comitia.measures import get_measure

X, Y = make_multilabel_classification(3000, n_features=20, n_classes=12, n_labels=1, length=30, random_state=1)
Y = Y[:, np.argsort(-Y.mean(axis=0))]
train, test = np.arange(1500), np.arange(1500, 3000)
trees = EMODTClassifier(n_estimators=50, oob_score=True, random_state=0).fit(X[train], Y[train])

macro = get_measure("macro-f1")
half = trees.predict(X[test])
loss = macro.resolve(trees.oob_proba_, Y[train])
tuned = trees.set_params(loss=loss).predict(X[test])  # no refit
print(f"cut at one half, on the test set:   {macro.value(Y[test], half):.3f}")
print(f"resolved, on the test set:          {macro.value(Y[test], tuned):.3f}")
print(f"promised out of bag, cross-fitted: {macro.cross_fitted(trees.oob_proba_, Y[train]):.3f}")

# %%


def f1(truth, answer):
    found = (truth & answer).sum(axis=0)
    return 2 * found / np.maximum(truth.sum(axis=0) + answer.sum(axis=0), 1)


figure, (above, below) = plt.subplots(2, 1, figsize=(8, 4.6), layout="constrained", sharex=True)
labels = np.arange(Y.shape[1])
above.bar(labels - 0.2, f1(Y[test], half), 0.38, label="cut at one half", color="#c6dbef")
above.bar(labels + 0.2, f1(Y[test], tuned), 0.38, label="resolved for macro-F1", color="#08519c")
above.set(ylabel="F1 of the label", title="Held out, label by label, frequent ones first")
above.legend(frameon=False)
below.plot(labels, loss.false_positive, "o", color="#08519c", label="cut")
below.plot(labels, Y.mean(axis=0), "_", ms=14, color="#e08214", label="frequency")
below.axhline(0.5, color="#bbbbbb", lw=1)
below.set(xlabel="label", ylabel="probability", ylim=(0, 0.6))
below.legend(frameon=False)
for axis in (above, below):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
