"""Cursor's databases, as other readers of them describe them. All content is made up."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import cursor
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.sqlite import database
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conversation_esaa.turn import SessionMark

TEA = "aaaaaaaa-0000-4000-8000-000000000001"
BEGAN_MS = 1_767_323_100_000  # 2026-01-02T03:05:00Z
_TABLE = "CREATE TABLE IF NOT EXISTS {} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
_HEADERS = (
    "CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, workspaceId TEXT, createdAt INTEGER,"
    " lastUpdatedAt INTEGER, isArchived INTEGER, isSubagent INTEGER, recency INTEGER, checkpointAt INTEGER,"
    " value TEXT)"
)


def put(path: Path, table: str, key: str, value: Any) -> None:
    """A row, written as the editor writes it: what was there under this key is replaced."""
    with written(path) as connection:
        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, _text(value)))


@contextlib.contextmanager
def written(path: Path) -> Iterator[sqlite3.Connection]:
    """A database of the editor, open for writing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=wal")
        for table in ("ItemTable", "cursorDiskKV"):
            connection.execute(_TABLE.format(table))
        yield connection


class Editor:
    """What the editor keeps for one user."""

    def __init__(self, user: Path) -> None:
        self.user = user
        self.store = user / "globalStorage" / "state.vscdb"

    def window(self, storage: str, **described: str) -> Path:
        """A folder, or a multi-root workspace, that was opened."""
        place = self.user / "workspaceStorage" / storage
        place.mkdir(parents=True, exist_ok=True)
        (place / "workspace.json").write_text(json.dumps(described), "utf-8")
        return place

    def lists(self, storage: str, *chats: str) -> None:
        """The window's own list of chats, as older versions keep it."""
        held = {"allComposers": [{"composerId": chat} for chat in chats]}
        path = self.user / "workspaceStorage" / storage / "state.vscdb"
        put(path, "ItemTable", "composer.composerData", held)

    def header(self, chat: str, *, workspace: str = "", is_subagent: int = 0, **value: Any) -> None:
        """A row of the table of newer versions."""
        with written(self.store) as connection:
            connection.execute(_HEADERS.replace("TABLE", "TABLE IF NOT EXISTS"))
            row = (chat, workspace, BEGAN_MS, BEGAN_MS, 0, is_subagent, BEGAN_MS, None, json.dumps(value))
            connection.execute("INSERT OR REPLACE INTO composerHeaders VALUES (?,?,?,?,?,?,?,?,?)", row)


class Chat:
    """One chat: its order, and its bubbles, a second apart."""

    def __init__(self, name: str = TEA, *, folder: str = "/home/dev/tea", **fields: Any) -> None:
        self.name = name
        self.fields: dict[str, Any] = {
            "_v": 13,
            "composerId": name,
            "name": "CANARY title",
            "createdAt": BEGAN_MS,
            "status": "completed",
            "modelConfig": {"modelName": "demo-model"},
            "context": {"fileSelections": ["CANARY context"]},
            "generatingBubbleIds": [],
            **fields,
        }
        if folder:
            uri = {"scheme": "file", "fsPath": folder, "external": f"file://{folder}"}
            self.fields["workspaceIdentifier"] = {"id": "w-tea", "uri": uri}
        self.bubbles: list[dict[str, Any]] = []

    def bubble(self, kind: int, text: str = "", **fields: Any) -> Chat:
        """A bubble of any kind."""
        index = len(self.bubbles)
        name = fields.pop("name", f"bbbbbbbb-0000-4000-8000-{index:012}")
        moment = f"2026-01-02T03:{5 + index // 60:02}:{index % 60:02}.500Z"
        self.bubbles.append(
            {
                "_v": 3,
                "bubbleId": name,
                "type": kind,
                "text": text,
                "richText": "CANARY rich text",
                "createdAt": moment,
                **fields,
            }
        )
        return self

    def typed(self, text: str, **fields: Any) -> Chat:
        """A person's prompt."""
        return self.bubble(1, text, **fields)

    def answered(self, text: str, **fields: Any) -> Chat:
        """A text of the answer."""
        return self.bubble(2, text, **fields)

    def thought(self) -> Chat:
        """Reasoning."""
        return self.bubble(2, "", thinking={"text": "CANARY thinking"}, capabilityType=30)

    def tool(self) -> Chat:
        """A tool's call and result."""
        called = {"name": "run_terminal_cmd", "rawArgs": "CANARY arguments", "result": "CANARY result"}
        return self.bubble(2, "", toolFormerData=called, capabilityType=15)

    @property
    def records(self) -> list[dict[str, Any]]:
        """What the module reads of it."""
        return [{"chat": self.fields}, *({"bubble": bubble} for bubble in self.bubbles)]

    def save(self, editor: Editor) -> Chat:
        """All rows, as they are now."""
        order = [{"bubbleId": bubble["bubbleId"], "type": bubble["type"]} for bubble in self.bubbles]
        with written(editor.store) as connection:
            rows = [(f"bubbleId:{self.name}:{b['bubbleId']}", _text(b)) for b in reversed(self.bubbles)]
            chat = {"fullConversationHeadersOnly": order, **self.fields}
            rows.append((f"composerData:{self.name}", _text(chat)))
            connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
        return self


def opened(name: str = TEA, cwd: str = "/home/dev/tea") -> cursor.State:
    """The state before the first record."""
    return cursor.open_session(SessionFile(path=Path("nowhere"), session_id=name, cwd=cwd))


def read(file: SessionFile, state: cursor.State | None = None) -> list[Turn | SessionMark]:
    """What a chat gives that `state` has not read."""
    state = state or cursor.open_session(file)
    with database(file.path) as source:
        return list(cursor.read(cursor.rows(source, file, state), state))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]


def _text(value: Any) -> Any:
    return value if isinstance(value, str | bytes) else json.dumps(value)
