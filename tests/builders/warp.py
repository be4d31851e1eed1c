"""Warp's database, as other readers of it describe it. All content is made up."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import warp
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.sqlite import database
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "efefefef-0000-4000-8000-000000000001"
TABLE = (
    "CREATE TABLE IF NOT EXISTS ai_queries (id INTEGER PRIMARY KEY NOT NULL, exchange_id TEXT NOT NULL,"
    " conversation_id TEXT NOT NULL, start_ts DATETIME NOT NULL, input TEXT NOT NULL, working_directory TEXT,"
    " output_status TEXT NOT NULL, model_id TEXT NOT NULL DEFAULT '')"
)


class Conversation:
    """One conversation's exchanges."""

    def __init__(self, name: str = TEA, *, folder: str | None = "/home/dev/tea", first: int = 1) -> None:
        self.name, self.folder, self.first = name, folder, first
        self.records: list[dict[str, Any]] = []

    def exchange(self, given: Any, **fields: Any) -> Conversation:
        """A row of any kind."""
        number = self.first + len(self.records)
        self.records.append(
            {
                "id": number,
                "exchange_id": f"x-{self.name[-4:]}-{number}",
                "conversation_id": self.name,
                "start_ts": f"2026-01-02 03:05:{len(self.records):02}.123456",
                "input": given,
                "working_directory": self.folder,
                "output_status": '"Completed"',
                "model_id": "demo-model",
                **fields,
            }
        )
        return self

    def typed(self, text: str, **fields: Any) -> Conversation:
        """A person's prompt."""
        return self.exchange([{"Query": {"text": text, "context": ["CANARY context"]}}], **fields)

    def tool(self) -> Conversation:
        """What the program sends when a tool has run."""
        return self.exchange([{"ActionResult": {"result": "CANARY"}}])

    def save(self, home: Path) -> Conversation:
        """Its rows."""
        home.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(home / "warp.sqlite", isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=wal")
            connection.execute(TABLE)
            rows = [(*{**row, "input": json.dumps(row["input"])}.values(),) for row in self.records]
            connection.executemany("INSERT OR REPLACE INTO ai_queries VALUES (?,?,?,?,?,?,?,?)", rows)
        return self


def opened(name: str = TEA) -> warp.State:
    """The state before the first record."""
    return warp.open_session(SessionFile(path=Path("nowhere"), session_id=name))


def read(file: SessionFile, state: warp.State | None = None) -> list[Turn | SessionMark]:
    """What a conversation gives that `state` has not read."""
    state = state or warp.open_session(file)
    with database(file.path) as source:
        return list(warp.read(warp.rows(source, file, state), state))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
