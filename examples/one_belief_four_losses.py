"""
One belief, four losses
=======================

A belief about whole labelings has several right answers: one for each loss.  Here it is a joint distribution over
what a photograph shows; the answers below are exact minimisers of the expected loss.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import LabelSets, get_loss

labels = ["boat", "people", "forest", "sea"]
sets = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0]], np.int8)
belief = LabelSets(sets, [[0.30, 0.25, 0.20, 0.15, 0.10]])
for label, p in zip(labels, belief.marginals()[0], strict=True):
    print(f"{label:<6} {p:.2f}")

# %%
# No label is more probable than not, so Hamming loss answers with none of them.  Subset 0/1 loss takes the most
# probable set.  The F-measure and the Jaccard index gain from naming labels that are probable enough together, and
# differ in what a label too many costs.

losses = {"hamming": "Hamming", "subset01": "subset 0/1", "f1": "1 − F1", "jaccard": "1 − Jaccard"}
answers = {name: get_loss(name).minimise(belief) for name in losses}
for name, answer in answers.items():
    chosen = [label for label, on in zip(labels, answer[0], strict=True) if on]
    print(f"{losses[name]:<12} {', '.join(chosen) or 'no label'}")

# %%
# Every answer judged by every loss: the diagonal is the smallest number of its column.

risks = np.array([[get_loss(column).risk(belief, answers[row])[0] for column in losses] for row in losses])
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
axes.imshow(risks, cmap="Blues", vmin=0.2, vmax=2.0, aspect="auto")
for (row, column), risk in np.ndenumerate(risks):
    best = np.isclose(risk, risks[:, column].min())
    axes.text(column, row, f"{risk:.3f}", ha="center", va="center", weight="bold" if best else "normal")
axes.set_xticks(range(4), losses.values())
axes.set_yticks(range(4), [f"decided for {title}" for title in losses.values()])
axes.set_title("Expected loss; bold is the smallest of its column")
axes.tick_params(length=0)
plt.show()
