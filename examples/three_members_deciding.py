"""
Three members deciding
======================

The same three members believe something about the moods of a song.  Every aggregation makes its own answer of it, and
those that know the loss make another one for every loss.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import AGGREGATIONS, Marginals, decide

labels = ["calm", "happy", "quiet", "sad"]
members = [
    Marginals([[0.55, 0.20, 0.40, 0.35]]),
    Marginals([[0.60, 0.10, 0.70, 0.45]]),
    Marginals([[0.45, 0.30, 0.35, 0.60]]),
]
names = ["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr"]
losses = {"hamming": "Hamming loss", "subset01": "Subset 0/1 loss", "f1": "F1-measure", "jaccard": "Jaccard index"}

for loss in losses:
    for name in names:
        answer = decide(members, loss, name)[0]
        chosen = [label for label, on in zip(labels, answer, strict=True) if on]
        print(f"{loss:<9} {name:<9} {', '.join(chosen) or 'no label'}")

# %%
# Graded and binary majority voting (GMV, BMV) cut at one half whatever the loss; their rows are the same everywhere.

figure, axes = plt.subplots(1, 4, figsize=(11, 3), layout="constrained", sharey=True)
for axis, (loss, title) in zip(axes, losses.items(), strict=True):
    answers = np.array([decide(members, loss, name)[0] for name in names])
    axis.imshow(answers, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for (row, column), on in np.ndenumerate(answers):
        axis.text(column, row, on, ha="center", va="center")
    axis.set_xticks(range(4), labels)
    axis.set_title(title)
    axis.tick_params(length=0)
axes[0].set_yticks(range(len(names)), [AGGREGATIONS[name].title for name in names])
plt.show()
