"""What options take, checked while they are parsed."""

from __future__ import annotations

import math


def positive(given: str) -> int:
    """A whole number from 1."""
    if not given.isdecimal() or int(given) < 1:
        raise _refused(f"takes a whole number from 1, not {given[:40]!r}")
    return int(given)


def not_negative(given: str) -> int:
    """A whole number from 0."""
    if not given.isdecimal():
        raise _refused(f"takes a whole number from 0, not {given[:40]!r}")
    return int(given)


def seconds(given: str) -> float:
    """Seconds from 0, fractions allowed."""
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise _refused(f"takes seconds from 0, not {given[:40]!r}")
    return value


def _refused(why: str) -> Exception:
    from argparse import ArgumentTypeError  # who parses has it already

    return ArgumentTypeError(why)
