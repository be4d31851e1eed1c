"""OpenCode: all sessions in one database, and before that in a tree of small files.

How they are read: `opencode_store`. Format and how we know it: docs/reference/agents/opencode.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import opencode_store as store
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from conversation_esaa.agents.registry import SessionFile
    from conversation_esaa.turn import SessionMark, Turn

NAME = AgentId("opencode")
TITLE = "OpenCode"
KNOWN_INVISIBLE = store.KNOWN_INVISIBLE
State = store.State

open_session = store.open_session
rows = store.rows
documents = store.documents


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`opencode` in `$XDG_DATA_HOME`, else in `~/.local/share`, on every system; or the database `$OPENCODE_DB`."""
    data = Path(environ.get("XDG_DATA_HOME") or user_home / ".local" / "share") / "opencode"
    return data / environ.get("OPENCODE_DB", "")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """The sessions that began in a root, below it or above it."""
    return store.session_files(home, roots, program="opencode")


def read(records: Iterable[Any], state: store.State) -> Iterator[Turn | SessionMark]:
    """A turn a message, in the order they were made."""
    return store.read(records, state, NAME)
