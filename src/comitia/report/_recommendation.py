"""What to use for a loss: the ensemble, the aggregation, and the code and the command that make them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from comitia import _titles
from comitia._names import shown
from comitia._titles import aggregation_and_pool, method_name
from comitia.report._answers import Answer
from comitia.report._blocks import Block
from comitia.report._plain import learnt, plainly
from comitia.report._rivals import Rival, Scored, is_vote, tested_against
from comitia.report._vocabulary import Measure, explained, measure, title
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
    alone : bool
        Whether a classifier that takes no loss could be fitted as it is; one of one label at a time, or of numbers
        where there are categories, stands in a vote of one, which sees to that.

    Examples
    --------
    >>> from comitia.report import Setting
    >>> Setting("ECCClassifier", {"n_estimators": "50"}).code("ecc", "f1", "ptc-mbr", "mean", 0)
    'ECCClassifier(n_estimators=50, loss="f1", aggregation="ptc-mbr", random_state=0)'
    """

    constructor: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    imports: Sequence[str] = ()
    decides: bool = True
    options: Sequence[str] | None = None
    alone: bool = True

    def code(self, name: str, loss: str, aggregation: str, pool: str, seed: int | None) -> str:
        """Write the constructor with all that the recommendation says.

        Examples
        --------
        >>> from comitia.report import Setting
        >>> Setting("ECCClassifier", {"n_estimators": "50"}).code("ecc", "f1", "ptc-mbr", "mean", 0)
        'ECCClassifier(n_estimators=50, loss="f1", aggregation="ptc-mbr", random_state=0)'
        >>> Setting("ECCClassifier").code("ecc", "macro-f1", "ctp", "mean", None)
        'ECCClassifier(loss="macro-f1", aggregation="ctp", oob_score=True)'
        >>> forest = Setting("RandomForestClassifier", decides=False)
        >>> forest.code("forest", "f1", "own", "mean", 0)
        'RandomForestClassifier()'
        >>> forest.code("forest", "f1", "ctp", "mean", 0)
        'MultilabelVotingClassifier([("forest", RandomForestClassifier())], loss="f1", aggregation="ctp")'
        >>> Setting("SVC", decides=False, alone=False).code("one", "f1", "own", "mean", 0)
        'MultilabelVotingClassifier([("one", SVC())], aggregation="gmv")'
        """
        spelt = _titles.OWN_LOSSES[loss].python if loss in _titles.OWN_LOSSES else _quoted(loss)
        if not spelt and aggregation != OWN:
            return ""
        decision = {"loss": spelt, "aggregation": _quoted(aggregation)}
        decision |= {"pool": _quoted(pool)} if pool != "mean" else {}
        decision |= {"oob_score": "True"} if self.decides and (aggregation == "oob" or measure(loss).of_a_set) else {}
        if self.decides:
            seeded = {} if seed is None or "random_state" in self.arguments else {"random_state": str(seed)}
            return _call(self.constructor, {**self.arguments, **decision, **seeded})
        itself = _call(self.constructor, self.arguments)
        if aggregation == OWN:
            if self.alone:
                return itself
            decision = {"aggregation": _quoted("gmv")}
        return _call("MultilabelVotingClassifier", decision, f"[({_quoted(name)}, {itself})]")

    def imported(self, aggregation: str) -> list[str]:
        """Give the statements that import what the code names."""
        bare = self.decides or (aggregation == OWN and self.alone)
        return [*([] if bare else ["from comitia import MultilabelVotingClassifier"]), *self.imports]

    def command(self, source: Sequence[str], loss: str, aggregation: str, pool: str, seed: int | None) -> str:
        """Write the command that trains it on the data that was compared on; empty where there is none.

        Examples
        --------
        >>> from comitia.report import Setting
        >>> ecc = Setting("ECCClassifier", options=["--ensemble", "ecc"])
        >>> ecc.command(["my songs.csv"], "f1", "ctp", "mean", 0)
        "comitia train 'my songs.csv' --ensemble ecc --loss f1 --aggregation ctp --seed 0 -o model.skops"
        >>> ecc.command(["songs.csv"], "f1", "ctp", "median", 0)
        "comitia train songs.csv --ensemble ecc --loss f1 --aggregation 'ctp · median' --seed 0 -o model.skops"
        """
        written = _titles.OWN_LOSSES[loss].option if loss in _titles.OWN_LOSSES else loss
        if self.options is None or not source or not written:
            return ""
        decision = ["--loss", written, "--aggregation", method_name(aggregation, pool)]
        decision += ["--seed", str(seed)] if seed is not None else []
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
        That mean, as it is shown: in percent, but for costs of one's own, which may be larger than one.
    better_than, undecided, p_value, test, text
        Of the ensemble's aggregations, as in `Answer`.
    code : str
        The classifier in Python; empty where the results do not say how it is made.
    imports : str
        The lines that import what the code names.
    command : str
        The command that trains it; empty where there is none.
    rivals : tuple of Rival
        The usual vote, the best baseline and the other ensembles, and whether it is better.
    rivals_text : str
        The points by which it is better than each of them, p-values and the test, in a sentence.
    plain : str
        In plain words how good it is, how much better than these, and whether that could be chance.
    python : str
        Lines that read the data, fit the classifier and predict; empty where ``code`` is.

    Examples
    --------
    >>> import pandas as pd
    >>> from comitia import Results
    >>> cell = {"dataset": "mine", "ensemble": "ecc", "repeat": 0, "loss": "f1", "pool": "mean", "size": 50}
    >>> ways = [("gmv", 0, 0.36), ("gmv", 1, 0.38), ("ctp", 0, 0.31), ("ctp", 1, 0.32)]
    >>> rows = [cell | {"aggregation": way, "fold": fold, "value": value, "n_test": 9} for way, fold, value in ways]
    >>> results = Results(pd.DataFrame(rows))
    >>> found = results.recommendation("f1")
    >>> found.ensemble, found.aggregation, round(found.percent, 1)
    ('ecc', 'ctp', 68.5)
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
    rivals: tuple[Rival, ...] = ()
    rivals_text: str = ""
    plain: str = ""
    python: str = ""

    @property
    def learnt(self) -> bool | None:
        """Whether it is better than answers that learn nothing, by more than chance; None where none was scored."""
        return learnt(self.rivals)

    @property
    def abbreviations(self) -> dict[str, str]:
        """What the abbreviations in it mean."""
        method = method_name(self.aggregation, self.pool)
        return explained([self.ensemble, *(one.ensemble for one in self.rivals), method])

    @property
    def loss(self) -> str:
        return self.measure.loss

    @property
    def choice(self) -> str:
        """The ensemble and the aggregation, as people write them."""
        if self.aggregation == OWN:
            return f"{title(self.ensemble)} as it is"
        return f"{title(self.ensemble)} with {title(method_name(self.aggregation, self.pool))}"

    def __str__(self) -> str:
        head = f"{self.measure.title}: {self.choice}, {number(self.percent)}{self.measure.unit}."
        lines = [head, self.plain, self.text, self.rivals_text, self.python or self.code, self.command]
        return shown("\n".join(line for line in lines if line))

    def as_record(self) -> dict[str, Any]:
        """Give the recommendation as plain values, for JSON."""
        return {
            "loss": self.loss,
            "ensemble": self.ensemble,
            "aggregation": self.aggregation,
            "pool": self.pool,
            "percent": self.percent if self.measure.percent else None,
            "value": self.percent,
            "plain": self.plain.replace("\u00a0", " "),
            "learnt": self.learnt,
            "rivals": [one.as_record(self.measure.percent) for one in self.rivals],
            "better_than": list(self.better_than),
            "undecided": list(self.undecided),
            "p_value": self.p_value,
            "test": self.test,
            "text": self.text.replace("\u00a0", " "),
            "code": self.code,
            "imports": self.imports,
            "python": self.python,
            "command": self.command,
        }


