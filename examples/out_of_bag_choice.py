"""
Choosing out of bag, and when not to trust it
=============================================

Every member has instances that it has not seen.  The losses of all aggregations on these cost no further fit; here they
stand beside the losses on a test set that nobody has seen.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import AGGREGATIONS, EMODTClassifier, get_loss
from comitia.datasets import load_seven_segment

data = load_seven_segment()
orders = {"drawn at random": np.random.default_rng(0).permutation(1797), "the first 500 of the file": np.arange(1797)}
subset = get_loss("subset01")
losses = {}
for title, order in orders.items():
    train, test = order[:500], order[500:]
    trees = EMODTClassifier(n_estimators=50, loss="subset01", oob_score=True, min_samples_leaf=5, random_state=0)
    trees.fit(data.X[train], data.Y[train])
    print(f"{title}: chosen is {trees.oob_choice_}")
    losses[title] = {}
    for name in AGGREGATIONS:
        answer = trees.set_params(aggregation=name).predict(data.X[test])
        losses[title][name] = trees.oob_table_["subset01"][name], subset.value(data.Y[test], answer).mean()
        print("  {:<10} out of bag {:.3f}   tested {:.3f}".format(name, *losses[title][name]))

# %%
# Left, training instances were drawn at random: out-of-bag losses are close to the tested ones.  Right, they are the
# first of the file, and those that follow were written by other hands: what is out of bag was not, so that its losses
# are far too low.  The choice is right in both cases, the promise only in the first.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained", sharex=True, sharey=True)
for axis, (title, known) in zip(axes, losses.items(), strict=True):
    axis.plot([0, 0.32], [0, 0.32], color="#bbbbbb", lw=1)
    points = {}
    for name, point in known.items():
        points.setdefault(tuple(np.round(point, 3)), []).append(name)
    for point, names in points.items():
        axis.scatter(*point, color="#1f4e79")
        axis.annotate(", ".join(names), point, xytext=(7, -3), textcoords="offset points", fontsize=8)
    axis.set(title=f"Training instances {title}", xlabel="out-of-bag subset 0/1 loss", xlim=(0, 0.32), ylim=(0, 0.32))
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("loss on the test set")
plt.show()
