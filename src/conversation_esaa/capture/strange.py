"""Whether a session looks as if its agent had changed its format: read, and hardly understood. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conversation_esaa.agents.registry import ReaderState

FEW = 4  # records of types that are not known, which may be there for many reasons
MANY = 40  # records without a word that anybody said; sessions of bookkeeping alone are shorter


def strangeness(state: ReaderState, *, records: int) -> str:
    """In plain words what is strange about a session; "" when nothing is.

    records   lines, or whatever its storage counts, that were read so far.

    A new kind of bookkeeping shows as some unknown records among many. That most of them are unknown, or that
    a long session has nothing in it that was said, is what a changed format looks like.
    """
    unknown = sum(state.unknown.values())
    version = f" (written by version {state.agent_version[:40]})" if state.agent_version else ""
    if unknown >= FEW and 2 * unknown > max(records, state.visible):
        return f"{unknown} records of types that this version does not know{version}"
    if records >= MANY and not state.visible and not state.sidechain:
        return f"{records} records, and nothing in them that was said{version}"
    return ""
