"""Small words of the command line: a value on a line of its own, a number with its noun."""

from __future__ import annotations

from conversation_esaa.text import terminal


def plain(value: str) -> str:
    """`value` on one line of a terminal, every control visible: paths and names may hold anything."""
    return terminal(value).replace("\n", "␊").replace("\t", "␉")


def many(count: int, noun: str) -> str:
    """`1 session`, `1,204 sessions`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