@dataclass(frozen=True, eq=False)
class Known:
    """What recommendations are made of besides answers.

    Attributes
    ----------
    scored : Scored
        All that was scored.
    settings : mapping of str to Setting
        For each ensemble how it is made.
    source : sequence of str
        How the command line names the data; empty where it cannot.
    loader : str
        The Python expression that reads the data; empty where it is arrays.
    seed : int, optional
        Of the plan.
    columns : mapping
        What was said of the columns of a frame; empty where ``loader`` says it.
    """

    scored: Scored
    settings: Mapping[str, Setting]
    source: Sequence[str] = ()
    loader: str = ""
    seed: int | None = None
    columns: Mapping[str, Any] = field(default_factory=dict)


Pair = tuple[Block, Answer]


def recommend(found: Iterable[Pair], known: Known) -> Iterator[Recommendation]:
    """Choose for each loss the ensemble whose best aggregation has the best mean.

    Ensembles that were run on different datasets do not compare: each has a recommendation of its own.
    """
    pairs = list(found)
    for loss in dict.fromkeys(block.measure.loss for block, _ in pairs):
        of_loss = [(block, answer) for block, answer in pairs if block.measure.loss == loss]
        if len({block.datasets for block, _ in of_loss}) > 1:
            yield from (recommendation(pair, (), known) for pair in of_loss)
            continue
        sign = -1 if of_loss[0][0].measure.higher_is_better else 1
        best = min(of_loss, key=lambda pair: sign * pair[0].means[pair[0].index(pair[1].best)])
        yield recommendation(best, [pair for pair in of_loss if pair is not best], known)


