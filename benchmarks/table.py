"""A budget, and what was measured: the rows of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measure import Cost, Ratio


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One line. `value` meets the budget when it is at most `limit`."""

    key: str  # stable, for comparing runs
    what: str
    limit: float
    unit: str  # what `value` counts: "× bare", "MB", "tokens"
    value: float
    absolute: str
    noisy: bool = False  # medians and minima disagree: run again on a quieter machine

    @property
    def met(self) -> bool:
        """Within the budget."""
        return self.value <= self.limit


def compared(key: str, what: str, limit: float, unit: str, found: Ratio, absolute: str) -> Row:
    """A row whose value is a ratio."""
    return Row(
        key=key,
        what=what,
        limit=limit,
        unit=unit,
        value=found.of_medians,
        absolute=absolute,
        noisy=found.noisy,
    )


def spent(cost: Cost) -> str:
    """CPU time of a cost, as people read it."""
    return seconds(cost.cpu)


def seconds(value: float) -> str:
    """Milliseconds below ten seconds."""
    return f"{1000 * value:.0f} ms" if value < 10 else f"{value:.1f} s"


def number(value: float) -> str:
    """Three significant digits, no exponent."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def rendered(rows: Sequence[Row]) -> str:
    """The table of budgets, in Markdown."""
    head = ["what", "budget", "measured", "absolute", "met"]
    cells = [
        [
            row.what,
            f"≤ {row.limit:g} {row.unit}",
            number(row.value) + (" (noisy)" if row.noisy else ""),
            row.absolute,
            "yes" if row.met else "**no**",
        ]
        for row in rows
    ]
    return aligned(head, cells)


def aligned(head: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    """A Markdown table that reads well on a terminal too."""
    widths = [max(len(line[column]) for line in [head, *cells]) for column in range(len(head))]

    def line(words: Sequence[str]) -> str:
        return f"| {' | '.join(word.ljust(width) for word, width in zip(words, widths, strict=True))} |"

    rule = f"|{'|'.join('-' * (width + 2) for width in widths)}|"
    return "\n".join([line(head), rule, *map(line, cells), ""])
