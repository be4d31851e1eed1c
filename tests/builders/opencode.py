"""OpenCode's database, and the tree of files of its older versions. Kilo's are the same. All content is made up."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import opencode
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.agents.opencode_store import State
    from conversation_esaa.turn import SessionMark

BEGIN_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z
SCHEMA = """
CREATE TABLE session (
    id text PRIMARY KEY, project_id text NOT NULL, parent_id text, directory text NOT NULL, title text NOT NULL,
    version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, time_archived integer
);
CREATE TABLE message (
    id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL
);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE TABLE part (
    id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL
);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
CREATE INDEX part_session_idx ON part (session_id);
"""


class Session:
    """One session's messages, a second apart."""

    def __init__(self, session_id: str = "ses_1", cwd: str = "/home/dev/tea", *, parent: str = "") -> None:
        self.session_id, self.cwd, self.parent = session_id, cwd, parent
        self.began_ms = BEGIN_MS
        self.messages: list[dict[str, Any]] = []

    @property
    def header(self) -> dict[str, Any]:
        """What the store says of the session."""
        time = {"created": self.began_ms, "updated": self.began_ms}
        return {
            "id": self.session_id,
            "directory": self.cwd,
            "parentID": self.parent or None,
            "title": "CANARY title",
            "version": "1.18.33",
            "time": time,
        }

    @property
    def records(self) -> list[dict[str, Any]]:
        """What a reader is given."""
        return [{"session": self.header}, *self.messages]

    def message(self, message: dict[str, Any], *parts: dict[str, Any]) -> Session:
        """A message and its parts."""
        made_ms = BEGIN_MS + 1_000 * (len(self.messages) + 1)
        ref = f"msg_{self.session_id}_{len(self.messages):04}"
        message = {**message, "time": {"created": made_ms, **message.get("time", {})}}
        record = {"id": ref, "made_ms": made_ms, "message": message, "parts": list(parts)}
        self.messages.append(record)
        return self

    def typed(self, text: str, *parts: dict[str, Any]) -> Session:
        """A person's prompt, with what the agent adds for the model alone."""
        added = {"type": "text", "text": "CANARY added", "synthetic": True}
        ignored = {"type": "text", "text": "CANARY ignored", "ignored": True}
        model = {"providerID": "stub", "modelID": "demo"}
        return self.message(
            {"role": "user", "model": model, "summary": {"diffs": ["CANARY"]}},
            text_part(text),
            added,
            ignored,
            *parts,
        )

    def answered(self, text: str, **more: Any) -> Session:
        """A finished step of an answer, with reasoning and a tool."""
        message = {"role": "assistant", "modelID": "demo", "finish": "stop", "time": {"completed": 1}, **more}
        reasoning = {"type": "reasoning", "text": "CANARY reasoning"}
        tool = {"type": "tool", "tool": "bash", "state": {"output": "CANARY", "input": {"command": "CANARY"}}}
        return self.message(message, {"type": "step-start"}, reasoning, text_part(text), tool)

    def answering(self, text: str) -> Session:
        """A step that is still being written."""
        return self.message({"role": "assistant", "modelID": "demo"}, text_part(text))

    def compacted(self, *, auto: bool = False) -> Session:
        """A compaction: a message of the user that says so, and the summary."""
        self.message({"role": "user"}, {"type": "compaction", "auto": auto})
        return self.answered("CANARY summary", summary=True, mode="compaction")

    def forked(self, session_id: str) -> Session:
        """A copy with ids of its own; the moments are those of the original."""
        fork = Session(session_id, self.cwd)
        fork.began_ms = self.began_ms + 60_000
        fork.messages = [
            {**record, "id": record["id"].replace(self.session_id, session_id)} for record in self.messages
        ]
        return fork

    def save_as_tree(self, home: Path) -> Path:
        """Files of the older kind."""
        storage = home / "storage"
        path = storage / "session" / "global" / f"{self.session_id}.json"
        _write(path, self.header)
        for record in self.messages:
            ref = record["id"]
            _write(storage / "message" / self.session_id / f"{ref}.json", {"id": ref, **record["message"]})
            for number, part in enumerate(record["parts"]):
                _write(storage / "part" / ref / f"prt_{number:03}.json", {"id": f"prt_{number}", **part})
        return path


class Store:
    """The database while its agent has it open; `close` is the agent's end."""

    def __init__(self, home: Path, name: str = "opencode.db") -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.path = home / name
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=wal")
        if not self.connection.execute("SELECT 1 FROM sqlite_master").fetchall():
            self.connection.executescript(SCHEMA)

    def close(self) -> None:
        """The agent ends."""
        self.connection.close()

    def save(self, session: Session, *, updated_ms: int | None = None) -> Store:
        """The session as it is now; `updated_ms` is what it says of its last change."""
        header = session.header
        last = session.messages[-1]["made_ms"] if session.messages else BEGIN_MS
        self.connection.execute("BEGIN")
        self.connection.execute(
            "INSERT OR REPLACE INTO session VALUES (?, 'global', ?, ?, ?, ?, ?, ?, NULL)",
            (
                session.session_id,
                header["parentID"],
                session.cwd,
                header["title"],
                header["version"],
                session.began_ms,
                last if updated_ms is None else updated_ms,
            ),
        )
        for record in session.messages:
            ref, made = record["id"], record["made_ms"]
            values = (ref, session.session_id, made, made, json.dumps(record["message"]))
            self.connection.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET data = excluded.data",
                values,
            )
            for number, part in enumerate(record["parts"]):
                values = (f"prt_{ref}_{number:03}", ref, session.session_id, made, made, json.dumps(part))
                self.connection.execute(
                    "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT (id) DO UPDATE SET data = excluded.data",
                    values,
                )
        self.connection.execute("COMMIT")
        return self


def text_part(text: str) -> dict[str, Any]:
    """A part that is a visible text."""
    return {"type": "text", "text": text}


def opened() -> State:
    """The state before the first record."""
    return opencode.open_session(SessionFile(path=Path("nowhere"), session_id="ses_1"))


def read(records: Iterable[Any], state: State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(opencode.read(records, state or opened()))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]


def _write(path: Path, document: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2), "utf-8")
