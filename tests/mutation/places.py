"""The places where a fault can be put, and the faults that cosmic-ray's operators know for each."""

from __future__ import annotations

import ast
import contextlib
import random
import re
import warnings
from collections import defaultdict
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
COMPILES = re.compile(r"@(njit|compiled|inlined)\b")
"""How a compiled loop is written."""


class Mutant(NamedTuple):
    """One mutation at one place."""

    path: str
    operator: str
    occurrence: int
    line: int

    def code(self) -> str:
        """The file with the fault in it."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        return mutate_code(
            (ROOT / self.path).read_text(encoding="utf-8"), get_operator(self.operator)(), self.occurrence
        )

    def is_python(self) -> bool:
        """Whether the file can still be compiled."""
        with warnings.catch_warnings(), contextlib.suppress(SyntaxError):
            warnings.simplefilter("ignore")
            compile(self.code(), self.path, "exec")
            return True
        return False


def drawn(package: str, sample: int, seed: int) -> list[Mutant]:
    """Draw places of a package, and a mutation at each; a larger sample begins with a smaller one.

    What is no Python any more is no fault that could be made, and is left out: operators take the star of a signature
    for a product.
    """
    rng = random.Random(f"{seed}/{package}")
    places = list(mutations(package).values())
    rng.shuffle(places)
    mutants = (random.Random(f"{seed}/{place[0]}").choice(place) for place in places)
    return list(islice((mutant for mutant in mutants if mutant.is_python()), sample))


def mutations(package: str) -> dict[tuple[Any, ...], list[Mutant]]:
    """Every mutation of a package, by its place."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    operators = {name: get_operator(name) for name in operator_names()}
    found: dict[tuple[Any, ...], list[Mutant]] = defaultdict(list)
    for path in sorted((ROOT / "src/comitia" / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        nodes, idle = list(ast_nodes(get_ast(text))), _idle(text)
        for name, operator in operators.items():
            if operator.arguments():
                continue
            asked = operator()
            places = (place for node in nodes for place in asked.mutation_positions(node))
            for occurrence, (start, end) in enumerate(places):
                if not any(a <= start and end <= b for a, b in idle):
                    mutant = Mutant(path.relative_to(ROOT).as_posix(), name, occurrence, start[0])
                    found[mutant.path, start, end].append(mutant)
    return found


def _idle(text: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where a mutation cannot be noticed: annotations, which no module evaluates, their imports, and ``@njit``."""
    nodes = list(ast.walk(ast.parse(text)))
    written = [getattr(node, name, None) for node in nodes for name in ("annotation", "returns")]
    written += [node.test for node in nodes if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    compiles = [
        part
        for node in nodes
        for part in getattr(node, "decorator_list", [])
        if COMPILES.match(f"@{ast.unparse(part)}")
    ]
    return [
        *(((part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)) for part in written if part),
        *(((part.lineno, 0), (part.end_lineno + 1, 0)) for part in compiles),
    ]
