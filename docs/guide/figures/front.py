"""One belief, and what four losses make of it."""

import matplotlib.pyplot as plt
import numpy as np

from comitia import LabelSets, decide

labels = ["boat", "people", "forest", "sea"]
sets = np.array([[0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0]], np.int8)
weights = np.array([[0.30, 0.25, 0.20, 0.15, 0.10]])
belief = LabelSets(sets, weights)
losses = {"hamming": "Hamming loss", "subset01": "Subset 0/1 loss", "f1": "F1-measure", "jaccard": "Jaccard index"}

figure, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained", width_ratios=[1.2, 1])
axes[0].barh(range(len(sets)), weights[0], color="#4c78a8")
names = ["{" + ", ".join(name for name, on in zip(labels, row, strict=True) if on) + "}" for row in sets]
axes[0].set_yticks(range(len(sets)), names)
axes[0].invert_yaxis()
axes[0].set(title="What is believed of a photograph", xlabel="probability")
axes[0].spines[["top", "right"]].set_visible(False)
answers = np.array([decide([belief], loss, "ctp-joint", reading="independent")[0] for loss in losses])
axes[1].imshow(answers, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
for (row, column), on in np.ndenumerate(answers):
    axes[1].text(column, row, "yes" if on else "–", ha="center", va="center")
axes[1].set_xticks(range(4), labels)
axes[1].set_yticks(range(4), losses.values())
axes[1].set_title("What each loss answers")
axes[1].tick_params(length=0)
axes[1].spines[:].set_visible(False)
