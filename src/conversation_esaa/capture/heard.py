"""When each agent's hooks last called: `run/heard.json`, a cache that whoever drains the spool keeps.

It decides nothing. People are told from it whether hooks that were set up do call.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.capture.spool import Hook
    from conversation_esaa.layout import Layout

PROOF = "Proof"
"""The event that a made-up call names, with which `doctor` tries the way from a hook to the log."""

MOST_AGENTS = 100  # a spool can hold any name


class Heard(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One agent's last call."""

    event: str = ""
    at: str = ""  # RFC 3339 UTC, milliseconds
    proofs: int = 0  # made-up calls that came through


def heard(layout: Layout) -> dict[str, Heard]:
    """By agent. Empty when nothing is known; raises nothing."""
    try:
        return msgspec.json.decode(layout.heard.read_bytes(), type=dict[str, Heard])
    except (OSError, msgspec.DecodeError, ValueError, RecursionError):
        return {}


def note(layout: Layout, hooks: Iterable[Hook]) -> None:
    """Take down that these calls came. What cannot be written is not: it is only told, and nothing needs it."""
    known = heard(layout)
    before = msgspec.json.encode(known)
    for hook in hooks:
        if not hook.agent or (hook.agent not in known and len(known) >= MOST_AGENTS):
            continue
        told = known.setdefault(hook.agent, Heard())
        if hook.event == PROOF:
            told.proofs += 1
        elif hook.at >= told.at:
            told.event, told.at = hook.event, hook.at
    if (after := msgspec.json.encode(known)) != before:
        with suppress(OSError):
            replace_file(layout.heard, after + b"\n")
