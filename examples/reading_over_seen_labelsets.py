"""
Reading over seen labelsets
===========================

Members of binary relevance believe something about single labels.  Read as independent, that allows all 128 displays;
read over the labelsets of the training data, only those that occurred.  The members and their probabilities stay the
same.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import EBRClassifier, get_loss
from comitia.datasets import load_seven_segment

data = load_seven_segment()
train, test = np.arange(500), np.arange(500, 1797)
ebr = EBRClassifier(n_estimators=30, aggregation="ctp", random_state=0).fit(data.X[train], data.Y[train])

losses = {"hamming": "Hamming loss", "subset01": "Subset 0/1 loss", "f1": "1 − F1", "jaccard": "1 − Jaccard"}
values = {}
for reading in ("independent", "nonempty", "seen"):
    ebr.set_params(reading=reading)
    answers = {loss: ebr.set_params(loss=loss).predict(data.X[test]) for loss in losses}
    values[reading] = [get_loss(loss).value(data.Y[test], answer).mean() for loss, answer in answers.items()]
    print(f"{reading:<12}", "  ".join(f"{loss} {v:.3f}" for loss, v in zip(losses, values[reading], strict=True)))

# %%

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
for place, (reading, heights) in enumerate(values.items()):
    bars = axes.bar(
        np.arange(4) + 0.27 * (place - 1), heights, 0.25, label=reading, color=["#c6dbef", "#6baed6", "#08519c"][place]
    )
    axes.bar_label(bars, fmt="%.3f", fontsize=8)
axes.set_xticks(range(4), losses.values())
axes.set_title("Loss on the test set by reading: the same members, other decisions")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
