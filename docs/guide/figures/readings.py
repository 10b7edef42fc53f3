"""The same marginals, read in three ways."""

import matplotlib.pyplot as plt
import numpy as np

from comitia import Marginals, Observed, get_loss, get_reading

p = np.array([[0.4, 0.4, 0.3]])
seen = Observed.of([[1, 0, 0]] * 3 + [[0, 1, 0]] * 3 + [[0, 1, 1]] * 2)
labelings = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]], np.int8)
names = ["∅", "a", "b", "c", "ab", "ac", "bc", "abc"]
subset = get_loss("subset01")
belief = Marginals(p, seen)
titles = {"independent": "independent labels", "nonempty": "at least one label", "seen": "labelsets seen: a, b, bc"}

figure, axes = plt.subplots(1, 3, figsize=(9.5, 2.6), layout="constrained", sharey=True)
for axis, (reading, title) in zip(axes, titles.items(), strict=True):
    read = get_reading(reading)(belief)
    probability = [1 - subset.risk(read, labeling[None])[0] for labeling in labelings]
    axis.bar(names, probability, color="#4c78a8")
    axis.set_title(f'"{reading}": {title}', fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("probability")
