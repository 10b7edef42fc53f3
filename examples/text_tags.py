"""
Tags of texts
=============

A pipeline of scikit-learn is a multilabel classifier, and so it can be bagged: each member has its own vocabulary.  The
texts are made here, so that no file is needed: each tag has its words, and texts mix tags and chatter.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline

from comitia import MultilabelBaggingClassifier, get_loss

WORDS = {
    "python": "function import list tuple module decorator exception generator",
    "plot": "axis figure legend colour line marker label histogram",
    "data": "table column row missing merge frame index join",
    "web": "request server page browser cookie response header route",
    "sql": "select join query index database row key transaction",
}
CHATTER = [
    "how",
    "why",
    "error",
    "help",
    "please",
    "value",
    "wrong",
    "works",
    "version",
    "problem",
    "get",
    "use",
    "new",
]
random = np.random.default_rng(0)


def question():
    tags = random.random(len(WORDS)) < [0.5, 0.25, 0.35, 0.15, 0.15]
    words = [random.choice(text.split(), 1) for text, on in zip(WORDS.values(), tags, strict=True) if on]
    return " ".join([*np.concatenate([*words, random.choice(CHATTER, 6)])]), tags.astype(int)


texts, Y = zip(*(question() for _ in range(1200)), strict=True)
texts, Y = np.array(texts, dtype=object), np.array(Y)
print(texts[0], "→", [tag for tag, on in zip(WORDS, Y[0], strict=True) if on])

# %%

member = make_pipeline(TfidfVectorizer(), MultiOutputClassifier(LogisticRegression(C=3)))
bagged = MultilabelBaggingClassifier(member, n_estimators=10, loss="f1", random_state=0)
bagged.fit(texts[:200], Y[:200])
losses = {"hamming": "decided for Hamming", "f1": "decided for F1"}
scores = {}
for loss, title in losses.items():
    answer = bagged.set_params(loss=loss).predict(texts[200:])
    scores[title] = [1 - get_loss(other).value(Y[200:], answer).mean() for other in losses]
    print(title, np.round(scores[title], 3))

# %%

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for place, (title, values) in enumerate(scores.items()):
    bars = axes.bar(np.arange(2) + 0.4 * place - 0.2, values, 0.38, label=title, color=["#9ecae1", "#08519c"][place])
    axes.bar_label(bars, fmt="%.3f")
axes.set_xticks(range(2), ["1 − Hamming loss", "F1"])
axes.set(ylim=(0.5, 1.05), title="Tags of 1,000 new texts")
axes.legend(frameon=False, loc="upper center", ncols=2)
axes.spines[["top", "right"]].set_visible(False)
plt.show()
