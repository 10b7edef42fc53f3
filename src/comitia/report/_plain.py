"""An answer in plain words: how good it is, how much better than what, and whether that could be chance."""

from __future__ import annotations

from collections.abc import Sequence

from comitia._titles import TERMS, Terms
from comitia.report._rivals import Rival
from comitia.report._vocabulary import Measure
from comitia.report._words import capital, listed, p_text


def how_good(measure: Measure, percents: Sequence[float], where: str = "") -> tuple[str, list[str]]:
    """Say how good the first of some values is, and write the others alike.

    Examples
    --------
    >>> how_good(Measure("subset01", "Subset 0/1 loss"), [63.1, 69.2])
    ('of 100 instances, 37 get exactly the right set of labels', ['31'])
    >>> how_good(Measure("hamming", "Hamming loss"), [0.9, 1.2], "medical")[0]
    'of 1,000 yes-or-no answers, one for each label of an instance of medical, 9 are wrong'
    """
    terms = TERMS.get(measure.loss, Terms())
    (first, *others), base = _values(terms, percents, measure)
    things = f"instances of {where}" if where else "instances"
    words = {
        "title": measure.title,
        "base": base,
        "things": things,
        "of_things": f"an {things.replace('instances', 'instance')}",
    }
    return terms.before.format(**words) + first + terms.after, others


def _values(terms: Terms, percents: Sequence[float], measure: Measure) -> tuple[list[str], str]:
    """Write values alike, precise enough to tell apart what differs; also how many things were counted."""
    told = [100 - value if terms.complement else value for value in percents]
    if not terms.counts:
        return [f"{value:.{1 if measure.percent else 2}f}{measure.unit}" for value in told], ""
    apart = len({round(value, 1) for value in told})
    base = 100 if len({round(value) for value in told}) == apart and told[0] >= 10 else 1000
    return [f"{value * base / 100:,.0f}" for value in told], f"{base:,}"


def plainly(
    measure: Measure, percent: float, rivals: Sequence[Rival], *, where: str = "", few: str = "", is_vote: bool = False
) -> str:
    """Say how good a choice is, beside the usual vote, a baseline and other ensembles, and what may be chance.

    ``where`` names the dataset, if it is one; ``few`` what there is too little of to tell much apart.
    """
    good, others = how_good(measure, [percent, *(one.percent for one in rivals)], where)
    written = dict(zip(rivals, others, strict=True))
    beside = [f"{_with(one)} {written[one]}" for one in rivals if one.kind != "ensemble"]
    if is_vote:
        beside.insert(0, "this is the usual vote")
    sentences = ["; ".join([good, *beside])]
    sentences += _chance([one for one in rivals if one.kind != "ensemble"], few)
    if ensembles := [one for one in rivals if one.kind == "ensemble"]:
        sentences += _ensembles(ensembles, written)
    if doubt := _learnt(rivals):
        sentences.append(doubt)
    return " ".join(f"{capital(one)}." for one in sentences)


def learnt(rivals: Sequence[Rival]) -> bool | None:
    """Whether a choice is better than answers that learn nothing, by more than chance; None where none was scored."""
    return next((one.beaten for one in rivals if one.kind == "baseline"), None)


def _with(one: Rival) -> str:
    if one.kind == "vote":
        return "with the usual vote of the same members"
    return f"with {one.title} for every instance, which learns nothing,"


def _chance(rivals: Sequence[Rival], few: str) -> list[str]:
    tested = [one for one in rivals if one.p_value is not None]
    if not tested:
        return [f"{few} says nothing about chance"] if rivals and few else []
    names = {one: "the usual vote" if one.kind == "vote" else "learning nothing" for one in tested}
    beaten = [one for one in tested if one.beaten]
    open_ = [one for one in tested if not one.beaten]
    found = []
    if beaten:
        largest = max(one.p_value or 0.0 for one in beaten)
        than = listed([names[one] for one in beaten])
        found.append(f"it is better than {than} by more than chance explains ({p_text(largest)})")
    if open_:
        because = f"; {few} tell little apart" if few else ""
        least = min(one.p_value or 0.0 for one in open_)
        differences = "the difference" if len(open_) == 1 else "the differences"
        found.append(
            f"{differences} to {listed([names[one] for one in open_])} could be chance ({p_text(least)}{because})"
        )
    return found


def _ensembles(rivals: Sequence[Rival], written: dict[Rival, str]) -> list[str]:
    worse = [f"{one.title} ({written[one]})" for one in rivals if one.beaten]
    alike = [f"{one.title} ({written[one]})" for one in rivals if not one.beaten]
    found = []
    if worse:
        found.append(f"among the ensembles it is better than {listed(worse)} by more than chance explains")
    if alike:
        differences = "the difference" if len(alike) == 1 else "the differences"
        found.append(f"{differences} to {listed(alike)} could be chance: the choice among them is open")
    return found


def _learnt(rivals: Sequence[Rival]) -> str:
    baseline = next((one for one in rivals if one.kind == "baseline"), None)
    if baseline is None or baseline.beaten or baseline.p_value is None:
        return ""
    if baseline.points <= 0:
        return f"nothing was learnt that helps: {baseline.title} for every instance does as well"
    return "whether anything was learnt remains open"
