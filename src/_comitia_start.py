"""What the command ``comitia`` starts with: outside the package, to answer an interrupt while that is imported."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType


def main() -> None:
    """Import the command line and run it."""
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_ours:
        signal.signal(signal.SIGINT, _stop)
    from comitia.cli import main as command

    try:
        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:
        sys.exit("Stopped.")


def _stop(_number: int, _frame: FrameType | None) -> None:
    """End at once: nothing has begun."""
    os.write(2, b"\nStopped.\n")
    os._exit(1)
