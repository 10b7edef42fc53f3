"""
Abstaining with a guarantee
===========================

Labels that are in doubt can be left open.  ``RecallAtLeast`` finds the cut below which a label may be denied so that,
in expectation, at least the promised share of each instance's labels is found or left open (conformal risk control).
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import EMODTClassifier, Marginals
from comitia.datasets import make_joint
from comitia.losses import risk_coverage
from comitia.measures import RecallAtLeast

data = make_joint(4000, 6, 8, dependence=0.3, signal=3.0, random_state=1).dataset
train, test = np.arange(1500), np.arange(1500, 4000)
trees = EMODTClassifier(n_estimators=50, oob_score=True, random_state=0).fit(data.X[train], data.Y[train])
belief = Marginals(trees.predict_proba(data.X[test]))

promises = np.array([0.7, 0.8, 0.9, 0.95, 0.98])
kept, left = [], []
for promise in promises:
    goal = RecallAtLeast(promise)
    rule = goal.resolve_partial(trees.oob_proba_, data.Y[train])
    answer = rule.minimise(belief)  # 1, 0, or −1 where it is left open
    kept.append(goal.value(data.Y[test], answer))
    left.append((answer < 0).mean())
    print(f"promised {promise:.2f}: kept {kept[-1]:.3f} with {left[-1]:.1%} left open, denied below {rule.lower:.3f}")

# %%
# Right: what is gained for Hamming loss by leaving labels open at a price (``Abstaining``), from everything decided to
# half of it.

curve = risk_coverage(belief, data.Y[test], "hamming")
figure, (promised, gained) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
promised.plot([0.68, 1], [0.68, 1], color="#bbbbbb", lw=1)
promised.plot(promises, kept, "o-", color="#08519c")
for x, y, share in zip(promises, kept, left, strict=True):
    promised.annotate(f"{share:.0%} open", (x, y), xytext=(-4, 7), textcoords="offset points", fontsize=8, ha="right")
promised.set(
    xlabel="promised", ylabel="kept on the test set", title="Share of labels found or left open", xlim=(0.62, 1.0)
)
gained.plot(curve.coverage, curve.loss, "o-", color="#08519c")
gained.set(
    xlabel="share of labels decided", ylabel="Hamming loss of what is decided", title="Leaving labels open at a price"
)
for axis in (promised, gained):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
