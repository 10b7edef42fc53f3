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
# first of the file, and those that follow are not like them (presumably written by other hands): out-of-bag losses are
# then far too low.  The choice is right in both cases, the promise only in the first.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained", sharex=True, sharey=True)
for axis, (title, known) in zip(axes, losses.items(), strict=True):
    judged, tested = np.array(list(known.values())).T
    axis.hlines(range(len(known)), judged, tested, color="#bbbbbb")
    axis.plot(judged, range(len(known)), "o", color="#e08214", label="out of bag")
    axis.plot(tested, range(len(known)), "s", color="#1f4e79", label="on the test set")
    axis.set(title=f"Training instances {title}", xlabel="subset 0/1 loss")
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_yticks(range(len(known)), known)
axes[0].set_xlim(left=0)
axes[0].legend(frameon=False)
plt.show()
