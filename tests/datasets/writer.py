"""Random ARFF files of which is known what they say, written in every way in which one may write them."""

from __future__ import annotations

import random
from dataclasses import dataclass

_ALPHABET = ["a", "b", "Z", "7", "-", "_", ".", " ", "'", '"', "\\", "%", ",", "{", "}", "?", "@", "\t", "é", "ß"]


@dataclass(frozen=True)
class Written:
    text: bytes
    label_names: list[str]
    names: list[str]
    rows: list[list[float | str | None]]
    """As the attributes stand in the file: floats, nominal values as text, None where missing."""
    weights: list[float]


_Declared = list[str] | str
"""The values of a nominal attribute, or the name of another type."""


def write_arff(rng: random.Random) -> Written:
    is_sparse = rng.random() < 0.4
    encoding = rng.choice(["utf-8", "latin-1"])
    m = rng.randint(2, 7)
    names = _different(rng, m)
    declared: list[_Declared] = []
    is_label = [rng.random() < 0.4 for _ in range(m)]
    is_label[rng.randrange(m)] = True
    if all(is_label):
        is_label[rng.randrange(m)] = False
    for j in range(m):
        numeric = rng.choice(["numeric", "REAL", "Integer"])
        if is_label[j] or rng.random() < 0.3:
            declared.append(rng.choice([["0", "1"], ["1", "0"], ["0"], ["1"], numeric, numeric]))
        else:
            declared.append(rng.choice([numeric, numeric, numeric, "string", _different(rng, rng.randint(1, 4))]))
    rows = [[_value(rng, declared[j], is_label[j]) for j in range(m)] for _ in range(rng.randint(1, 12))]
    weights = [rng.choice([1.0, 1.0, 0.5, 2.25]) for _ in rows]
    lines = [f"{_case(rng, '@relation')} {_quoted(rng, 'a relation: x')}"]
    for name, values in zip(names, declared, strict=True):
        kind = values if isinstance(values, str) else _nominal(rng, values)
        lines.append(f"{_case(rng, '@attribute')}{_gap(rng)}{_quoted(rng, name)}{_gap(rng)}{kind}{_comment(rng)}")
    lines.append(_case(rng, "@data") + _comment(rng))
    for row, weight in zip(rows, weights, strict=True):
        line = _sparse(rng, row, declared) if is_sparse else _dense(rng, row)
        if weight != 1.0:
            line += rng.choice([",", " ", ", "]) + f"{{{weight}}}"
        lines.append(rng.choice(["", "", " ", "\t"]) + line + _comment(rng))
    scattered: list[str] = []
    for line in lines:
        while rng.random() < 0.15:
            scattered.append(rng.choice(["", "  ", "\t", "% a comment, 'with' {things}", " % @data"]))
        scattered.append(line)
    end = rng.choice(["\n", "\r\n", "\r"])
    text = end.join(scattered) + rng.choice(["", end, end + end])
    return Written(
        text.encode(encoding), [n for n, label in zip(names, is_label, strict=True) if label], names, rows, weights
    )


def _different(rng: random.Random, n: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < n:
        word = "".join(rng.choices(_ALPHABET, k=rng.randint(1, 6)))
        if word.strip() and word != "?":
            found[word] = None
    return list(found)


def _is_binary(declared: _Declared) -> bool:
    return not isinstance(declared, str) and {"0", "1"}.issuperset(declared)


def _value(rng: random.Random, declared: _Declared, is_label: bool) -> float | str | None:
    if not is_label and rng.random() < 0.1:
        return None
    if _is_binary(declared):
        return float(rng.choice(list(declared)))
    if is_label:
        return float(rng.random() < 0.5)
    if declared == "string":
        return "".join(rng.choices(_ALPHABET, k=rng.randint(0, 6)))
    if isinstance(declared, str):
        return rng.choice([0.0, 1.0, rng.gauss(0, 1), round(rng.gauss(0, 9), 3), rng.randint(-99, 99) * 1e20, 1e-30])
    return rng.choice(declared)


def _case(rng: random.Random, word: str) -> str:
    return rng.choice([word, word.upper(), word.title()])


def _gap(rng: random.Random) -> str:
    return rng.choice([" ", "\t", "  ", " \t "])


def _comment(rng: random.Random) -> str:
    return rng.choice(["", "", "", " ", " % it's {so}"])


def _quoted(rng: random.Random, word: str) -> str:
    if word.isalnum() and rng.random() < 0.7:
        return word
    quote = rng.choice("'\"")
    escaped = "".join(
        f"\\{c}" if c in (quote, "\\") else ("\\t" if c == "\t" and rng.random() < 0.5 else c) for c in word
    )
    return quote + escaped + quote


def _nominal(rng: random.Random, values: list[str]) -> str:
    gap = rng.choice(["", " ", "\t"])
    return "{" + gap + f"{rng.choice(['', ' '])},{gap}".join(_quoted(rng, value) for value in values) + gap + "}"


def _written(rng: random.Random, value: float | str | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, float):
        return str(int(value)) if value in (0.0, 1.0) else repr(value)
    return _quoted(rng, value)


def _dense(rng: random.Random, row: list[float | str | None]) -> str:
    separator = rng.choice([",", ", ", " ,", "\t", ",\t"])
    return separator.join(_written(rng, value) for value in row)


def _sparse(rng: random.Random, row: list[float | str | None], declared: list[_Declared]) -> str:
    entries = []
    for j, (value, values) in enumerate(zip(row, declared, strict=True)):
        if _is_binary(values):
            first: float | str | None = float(values[0])
        else:
            first = None if values == "string" else 0.0 if isinstance(values, str) else values[0]
        if value != first or values == "string" or rng.random() < 0.2:
            entries.append(f"{j}{_gap(rng)}{_written(rng, value)}")
    rng.shuffle(entries)
    gap = rng.choice(["", " "])
    return "{" + gap + f",{gap}".join(entries) + gap + "}"
