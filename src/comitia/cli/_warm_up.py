"""``comitia warm-up``: compile once what would be compiled at first use."""

from __future__ import annotations

import time

from comitia._compare import compile_all
from comitia._compiled import seconds_compiling
from comitia._labels import pack_rows
from comitia.cli._screen import messages, print_line
from comitia.report._words import duration


def warm_up() -> None:
    """Compile all loops, and keep them for later processes.

    The first use of an ensemble compiles the loops it needs, for some seconds. In the image of a container, or before
    many workers start, do that once. Loops are kept in the folder that NUMBA_CACHE_DIR names, beside the library, or in
    the user's folder for caches; they are read where they cannot be written, and only by the same kind of processor.

    [bold]Examples[/]

    $ comitia warm-up
    """
    if not hasattr(pack_rows, "stats"):
        print_line("NUMBA_DISABLE_JIT is set: there is nothing to compile")
        return
    started = time.perf_counter()
    with seconds_compiling() as compiling, messages.status("compiling ..."):
        compile_all()
    folder = pack_rows.stats.cache_path
    print_line(
        f"{duration(time.perf_counter() - started, decimals=0)}, {compiling():.0f} s of them compiling; "
        + (f"kept in {folder} and others beside it" if folder else "nothing is kept")
    )
