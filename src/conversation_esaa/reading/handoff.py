"""The handoff on demand: the read model's text, for a budget and a reader of the caller's choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.projections import handoff as projection
from conversation_esaa.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from conversation_esaa.events import Head
    from conversation_esaa.ids import AgentId
    from conversation_esaa.projections.catalogue import Fold

DEFAULT_BUDGET = projection.BUDGET


def handoff(
    folded: Fold,
    head: Head,
    *,
    budget: int,
    resume: Callable[[AgentId, str], str],
    reader: AgentId | None,
) -> tuple[str, int]:
    """The text, and how many tokens it is estimated to take."""
    text = folded.told(
        lambda brief: projection.render(brief, head, budget=budget, resume=resume, reader=reader)
    )
    return text, tokens(text)
