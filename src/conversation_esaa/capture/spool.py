"""The spool: what hooks left in `run/spool/`, a file a call, oldest first by name.

`hooks/call.py` writes the files, each in one step. Here they are read, and removed once what they stand for is
in the log. A hook is a trigger: two readers at once do the same work twice and nothing else, so nobody locks.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.ids import AgentId, agent_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from conversation_esaa.layout import Layout

AT_ONCE = 200
AT_ONCE_BYTES = 16_000_000
ABANDONED_NS = 60_000_000_000  # a file that is begun and not there after a minute has lost its writer


class Hook(msgspec.Struct, frozen=True, kw_only=True):
    """One call. Of a file that cannot be read we know that somebody called, and nothing else."""

    agent: AgentId = AgentId("")
    event: str = ""  # in the agent's own word
    at: str = ""  # RFC 3339 UTC, milliseconds
    payload: dict[str, Any] = {}  # what `hooks/call.py` keeps of it, and the directory as `cwd`


def waiting(layout: Layout, *, besides: Collection[Path] = ()) -> list[Path]:
    """The oldest calls that nobody has taken in yet, in order, as many as one may read at once.

    besides   those that are known. What a hook that was killed left half written is removed.
    """
    try:
        names = sorted(path.name for path in layout.spool.iterdir())
    except OSError:
        return []
    complete = [name for name in names if not name.startswith(".")]
    if complete:
        newest = _written_ns(complete[-1])
        for name in names:
            if name.startswith(".") and newest - _written_ns(name[1:]) > ABANDONED_NS:
                done([layout.spool / name])
    calls = [path for name in complete if (path := layout.spool / name) not in besides]
    return list(_portion(calls[:AT_ONCE]))


def read(path: Path) -> Hook:
    """The call in a file of the spool. Raises nothing: whatever the file holds, somebody called."""
    try:
        content = path.read_bytes()
        try:
            found = msgspec.json.decode(content)
        except msgspec.DecodeError:  # half a character, a number beyond all bounds
            found = json.loads(content.decode("utf-8", "replace"), strict=False)
        payload = found["payload"]
        return Hook(
            agent=agent_id(found["agent"]),
            event=found["event"],
            at=found["at"],
            payload=payload if isinstance(payload, dict) else {},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return Hook()


def done(paths: Iterable[Path]) -> None:
    """Take files out of the spool; what is gone already is fine, what cannot go comes back later."""
    for path in paths:
        with suppress(OSError):
            path.unlink()


def _portion(paths: Iterable[Path]) -> Iterator[Path]:
    """At least one."""
    room = AT_ONCE_BYTES
    for path in paths:
        if room <= 0:
            return
        with suppress(OSError):
            room -= path.stat().st_size
        yield path


def _written_ns(name: str) -> int:
    digits = name.partition("-")[0]
    return int(digits) if digits.isdecimal() else 0
