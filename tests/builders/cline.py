"""Cline's session folders, as 3.0.65 writes them. All content is made up."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import cline
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "1767323045000_ab12c"
BEGIN_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z


class Session:
    """One session; a second passes from message to message."""

    def __init__(self, session_id: str = TEA, cwd: str = "/home/dev/tea") -> None:
        self.session_id, self.cwd = session_id, cwd
        self.messages: list[dict[str, Any]] = []
        self.described: dict[str, Any] = {"ended_at": "2026-01-02T04:00:00.000Z"}

    def message(self, role: str, *content: dict[str, Any], **fields: Any) -> Session:
        """A message with its blocks."""
        at = BEGIN_MS + 1000 * len(self.messages)
        name = f"msg_{len(self.messages)}"
        self.messages.append({"id": name, "role": role, "content": list(content), "ts": at, **fields})
        return self

    def typed(self, text: str, around: str = "{}") -> Session:
        """A prompt in its envelope, and what the program puts around that."""
        wrapped = around.format(f'<user_input mode="act">{text}</user_input>')
        return self.message("user", {"type": "text", "text": wrapped})

    def answered(self, *texts: str, **fields: Any) -> Session:
        """An answer behind its reasoning, with a tool call."""
        blocks = [{"type": "text", "text": text} for text in texts]
        blocks.insert(0, {"type": "thinking", "thinking": "CANARY thinking"})
        call = {"type": "tool_use", "id": "call_1", "name": "run", "input": {"commands": ["CANARY"]}}
        told = {"modelInfo": {"id": "demo-model", "provider": "demo"}, "metrics": {"inputTokens": 1}}
        return self.message("assistant", *blocks, call, **{**told, **fields})

    def tool(self) -> Session:
        """A tool's result, in the user's name."""
        return self.message(
            "user", {"type": "tool_result", "tool_use_id": "call_1", "content": "CANARY output"}
        )

    @property
    def document(self) -> dict[str, Any]:
        """What is written."""
        return {
            "version": 1,
            "updated_at": "2026-01-02T03:04:07.000Z",
            "agent": "lead",
            "sessionId": self.session_id,
            "origin": {"source": "cli", "mode": "user", "sessionId": self.session_id, "version": "3.0.65"},
            "messages": self.messages,
            "system_prompt": "CANARY system",
        }

    def save(self, home: Path) -> Path:
        """The session's folder where Cline would keep it; returns its messages."""
        folder = home / self.session_id
        folder.mkdir(parents=True, exist_ok=True)
        described = {
            "session_id": self.session_id,
            "started_at": "2026-01-02T03:04:04.000Z",
            "cwd": self.cwd,
            "workspace_root": self.cwd,
            "model": "demo-model",
            "prompt": "CANARY",
            "metadata": {"git": {"branch": "main"}, "systemPrompt": "CANARY"},
            **self.described,
        }
        (folder / f"{self.session_id}.json").write_text(json.dumps(described, indent=2), "utf-8")
        path = folder / f"{self.session_id}.messages.json"
        path.write_text(json.dumps(self.document, indent=2), "utf-8")
        return path


def index(home: Path, *sessions: tuple[str, str, int]) -> Path:
    """The index beside the sessions: id, directory, and whether it is a sub-agent's."""
    path = home.parent / "db" / "sessions.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS sessions"
            "(session_id TEXT, cwd TEXT, workspace_root TEXT, parent_session_id TEXT, is_subagent INTEGER)"
        )
        connection.executemany(
            "INSERT INTO sessions VALUES (?1, ?2, ?2, NULL, ?3)",
            [(name, cwd, child) for name, cwd, child in sessions],
        )
    return path


def opened(session_id: str = TEA, cwd: str = "/home/dev/tea") -> cline.State:
    """The state before the first record, without a description."""
    return cline.open_session(SessionFile(path=Path("nowhere", "x"), session_id=session_id, cwd=cwd))


def read(document: object, state: cline.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives."""
    return list(cline.read([document], state or opened()))


def said(items: Iterable[Turn | SessionMark]) -> list[tuple[str, str]]:
    """Who said what."""
    return [(str(item.actor), item.text) for item in items if isinstance(item, Turn)]
