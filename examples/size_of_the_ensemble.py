"""
Size of the ensemble
====================

How many members are enough?  ``staged_predict`` decides with the first m of them, without refitting: the question of
the paper's Figure 2, asked of the digits.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import EMODTClassifier, get_loss
from comitia.datasets import load_seven_segment

data = load_seven_segment()
train, test = np.arange(500), np.arange(500, 1797)
trees = EMODTClassifier(n_estimators=100, min_samples_leaf=5, random_state=0).fit(data.X[train], data.Y[train])

sizes = [1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 60, 80, 100]
titles = {"hamming": "Hamming loss", "subset01": "Subset 0/1 loss", "f1": "1 − F1"}
styles = {
    "gmv": ("#e08214", "--"),
    "ctp": ("#1f4e79", "-"),
    "ptc-mode": ("#1a9850", "-"),
    "ctp-joint": ("#762a83", "-"),
}

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for axis, (loss, title) in zip(axes, titles.items(), strict=True):
    for aggregation, (color, line) in styles.items():
        trees.set_params(loss=loss, aggregation=aggregation)
        values = [get_loss(loss).value(data.Y[test], h).mean() for h in trees.staged_predict(data.X[test], sizes)]
        axis.plot(sizes, values, line, color=color, label=aggregation)
    axis.set(title=title, xlabel="members", xscale="log")
    axis.set_xticks([1, 10, 100], [1, 10, 100])
    axis.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False)
plt.show()

# %%
# Most is gained by the first 20 to 40 members.  On these data labels depend on each other so strongly that CTP, which
# reads pooled marginals as independent labels, is no good for F1: the votes and the joint mixture know more.
