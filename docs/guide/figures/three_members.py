"""The same three members, six aggregations, three losses."""

import matplotlib.pyplot as plt
import numpy as np

from comitia import AGGREGATIONS, Marginals, decide

labels = ["calm", "happy", "quiet", "sad"]
p = np.array([[0.55, 0.20, 0.40, 0.35], [0.60, 0.10, 0.70, 0.45], [0.45, 0.30, 0.35, 0.60]])
members = [Marginals(row[None]) for row in p]
names = ["gmv", "bmv", "ctp", "ptc-lw", "ptc-mode", "ptc-mbr"]
losses = {"hamming": "Hamming loss", "subset01": "Subset 0/1 loss", "f1": "F1-measure"}

figure, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
panels = [(p, ["member 1", "member 2", "member 3"], "What they believe", "{:.2f}")]
for loss, title in losses.items():
    answers = np.array([decide(members, loss, name)[0] for name in names])
    panels.append((answers, [AGGREGATIONS[name].title for name in names], title, "{}"))
for axis, (values, rows, title, form) in zip(axes, panels, strict=True):
    axis.imshow(values, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        axis.text(column, row, form.format(value), ha="center", va="center")
    axis.set_xticks(range(4), labels)
    axis.set_yticks(range(len(rows)), rows)
    axis.set_title(title)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