def recommendation(pair: Pair, others: Iterable[Pair], known: Known) -> Recommendation:
    """Recommend the best aggregation of one ensemble, held against others that were run on the same datasets."""
    block, answer = pair
    # Where a classifier predicts the same by itself, nothing need be put around it.
    by_itself = block.same.get(OWN) == answer.best
    aggregation, pool = (OWN, "mean") if by_itself else aggregation_and_pool(answer.best)
    decision = (answer.measure.loss, aggregation, pool, known.seed)
    setting = known.settings.get(block.ensemble)
    percent = float(block.means[block.index(answer.best)])
    rivals = known.scored.rivals(block, answer.best, [(other, its.best) for other, its in others])
    where = block.datasets[0] if len(block.datasets) == 1 else ""
    made = Recommendation(
        answer.measure,
        answer.ensemble,
        aggregation,
        pool,
        percent,
        answer.better_than,
        answer.undecided,
        answer.p_value,
        answer.test,
        answer.text,
        rivals=rivals,
        rivals_text=tested_against(rivals, len(block.datasets)),
        plain=plainly(
            answer.measure, percent, rivals, where=where, few=_few(block), is_vote=is_vote(block, answer.best)
        ),
    )
    if setting is None:
        return made
    code, imports = (
        setting.code(answer.ensemble, *decision),
        [*setting.imported(aggregation), *_imports_of(answer.measure.loss)],
    )
    command = setting.command(known.source, *decision)
    python = _lines(code, imports, known.loader, known.columns)
    return replace(made, code=code, imports="\n".join(imports), command=command, python=python)


def _few(block: Block) -> str:
    """Say what there is too little of for a test: five datasets, or folds of one, tell hardly anything apart."""
    folds = min(len(folds) for folds in block.folds.values())
    if len(block.datasets) > 1:
        return f"{len(block.datasets)} datasets" if len(block.datasets) < 6 else ""
    return "" if folds > 4 else "one fold" if folds == 1 else f"{folds} folds"


def _lines(code: str, imports: Sequence[str], loader: str, columns: Mapping[str, Any] | None = None) -> str:
    """Write four lines that read the data, fit and predict; classes of others need a line more to import.

    Examples
    --------
    >>> print(_lines("ECCClassifier()", ["from comitia import ECCClassifier"], 'datasets.load_dataset("emotions")'))
    from comitia import ECCClassifier, datasets
    data = datasets.load_dataset("emotions")
    classifier = ECCClassifier().fit(data.X, data.Y)
    classifier.predict(data.X)
    >>> print(_lines("ECCClassifier()", ["from comitia import ECCClassifier"], ""))
    from comitia import ECCClassifier
    classifier = ECCClassifier()
    classifier.fit(X, Y)
    classifier.predict(X)
    """
    if not loader:
        said = [f'X.attrs["columns"] = {dict(columns)!r}  # from polars: X = X.to_pandas() first'] if columns else []
        return "\n".join([*imports, *said, f"classifier = {code}", "classifier.fit(X, Y)", "classifier.predict(X)"])
    ours = [line for line in imports if line.startswith("from comitia import ")] or ["from comitia import"]
    others = [line for line in imports if line not in ours]
    names = ", ".join([*(line.removeprefix("from comitia import").strip() for line in ours), "datasets"])
    return "\n".join(
        [
            *others,
            f"from comitia import {names.removeprefix(', ')}",
            f"data = {loader}",
            f"classifier = {code}.fit(data.X, data.Y)",
            "classifier.predict(data.X)",
        ]
    )


def abbreviations(found: Iterable[Recommendation]) -> dict[str, str]:
    """Say what the abbreviations in recommendations mean, each once."""
    return {name: brief for one in found for name, brief in one.abbreviations.items()}


def _imports_of(loss: str) -> list[str]:
    statement = _titles.OWN_LOSSES[loss].imports if loss in _titles.OWN_LOSSES else ""
    return [statement] * bool(statement)


def _call(name: str, arguments: Mapping[str, str], first: str = "") -> str:
    parts = [first] * bool(first) + [f"{key}={value}" for key, value in arguments.items()]
    return f"{name}({', '.join(parts)})"


def _quoted(text: str) -> str:
    """Write text as Python source, in double quotes where that needs no escaping."""
    return f'"{text}"' if text.isprintable() and not set('"\\') & set(text) else repr(text)
