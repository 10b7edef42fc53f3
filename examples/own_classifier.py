"""
Comparing with your own classifier
==================================

``comitia.compare`` takes classifiers of scikit-learn's kind beside its own ensembles.  They are scored with what they
predict by themselves (``own``) and with the decisions that their probabilities allow for each loss.
"""

from sklearn.ensemble import RandomForestClassifier

import comitia
from comitia.datasets import load_seven_segment

digits = load_seven_segment()
results = comitia.compare(
    digits.X[:600],
    digits.Y[:600],
    ensembles=["emodt", ("forest", RandomForestClassifier(50, random_state=0))],
    aggregations=["gmv", "ctp", "ptc-mode", "ctp-joint", "oob"],
    members=50,
    folds=3,
    n_jobs=1,
)
print(results)

# %%
# The answer as code, and a table to paste:

print(results.recommendation("subset01").code)
print(results.table("subset01"))

# %%
# How much each combination loses to the best one:

figure = results.figure("regret")
