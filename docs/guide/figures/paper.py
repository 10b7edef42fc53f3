"""The paper's example: a distribution of labelings, and two answers judged by three losses."""

import matplotlib.pyplot as plt
import numpy as np

from comitia import LabelSets, get_loss

table = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]], np.int8)
weights = np.array([4, 3, 3, 3, 3]) / 16
belief = LabelSets(table, weights[None])
answers = {"(0, 0, 0)": [[0, 0, 0]], "(1, 1, 1)": [[1, 1, 1]]}
losses = {"hamming": "Hamming", "subset01": "subset 0/1"}

figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 2.8), layout="constrained", width_ratios=[1.3, 1])
names = ["(" + ", ".join(map(str, row)) + ")" for row in table]
bars = left.bar(names, weights, color="#4c78a8")
left.bar_label(bars, ["1/4", *["3/16"] * 4])
left.set(title="P(y | x), and the share of the votes", ylim=(0, 0.3))
left.spines[["top", "right"]].set_visible(False)
for place, (name, answer) in enumerate(answers.items()):
    risk = [get_loss(loss).risk(belief, answer)[0] for loss in losses]
    bars = right.bar(np.arange(2) + 0.38 * place - 0.19, risk, 0.36, label=name, color=["#1f4e79", "#e8a06d"][place])
    right.bar_label(bars, fmt="%.3f")
right.set_xticks(range(2), losses.values())
right.set(title="Expected loss", ylim=(0, 1.05))
right.spines[["top", "right"]].set_visible(False)
right.legend(title="answer", frameon=False, loc="upper left")
