"""
Votes as a distribution
=======================

When every member has decided, their votes are a distribution over labelings, and the same question can be asked again:
which answer loses least under it?  ``"ptc-mbr"`` asks it for the user's loss; ``"ptc-mode"`` takes the most frequent
vote, ``"ptc-lw"`` the majority of each label.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import ECCClassifier, get_loss, votes
from comitia.datasets import make_joint

data = make_joint(1500, 6, 5, dependence=0.8, random_state=0).dataset
ecc = ECCClassifier(n_estimators=50, loss="f1", random_state=0).fit(data.X[:500], data.Y[:500])

f1 = get_loss("f1")
members = list(ecc.predict_members(data.X[500:]))
cast = votes([f1.minimise(member) for member in members])

# %%
# The votes about one instance on which they are divided:

shares = cast.weights.toarray() / np.reshape(cast.total, (-1, 1))
divided = int(np.argmin((shares**2).sum(axis=1)))
order = np.argsort(-shares[divided])[:8]
names = ["".join(name for name, on in zip("abcde", cast.table[place], strict=True) if on) or "∅" for place in order]

answers = {name: ecc.set_params(aggregation=name).predict(data.X[500:]) for name in ("ptc-lw", "ptc-mode", "ptc-mbr")}
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", width_ratios=[1.4, 1])
left.bar(names, shares[divided, order], color="#4c78a8")
left.set(title="Votes of 50 chains about one instance", ylabel="share")
for name, answer in answers.items():
    chosen = "".join(label for label, on in zip("abcde", answer[divided], strict=True) if on) or "∅"
    loss = f1.risk(cast, answer)[divided]
    print(f"{name:<9} answers {chosen:<6} and expects to lose {loss:.3f} under these votes")

losses = [f1.value(data.Y[500:], answer).mean() for answer in answers.values()]
bars = right.bar(list(answers), losses, color=["#9ecae1", "#6baed6", "#1f4e79"])
right.bar_label(bars, fmt="%.3f")
right.set(title="1 − F1 on 1,000 test instances", ylim=(0, max(losses) * 1.2))
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
plt.show()
