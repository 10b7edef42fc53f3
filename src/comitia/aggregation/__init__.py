"""Aggregations: the members' beliefs and a loss in, one labeling out.

There are two, and both minimise an expected loss over a distribution:

- *combine then predict* pools what the members believe and minimises the loss over that;
- *predict then combine* lets every member minimise the loss and minimises a second loss over their votes.

The paper's names are settings of these two (:data:`AGGREGATIONS`).  Where the second loss is the first, votes are
combined as the distribution they are, ``ptc-mbr``: the answer to the question that the paper leaves open.

An aggregation is a value that says what to do; :class:`Beliefs` does it, for everybody who decides.
"""

from comitia.aggregation._beliefs import Beliefs
from comitia.aggregation._decide import decide
from comitia.aggregation._decision import Decision, Pooled, Votes
from comitia.aggregation._kinds import (
    AGGREGATIONS,
    Aggregation,
    CombineThenPredict,
    PredictThenCombine,
    advised,
    get_aggregation,
)

__all__ = [
    "AGGREGATIONS",
    "Aggregation",
    "Beliefs",
    "CombineThenPredict",
    "Decision",
    "Pooled",
    "PredictThenCombine",
    "Votes",
    "advised",
    "decide",
    "get_aggregation",
]
