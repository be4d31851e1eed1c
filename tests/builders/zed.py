"""Zed's database of threads, with the table of its source. All content is made up."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import zed
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.sqlite import database
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from conversation_esaa.turn import SessionMark

TEA = "abababab-0000-4000-8000-000000000001"
TABLE = (
    "CREATE TABLE IF NOT EXISTS threads (id TEXT PRIMARY KEY, summary TEXT NOT NULL, updated_at TEXT NOT NULL,"
    " data_type TEXT NOT NULL, data BLOB NOT NULL, parent_id TEXT, folder_paths TEXT, folder_paths_order TEXT,"
    " created_at TEXT)"
)


class Thread:
    """One thread, as the document that it is."""

    def __init__(
        self, name: str = TEA, *, folders: str | None = "/home/dev/tea", parent: str | None = None
    ) -> None:
        self.name, self.folders, self.parent = name, folders, parent
        self.updated_at = "2026-01-02T03:05:00.123456789+00:00"
        self.messages: list[Any] = []

    def typed(self, text: str, *more: dict[str, Any]) -> Thread:
        """A person's prompt."""
        name = f"cdcdcdcd-0000-4000-8000-{len(self.messages):012}"
        self.messages.append({"User": {"id": name, "content": [{"Text": text}, *more]}})
        return self

    def answered(self, *texts: str) -> Thread:
        """An answer, behind its reasoning."""
        thought = {"Thinking": {"text": "CANARY thinking", "signature": None}}
        content = [thought, *({"Text": text} for text in texts)]
        self.messages.append({"Agent": {"content": content, "tool_results": {}}})
        return self

    def tool(self) -> Thread:
        """A tool's call and its result."""
        used = {"ToolUse": {"id": "t", "name": "terminal", "raw_input": "CANARY"}}
        self.messages.append({"Agent": {"content": [used], "tool_results": {"t": {"content": "CANARY"}}}})
        return self

    @property
    def document(self) -> dict[str, Any]:
        """What is stored."""
        return {
            "title": "CANARY title",
            "messages": self.messages,
            "updated_at": self.updated_at,
            "detailed_summary": "CANARY summary",
            "draft_prompt": [{"type": "text", "text": "CANARY draft"}],
            "model": {"provider": "demo", "model": "demo-model"},
            "version": "0.3.0",
        }

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the module reads of it."""
        return [{"thread": self.document}, *({"message": message} for message in self.messages)]

    def save(self, home: Path, *, compress: Callable[[bytes], bytes] | None = None) -> Thread:
        """The row, written anew."""
        store = home / "threads" / "threads.db"
        store.parent.mkdir(parents=True, exist_ok=True)
        data, kind = json.dumps(self.document).encode(), "json"
        if compress:
            data, kind = compress(data), "zstd"
        with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as connection:
            connection.execute(TABLE)
            connection.execute(
                "INSERT OR REPLACE INTO threads VALUES (?, 'CANARY', ?, ?, ?, ?, ?, '0', NULL)",
                (self.name, self.updated_at, kind, data, self.parent, self.folders),
            )
        return self


def opened(name: str = TEA, cwd: str = "/home/dev/tea") -> zed.State:
    """The state before the first record."""
    return zed.open_session(SessionFile(path=Path("nowhere"), session_id=name, cwd=cwd))


def read(file: SessionFile, state: zed.State | None = None) -> list[Turn | SessionMark]:
    """What a thread gives that `state` has not read."""
    state = state or zed.open_session(file)
    with database(file.path) as source:
        return list(zed.read(zed.rows(source, file, state), state))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
