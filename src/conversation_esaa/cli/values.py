"""What options take, checked while they are parsed."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError


def positive(given: str) -> int:
    """A whole number from 1."""
    if not given.isdecimal() or int(given) < 1:
        raise ArgumentTypeError(f"takes a whole number from 1, not {given[:40]!r}")
    return int(given)


def not_negative(given: str) -> int:
    """A whole number from 0."""
    if not given.isdecimal():
        raise ArgumentTypeError(f"takes a whole number from 0, not {given[:40]!r}")
    return int(given)


def seconds(given: str) -> float:
    """Seconds from 0, fractions allowed."""
    try:
        value = float(given)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ArgumentTypeError(f"takes seconds from 0, not {given[:40]!r}")
    return value
