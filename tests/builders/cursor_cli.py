"""The stores of Cursor's terminal program, as other readers of them describe them. All content is made up."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import cursor_cli
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.sqlite import database
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "cccccccc-0000-4000-8000-000000000001"
BEGAN_MS = 1_767_323_100_000  # 2026-01-02T03:05:00Z
CONTEXT = "<user_info>\nCANARY machine\n</user_info>\n<rules>CANARY rules</rules>"


class Chat:
    """One chat: its messages, and the store that they lie in."""

    def __init__(self, name: str = TEA, *, folder: str = "/home/dev/tea", **meta: Any) -> None:
        self.name, self.folder = name, folder
        self.meta = {
            "agentId": name,
            "name": "CANARY title",
            "mode": "default",
            "createdAt": BEGAN_MS,
            **meta,
        }
        self.messages: list[dict[str, Any]] = []
        self.system("CANARY system prompt").message("user", CONTEXT)

    def message(self, role: str, content: Any, **fields: Any) -> Chat:
        """A message of any kind."""
        self.messages.append({"role": role, "content": content, **fields})
        return self

    def system(self, text: str) -> Chat:
        """Instructions."""
        return self.message("system", text)

    def typed(self, text: str, **fields: Any) -> Chat:
        """A person's prompt, in its envelope, with what the program puts around it."""
        wrapped = f"<timestamp>CANARY</timestamp>\n<user_query>\n{text}\n</user_query>\nCANARY"
        return self.message("user", [{"type": "text", "text": wrapped}], **fields)

    def answered(self, *texts: str, **fields: Any) -> Chat:
        """An answer, with the reasoning before it."""
        thought = {"type": "reasoning", "text": "CANARY thinking"}
        said = [{"type": "text", "text": text} for text in texts]
        model = {"cursor": {"modelName": "demo-model"}}
        return self.message("assistant", [thought, *said], providerOptions=model, **fields)

    def tool(self) -> Chat:
        """A tool's call and its result."""
        self.message("assistant", [{"type": "tool-call", "toolName": "Shell", "args": {"c": "CANARY"}}])
        return self.message("tool", [{"type": "tool-result", "result": "CANARY"}])

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the module reads of it."""
        return [
            {"chat": self.meta},
            *({"message": message, "name": _name(_json(message))} for message in self.messages),
        ]

    def path(self, home: Path) -> Path:
        """Where the program would keep it."""
        hashed = hashlib.md5(self.folder.encode(), usedforsecurity=False).hexdigest()
        return home / "chats" / hashed / self.name / "store.db"

    def save(self, home: Path, **side_file: Any) -> Chat:
        """The store, with a new root for the messages as they are now."""
        path = self.path(home)
        path.parent.mkdir(parents=True, exist_ok=True)
        if side_file:
            (path.parent / "meta.json").write_text(json.dumps({"schemaVersion": 1, **side_file}))
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode=wal")
            connection.execute("CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB)")
            connection.execute("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT)")
            blobs = [_json(message) for message in self.messages]
            blobs.append(self.root())
            connection.executemany(
                "INSERT OR IGNORE INTO blobs VALUES (?, ?)", [(_name(blob), blob) for blob in blobs]
            )
            meta = _json({**self.meta, "latestRootBlobId": _name(blobs[-1])})
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?)", (meta.hex(),))
        return self

    def root(self) -> bytes:
        """The node that names the messages in their order."""
        names = [bytes.fromhex(_name(_json(message))) for message in self.messages]
        count = b"\x10\x96\x01"  # field 2, a number
        return b"".join(b"\x0a\x20" + name for name in names) + count


def opened(name: str = TEA, cwd: str = "/home/dev/tea") -> cursor_cli.State:
    """The state before the first record."""
    return cursor_cli.open_session(SessionFile(path=Path("nowhere"), session_id=name, cwd=cwd))


def read(file: SessionFile, state: cursor_cli.State | None = None) -> list[Turn | SessionMark]:
    """What a chat gives that `state` has not read."""
    state = state or cursor_cli.open_session(file)
    with database(file.path) as source:
        return list(cursor_cli.read(cursor_cli.rows(source, file, state), state))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _name(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()
