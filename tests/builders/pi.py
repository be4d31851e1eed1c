"""pi's session files, as its versions write them. All content is made up."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import pi
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.timestamps import to_utc
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "01900000-0000-7000-8000-0000000000aa"
FORK = "01900000-0000-7000-8000-0000000000bb"
BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Session:
    """One session's entries, a second apart; a message is sent 5 ms before its entry is written."""

    def __init__(self, session_id: str = TEA, *, version: int = 3, cwd: str = "/home/dev/tea") -> None:
        self.session_id, self.version, self.cwd = session_id, version, cwd
        self.at = BEGIN
        self.records: list[dict[str, Any]] = []
        header = {"type": "session", "id": session_id, "timestamp": to_utc(self.at), "cwd": cwd}
        self.records.append({**header, "version": version} if version > 1 else header)

    def entry(self, kind: str, **fields: Any) -> Session:
        """A line; from version 2 on it has an id and a parent."""
        self.at += timedelta(seconds=1)
        entry = {"type": kind, "timestamp": to_utc(self.at), **fields}
        if self.version > 1:
            parent = self.records[-1].get("id") if len(self.records) > 1 else None
            entry |= {"id": f"{len(self.records):08x}", "parentId": parent}
        self.records.append(entry)
        return self

    def message(self, role: str, content: Any, **fields: Any) -> Session:
        """A message of any role."""
        sent = int((self.at + timedelta(milliseconds=995)).timestamp() * 1000)
        return self.entry("message", message={"role": role, "content": content, "timestamp": sent, **fields})

    def typed(self, text: str) -> Session:
        """A person's prompt."""
        return self.message("user", [{"type": "text", "text": text}])

    def answered(self, *texts: str) -> Session:
        """An answer of one or more text blocks, with what is hidden around them."""
        content = [{"type": "thinking", "thinking": "CANARY thinking"}]
        content += [{"type": "text", "text": text} for text in texts]
        content += [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "CANARY call"}}]
        self.message("assistant", content, provider="stub", model="demo", stopReason="toolUse")
        return self.message("toolResult", [{"type": "text", "text": "CANARY result"}], toolName="bash")

    def compacted(self) -> Session:
        """A compaction, with its summary."""
        return self.entry("compaction", summary="CANARY summary", firstKeptEntryId="x", tokensBefore=9)

    @property
    def folder(self) -> str:
        """What pi makes of the directory."""
        return f"--{self.cwd.lstrip('/').replace('/', '-')}--"

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"2026-01-02T03-04-05-000Z_{self.session_id}.jsonl"

    def forked(self, session_id: str = FORK, *, cwd: str = "") -> Session:
        """`--fork`, perhaps from another directory: a new header, and the entries as they were."""
        fork = Session(session_id, cwd=cwd or self.cwd)
        fork.at = self.at + timedelta(minutes=1)
        fork.records[0] |= {
            "timestamp": to_utc(fork.at),
            "parentSession": f"/home/dev/.pi/agent/sessions/{self.folder}/{self.name}",
        }
        fork.records += self.records[1:]
        return fork

    def migrated(self) -> Session:
        """What loading a file of version 1 makes of it: new ids, all else as it was."""
        self.version = 3
        self.records[0]["version"] = 3
        for number, record in enumerate(self.records[1:], start=1):
            record |= {"id": f"{number:08x}", "parentId": f"{number - 1:08x}" if number > 1 else None}
        return self

    def save(self, home: Path, *, folder: str = "") -> Path:
        """The session's file where pi would keep it."""
        path = home / "sessions" / (folder or self.folder) / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def opened() -> pi.State:
    """The state before the first record."""
    return pi.open_session(SessionFile(path=Path("nowhere", f"2026_{TEA}.jsonl"), session_id=TEA))


def read(records: Iterable[Any], state: pi.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(pi.read(records, state or opened()))


def turns(items: Iterable[Turn | SessionMark]) -> list[Turn]:
    """What was said."""
    return [item for item in items if isinstance(item, Turn)]


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [turn.text for turn in turns(items)]
