"""
Calibration: probabilities that mean what they say
==================================================

A decision takes probabilities at their word.  Trees with large leaves are too timid: what they call likely is nearly
certain.  With ``calibration="oob"`` pooled marginals are brought into line with the labels of instances that members
have not seen, label by label, and only where that pays.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import EMODTClassifier, get_loss
from comitia.datasets import load_seven_segment
from comitia.report.figures import reliability, reliability_diagram

digits = load_seven_segment()
order = np.random.default_rng(0).permutation(len(digits.X))
train, test = order[:900], order[900:]
trees = EMODTClassifier(50, min_samples_leaf=25, loss="f1", oob_score=True, random_state=0)
trees.fit(digits.X[train], digits.Y[train])
truth, f1 = digits.Y[test], get_loss("f1")

believed, lost = {}, {}
for kind in (None, "sigmoid", "isotonic", "oob"):
    trees.set_params(calibration=kind)  # without a refit
    believed[kind] = trees.predict_proba(digits.X[test])
    lost[kind] = f1.value(truth, trees.predict(digits.X[test])).mean()
    off = reliability(truth, believed[kind], digits.label_names)[0].error
    print(f"{kind!s:<9} probabilities off by {100 * off:4.1f} points   F1 {100 * (1 - lost[kind]):.1f}")
print("what is done to each segment:", ", ".join(trees.calibration_.kinds))

# %%
# On the diagonal, probabilities mean what they say.  As they are, for new instances:

figure = reliability_diagram(truth, believed[None], digits.label_names)

# %%
# And calibrated by what members had not seen:

calibrated = reliability_diagram(truth, believed["oob"], digits.label_names)

# %%
# The map of each segment.  All of them rise, so that no order of instances changes.

curves, axis = plt.subplots(figsize=(4.4, 3.8), layout="constrained")
p = np.linspace(0, 1, 101)
for name, curve in zip(digits.label_names, trees.calibration_.apply(np.tile(p[:, None], (1, 7))).T, strict=True):
    axis.plot(p, curve, label=name, linewidth=1.2)
axis.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
axis.set(xlabel="probability of the trees", ylabel="calibrated", aspect="equal")
axis.legend(frameon=False, fontsize=8, title="segment")
axis.spines[["top", "right"]].set_visible(False)
plt.show()
