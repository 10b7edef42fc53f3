"""What to use for a loss: the ensemble, the aggregation, and the code and the command that make them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from comitia.report._answers import Answer
from comitia.report._blocks import Block
from comitia.report._vocabulary import Measure, aggregation_and_pool, measure, title
from comitia.report._words import number

OWN = "own"
"""In place of an aggregation: what a classifier predicts by itself."""


@dataclass(frozen=True)
class Setting:
    """How an ensemble of a comparison is made, as text.

    Attributes
    ----------
    constructor : str
        The name of its class.
    arguments : mapping of str to str
        The parameters in which it differs from the defaults of its class, as Python writes them.
    imports : sequence of str
        The statements that import what stands in it.
    decides : bool
        Whether it takes a loss and an aggregation; a classifier that does not is one member that others decide for.
    options : sequence of str, optional
        The options of ``comitia train`` that make it; None where there are none.
    """

    constructor: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    imports: Sequence[str] = ()
    decides: bool = True
    options: Sequence[str] | None = None

    def code(self, name: str, loss: str, aggregation: str, pool: str, seed: int | None) -> str:
        """Write the constructor with all that the recommendation says.

        Examples
        --------
        >>> Setting("ECCClassifier", {"n_estimators": "50"}).code("ecc", "f1", "ptc-mbr", "mean", 0)
        'ECCClassifier(n_estimators=50, loss="f1", aggregation="ptc-mbr", random_state=0)'
        >>> Setting("ECCClassifier").code("ecc", "macro-f1", "ctp", "mean", None)
        'ECCClassifier(loss="macro-f1", aggregation="ctp", oob_score=True)'
        >>> forest = Setting("RandomForestClassifier", decides=False)
        >>> forest.code("forest", "f1", "own", "mean", 0)
        'RandomForestClassifier()'
        >>> forest.code("forest", "f1", "ctp", "mean", 0)
        'MultilabelVotingClassifier([("forest", RandomForestClassifier())], loss="f1", aggregation="ctp")'
        """
        decision = {"loss": _quoted(loss), "aggregation": _quoted(aggregation)}
        decision |= {"pool": _quoted(pool)} if pool != "mean" else {}
        decision |= {"oob_score": "True"} if self.decides and (aggregation == "oob" or measure(loss).of_a_set) else {}
        if self.decides:
            seeded = {} if seed is None or "random_state" in self.arguments else {"random_state": str(seed)}
            return _call(self.constructor, {**self.arguments, **decision, **seeded})
        alone = _call(self.constructor, self.arguments)
        if aggregation == OWN:
            return alone
        return _call("MultilabelVotingClassifier", decision, f"[({_quoted(name)}, {alone})]")

    def imported(self, aggregation: str) -> list[str]:
        """Give the statements that import what the code names."""
        around = [] if self.decides or aggregation == OWN else ["from comitia import MultilabelVotingClassifier"]
        return [*around, *self.imports]

    def command(self, source: Sequence[str], loss: str, aggregation: str, pool: str, seed: int | None) -> str:
        """Write the command that trains it on the data that was compared on; empty where there is none.

        Examples
        --------
        >>> ecc = Setting("ECCClassifier", options=["--ensemble", "ecc"])
        >>> ecc.command(["my songs.csv"], "f1", "ctp", "mean", 0)
        "comitia train 'my songs.csv' --ensemble ecc --loss f1 --aggregation ctp --seed 0 -o model.skops"
        """
        if self.options is None or not source or pool != "mean":
            return ""
        decision = ["--loss", loss, "--aggregation", aggregation, *(["--seed", str(seed)] if seed is not None else [])]
        return shlex.join(["comitia", "train", *source, *self.options, *decision, "-o", "model.skops"])


@dataclass(frozen=True)
class Recommendation:
    """What to use for a loss.

    Attributes
    ----------
    measure : Measure
        How the loss is shown.
    ensemble, aggregation, pool : str
        The ensemble whose best aggregation has the best mean, that aggregation, and how it pools members.
    percent : float
        That mean.
    better_than, undecided, p_value, test, text
        Of the ensemble's aggregations, as in `Answer`.
    code : str
        The classifier in Python; empty where the results do not say how it is made.
    imports : str
        The lines that import what the code names.
    command : str
        The command that trains it; empty where there is none.
    """

    measure: Measure
    ensemble: str
    aggregation: str
    pool: str
    percent: float
    better_than: tuple[str, ...]
    undecided: tuple[str, ...]
    p_value: float | None
    test: str
    text: str
    code: str = ""
    imports: str = ""
    command: str = ""

    @property
    def loss(self) -> str:
        return self.measure.loss

    @property
    def choice(self) -> str:
        """The ensemble and the aggregation, as people write them."""
        if self.aggregation == OWN:
            return f"{title(self.ensemble)} as it is"
        pool = "" if self.pool == "mean" else f" · {self.pool}"
        return f"{title(self.ensemble)} with {title(self.aggregation)}{pool}"

    def __str__(self) -> str:
        lines = [f"{self.measure.title}: {self.choice}, {number(self.percent)} %.", self.text, self.code, self.command]
        return "\n".join(line for line in lines if line)

    def as_record(self) -> dict[str, Any]:
        """Give the recommendation as plain values, for JSON."""
        return {
            "loss": self.loss,
            "ensemble": self.ensemble,
            "aggregation": self.aggregation,
            "pool": self.pool,
            "percent": self.percent,
            "better_than": list(self.better_than),
            "undecided": list(self.undecided),
            "p_value": self.p_value,
            "test": self.test,
            "text": self.text.replace("\u00a0", " "),
            "code": self.code,
            "imports": self.imports,
            "command": self.command,
        }


def recommend(
    found: Iterable[tuple[Block, Answer]],
    settings: Mapping[str, Setting],
    source: Sequence[str] = (),
    seed: int | None = None,
) -> Iterator[Recommendation]:
    """Choose for each loss the ensemble whose best aggregation has the best mean.

    Ensembles that were run on different datasets do not compare: each has a recommendation of its own.
    """
    pairs = list(found)
    for loss in dict.fromkeys(block.measure.loss for block, _ in pairs):
        of_loss = [(block, answer) for block, answer in pairs if block.measure.loss == loss]
        if len({block.datasets for block, _ in of_loss}) == 1:
            sign = -1 if of_loss[0][0].measure.higher_is_better else 1
            of_loss = [min(of_loss, key=lambda pair: sign * pair[0].means[pair[0].index(pair[1].best)])]
        for block, answer in of_loss:
            yield recommendation(block, answer, settings.get(block.ensemble), source, seed)


def recommendation(
    block: Block, answer: Answer, setting: Setting | None, source: Sequence[str], seed: int | None
) -> Recommendation:
    """Recommend the best aggregation of one ensemble."""
    # Where a classifier predicts the same by itself, nothing need be put around it.
    by_itself = block.same.get(OWN) == answer.best
    aggregation, pool = (OWN, "mean") if by_itself else aggregation_and_pool(answer.best)
    decision = (answer.measure.loss, aggregation, pool, seed)
    return Recommendation(
        answer.measure,
        answer.ensemble,
        aggregation,
        pool,
        float(block.means[block.index(answer.best)]),
        answer.better_than,
        answer.undecided,
        answer.p_value,
        answer.test,
        answer.text,
        "" if setting is None else setting.code(answer.ensemble, *decision),
        "" if setting is None else "\n".join(setting.imported(aggregation)),
        "" if setting is None else setting.command(source, *decision),
    )


def _call(name: str, arguments: Mapping[str, str], first: str = "") -> str:
    parts = [first] * bool(first) + [f"{key}={value}" for key, value in arguments.items()]
    return f"{name}({', '.join(parts)})"


def _quoted(text: str) -> str:
    """Write text as Python source, in double quotes where that needs no escaping."""
    return f'"{text}"' if text.isprintable() and not set('"\\') & set(text) else repr(text)
