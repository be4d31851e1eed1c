"""Crush's databases, with the tables of its migrations. All content is made up."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import crush
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.sqlite import database
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "dddddddd-0000-4000-8000-000000000001"
BEGAN_S = 1_767_323_100  # 2026-01-02T03:05:00Z
FIRST = """
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,
    message_count INTEGER NOT NULL DEFAULT 0, prompt_tokens INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,
    parts BLOB NOT NULL DEFAULT '[]', model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
    finished_at INTEGER);
CREATE INDEX IF NOT EXISTS idx_messages_session_id ON messages (session_id);
"""
LATER = """
ALTER TABLE sessions ADD COLUMN summary_message_id TEXT;
ALTER TABLE messages ADD COLUMN provider TEXT;
ALTER TABLE messages ADD COLUMN is_summary_message INTEGER DEFAULT 0 NOT NULL;
"""


class Session:
    """One session: its messages, two in each second."""

    def __init__(self, name: str = TEA, *, parent: str | None = None) -> None:
        self.name, self.parent = name, parent
        self.messages: list[dict[str, Any]] = []

    def message(self, role: str, *parts: tuple[str, dict[str, Any]], **fields: Any) -> Session:
        """A message of any kind."""
        index = len(self.messages)
        self.messages.append(
            {
                "id": f"eeeeeeee-{self.name[-4:]}-4000-8000-{index:012}",
                "session_id": self.name,
                "role": role,
                "parts": [{"type": kind, "data": data} for kind, data in parts],
                "model": "demo-model" if role == "assistant" else None,
                "created_at": BEGAN_S + index // 2,
                **fields,
            }
        )
        return self

    def typed(self, text: str) -> Session:
        """A person's prompt."""
        attached = {"Path": "CANARY.txt", "MIMEType": "text/plain", "Data": "CANARY"}
        return self.message("user", ("text", {"text": text}), ("binary", attached))

    def answered(self, text: str, *, done: bool = True) -> Session:
        """An answer, behind its reasoning; it may still stream."""
        parts = [("reasoning", {"thinking": "CANARY thinking"}), ("text", {"text": text})]
        end = [("finish", {"reason": "end_turn", "message": "CANARY", "time": BEGAN_S})] if done else []
        return self.message("assistant", *parts, *end)

    def tool(self) -> Session:
        """A tool's call and its result."""
        called = ("tool_call", {"id": "c", "name": "bash", "input": "CANARY", "finished": True})
        self.message("assistant", called, ("finish", {"reason": "tool_use"}))
        return self.message("tool", ("tool_result", {"tool_call_id": "c", "content": "CANARY"}))

    def compacted(self) -> Session:
        """A summary for the model."""
        said = ("text", {"text": "CANARY summary"})
        return self.message("assistant", said, ("finish", {"reason": "end_turn"}), is_summary_message=1)

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the module reads of it."""
        return [
            {"session": {"id": self.name, "created_at": BEGAN_S}},
            *({"message": m} for m in self.messages),
        ]

    def save(self, store: Path, *, migrated: bool = True) -> Session:
        """All rows, as they are now; one that is there is updated, as Crush does it."""
        store.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=wal")
            connection.executescript(FIRST)
            if migrated:
                with contextlib.suppress(sqlite3.OperationalError):
                    connection.executescript(LATER)
            row = (self.name, self.parent, "CANARY title", BEGAN_S, BEGAN_S)
            connection.execute(
                "INSERT OR IGNORE INTO sessions (id, parent_session_id, title, created_at, updated_at)"
                " VALUES (?, ?, ?, ?, ?)",
                row,
            )
            for message in self.messages:
                stored = {**message, "parts": json.dumps(message["parts"]), "updated_at": BEGAN_S}
                columns, marks = ", ".join(stored), ", ".join("?" * len(stored))
                connection.execute(
                    f"INSERT INTO messages ({columns}) VALUES ({marks})"
                    " ON CONFLICT (id) DO UPDATE SET parts = excluded.parts",
                    tuple(stored.values()),
                )
        return self


def registered(home: Path, *projects: tuple[str, str]) -> None:
    """Crush's list of projects: directory, directory of data."""
    home.mkdir(parents=True, exist_ok=True)
    entries = [{"path": path, "data_dir": data} for path, data in projects]
    (home / "projects.json").write_text(json.dumps({"projects": entries}))


def opened(name: str = TEA, cwd: str = "/home/dev/tea") -> crush.State:
    """The state before the first record."""
    return crush.open_session(SessionFile(path=Path("nowhere"), session_id=name, cwd=cwd))


def read(file: SessionFile, state: crush.State | None = None) -> list[Turn | SessionMark]:
    """What a session gives that `state` has not read."""
    state = state or crush.open_session(file)
    with database(file.path) as source:
        return list(crush.read(crush.rows(source, file, state), state))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
