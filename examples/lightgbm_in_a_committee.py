"""
A LightGBM in a committee
=========================

A committee takes any classifier beside comitia's own ensembles: it is bagged ten times, a label at a time where it can
do one only, and gets its weight by what it is worth on instances that its members have not seen.  Where LightGBM is not
installed, scikit-learn's histogram gradient boosting takes its place here.
"""

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

from comitia import CommitteeClassifier, EBRClassifier, EMODTClassifier, get_loss

try:
    from lightgbm import LGBMClassifier
except (ModuleNotFoundError, OSError):  # the second where the system lacks a library that it needs
    from sklearn.ensemble import HistGradientBoostingClassifier

    title = "gradient boosting"
    boosting = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, max_bins=32, early_stopping=False)
    print("LightGBM is not installed: this is scikit-learn's HistGradientBoostingClassifier.")
else:
    title = "LightGBM"
    boosting = LGBMClassifier(n_estimators=30, num_leaves=8, n_jobs=1, verbose=-1)

# %%
# Four labels of eight features: two follow a sum of them, two the product of a pair.

rng = np.random.default_rng(0)
X = rng.normal(size=(1600, 8))
scores = np.column_stack([X[:, :4].sum(axis=1), X[:, 4:].sum(axis=1) - 1, 2 * X[:, 0] * X[:, 1], 2 * X[:, 2] * X[:, 3]])
Y = (scores + rng.logistic(size=scores.shape) > 0).astype(int)
committee = CommitteeClassifier(
    [("trees", EMODTClassifier(30)), ("lines", EBRClassifier(n_estimators=20)), (title, boosting)],
    loss="subset01",
    random_state=0,
)
limits = threadpool_limits(1)  # the parts are small: threads would wait for each other longer than they work
committee.fit(X[:600], Y[:600])
print("weights:", {name: round(weight, 2) for name, weight in committee.weights_.items()})

# %%
# Each ensemble alone, and the committee, on a thousand instances that none of them has seen.  The weights make the
# marginals good, whatever the loss; so the same committee decides for other losses without a refit.

losses = {}
for loss in ("hamming", "subset01", "f1"):
    for name, ensemble in {**committee.named_members_, "committee": committee}.items():
        answers = ensemble.set_params(loss=loss).predict(X[600:])
        losses.setdefault(name, []).append(100 * get_loss(loss).value(Y[600:], answers).mean())
limits.restore_original_limits()

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.2), layout="constrained", width_ratios=(2, 3))
left.barh(list(committee.weights_), list(committee.weights_.values()), color="#1f4e79")
left.set(title="Weight in the committee", xlim=(0, 1))
left.invert_yaxis()
for place, (name, values) in enumerate(losses.items()):
    colour = "#e08214" if name == "committee" else plt.get_cmap("Blues")(0.35 + 0.2 * place)
    right.bar(np.arange(3) + 0.2 * place - 0.3, values, width=0.18, color=colour, label=name)
    print(f"{name:<18}" + "".join(f"{value:8.1f}" for value in values))
right.set_xticks(range(3), ["Hamming loss", "subset 0/1 loss", "1 − F1-measure"])
right.set(title="Loss on new instances, in percent")
right.legend(frameon=False, fontsize=8)
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
