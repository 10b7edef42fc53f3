"""
Digits on a seven-segment display
=================================

Handwritten digits, labelled with the segments that a digital display lights for them: 7 labels, of whose 128 labelings
only ten are digits.  Trees that decide label by label (Hamming loss) light displays that show no digit at all; the same
trees, asked for the whole set (subset 0/1 loss), rarely do.
"""

import matplotlib.pyplot as plt
import numpy as np

from comitia import EMODTClassifier
from comitia.datasets import load_seven_segment

data = load_seven_segment()
train, test = np.arange(600), np.arange(600, 1797)
trees = EMODTClassifier(n_estimators=30, random_state=0).fit(data.X[train], data.Y[train])

answers = {}
for loss, aggregation in (("hamming", "gmv"), ("subset01", "ctp-joint")):
    trees.set_params(loss=loss, aggregation=aggregation)  # no refit
    answers[loss] = trees.predict(data.X[test])

displays = {tuple(row) for row in data.Y}
for loss, answer in answers.items():
    none = np.mean([tuple(row) not in displays for row in answer])
    wrong = (answer != data.Y[test]).any(axis=1).mean()
    print(f"decided for {loss:<9} {none:6.1%} show no digit, {wrong:6.1%} are wrong in some segment")

# %%
# Some of the images whose display is no digit when every segment is decided by itself.

SEGMENTS = {
    "a": ([0, 1], [2, 2]),
    "b": ([1, 1], [1, 2]),
    "c": ([1, 1], [0, 1]),
    "d": ([0, 1], [0, 0]),
    "e": ([0, 0], [0, 1]),
    "f": ([0, 0], [1, 2]),
    "g": ([0, 1], [1, 1]),
}


def draw(axes, lit, title):
    for on, (x, y) in zip(lit, SEGMENTS.values(), strict=True):
        axes.plot(x, y, lw=7, solid_capstyle="round", color="#c0392b" if on else "#ececec")
    axes.set(xlim=(-0.6, 1.6), ylim=(-0.4, 2.4), aspect="equal")
    axes.set_title(title, fontsize=9)
    axes.axis("off")


odd = [i for i, row in enumerate(answers["hamming"]) if tuple(row) not in displays][:6]
figure, axes = plt.subplots(3, len(odd), figsize=(9, 5), layout="constrained")
for (image, hamming, subset), i in zip(axes.T, odd, strict=True):
    image.imshow(data.X[test[i]].reshape(8, 8), cmap="gray_r")
    image.axis("off")
    draw(hamming, answers["hamming"][i], "for Hamming loss")
    draw(subset, answers["subset01"][i], "for subset 0/1 loss")
plt.show()
