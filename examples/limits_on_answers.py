"""
Limits on answers
=================

A photograph is taken by day or by night, and a beach has a sea.  Beliefs of single labels know nothing of that; an
answer must.  ``Within`` minimises a loss over the answers that keep the limits.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import Marginals
from comitia.losses import Constraints, FLoss, Within

labels = ["beach", "day", "night", "sea", "people"]
limits = Constraints(at_least=1, exclusive=(("day", "night"),), implies=(("beach", "sea"),)).resolved(labels)
p = np.array(
    [
        [0.62, 0.55, 0.58, 0.40, 0.30],
        [0.70, 0.90, 0.05, 0.35, 0.20],
        [0.10, 0.20, 0.24, 0.22, 0.15],
        [0.05, 0.48, 0.47, 0.10, 0.65],
    ]
)
belief = Marginals(p)
free, kept = FLoss().minimise(belief), Within(FLoss(), limits).minimise(belief)
print("allowed without limits:", limits.allows(free))
print("allowed with them:     ", limits.allows(kept))

# %%

figure, axes = plt.subplots(1, 3, figsize=(11, 2.8), layout="constrained", sharey=True)
panels = [(p, "What is believed", "{:.2f}"), (free, "For F1", "{}"), (kept, "For F1, within limits", "{}")]
for axis, (values, title, form) in zip(axes, panels, strict=True):
    axis.imshow(values, cmap="Blues", vmin=0, vmax=1.6, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        axis.text(column, row, form.format(value), ha="center", va="center")
    axis.set_xticks(range(5), labels)
    axis.set_title(title)
    axis.tick_params(length=0)
axes[0].set_yticks(range(4), [f"photograph {i}" for i in range(1, 5)])
plt.show()
