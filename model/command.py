"""What the command lines of this folder share: one line out, one line of error, an exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable


class Failure(Exception):
    """The step cannot give the promised result; the message says why."""


def run(action: Callable[[], str]) -> int:
    """Runs a step, prints what it says, and returns the exit status."""
    try:
        print(action())
    except ModuleNotFoundError as error:
        print(f"error: Python package {error.name} is missing", file=sys.stderr)
        print(
            "hint: run model/fetch.sh DIR (with --reference for reference.py and check.py) "
            "and set PYTHONPATH=DIR/site",
            file=sys.stderr,
        )
        return 1
    except (Failure, OSError, ValueError, ArithmeticError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
