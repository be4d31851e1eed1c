"""Goose's database, with the tables of its source, and the files of before. All content is made up."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import goose
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.sqlite import database
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "20260102_1"
BEGAN_S = 1_767_323_100  # 2026-01-02T03:05:00Z
SESSIONS = """
CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, name TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '', session_type TEXT NOT NULL DEFAULT 'user', working_dir TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
    extension_data TEXT DEFAULT '{}', model_config_json TEXT);
"""
MESSAGES = """
CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
    role TEXT NOT NULL, content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL,
    timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP, tokens INTEGER, metadata_json TEXT);
CREATE INDEX IF NOT EXISTS idx_messages_session ON messages (session_id);
"""


class Session:
    """One session: its messages, two in each second."""

    def __init__(self, name: str = TEA, *, folder: str = "/home/dev/tea", kind: str = "user") -> None:
        self.name, self.folder, self.kind = name, folder, kind
        self.messages: list[dict[str, Any]] = []

    def message(self, role: str, *content: dict[str, Any], **fields: Any) -> Session:
        """A message of any kind."""
        created = BEGAN_S + len(self.messages) // 2
        self.messages.append({"role": role, "created": created, "content": list(content), **fields})
        return self

    def typed(self, text: str, **fields: Any) -> Session:
        """A person's prompt."""
        return self.message("user", {"type": "text", "text": text}, **fields)

    def answered(self, text: str, **fields: Any) -> Session:
        """An answer, behind its reasoning."""
        thought = {"type": "thinking", "thinking": "CANARY thinking", "signature": ""}
        return self.message("assistant", thought, {"type": "text", "text": text}, **fields)

    def tool(self) -> Session:
        """A tool's call and its result."""
        self.message("assistant", {"type": "toolRequest", "id": "c", "toolCall": {"value": "CANARY"}})
        return self.message("user", {"type": "toolResponse", "id": "c", "toolResult": {"value": "CANARY"}})

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the module reads of it."""
        return [{"session": {"id": self.name, "created_at": "2026-01-02 03:05:00"}}, *self.messages]

    def save(self, home: Path) -> Session:
        """The whole conversation, put in anew."""
        store = home / "sessions" / "sessions.db"
        store.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=wal")
            connection.executescript(SESSIONS + MESSAGES)
            row = (
                self.name,
                "CANARY name",
                self.kind,
                self.folder,
                "2026-01-02 03:05:00",
                '{"model_name":"demo"}',
            )
            connection.execute(
                "INSERT OR REPLACE INTO sessions (id, name, session_type, working_dir, created_at,"
                " model_config_json) VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
            connection.execute("DELETE FROM messages WHERE session_id = ?", (self.name,))
            for message in self.messages:
                self.add(connection, message)
        return self

    def add(self, connection: sqlite3.Connection, message: dict[str, Any]) -> None:
        """A row behind the others."""
        visible = message.get("metadata", {"userVisible": True, "agentVisible": True})
        connection.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json)"
            " VALUES (?, ?, ?, ?, ?)",
            (
                self.name,
                message["role"],
                json.dumps(message["content"]),
                message["created"],
                json.dumps(visible),
            ),
        )

    def save_as_file(self, home: Path) -> Path:
        """As versions before the database kept it."""
        path = home / "sessions" / f"{self.name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        header = {"working_dir": self.folder, "description": "CANARY", "message_count": len(self.messages)}
        path.write_text("".join(f"{json.dumps(line)}\n" for line in [header, *self.messages]))
        return path


def opened(name: str = TEA, cwd: str = "/home/dev/tea") -> goose.State:
    """The state before the first record."""
    return goose.open_session(SessionFile(path=Path("nowhere"), session_id=name, cwd=cwd))


def read(file: SessionFile, state: goose.State | None = None) -> list[Turn | SessionMark]:
    """What a session gives that `state` has not read."""
    state = state or goose.open_session(file)
    with database(file.path) as source:
        return list(goose.read(goose.rows(source, file, state), state))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
