"""Kimi CLI's session folders, as 1.47.0 writes them. All content is made up."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import kimi
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "eeeeeeee-0000-4000-8000-000000000001"
FORK = "eeeeeeee-0000-4000-8000-000000000002"
BEGIN_S = 1_767_323_045.0  # 2026-01-02T03:04:05Z


def digest(directory: str) -> str:
    """What Kimi makes of a directory."""
    return hashlib.md5(directory.encode()).hexdigest()


class Session:
    """One session's stream; a message takes an eighth of a second, a person five seconds to type."""

    def __init__(
        self, session_id: str = TEA, *, cwd: str = "/home/dev/tea", protocol: str | None = "1.10"
    ) -> None:
        self.session_id, self.cwd = session_id, cwd
        self.at_s = BEGIN_S
        header = {"type": "metadata", "protocol_version": protocol}
        self.records: list[dict[str, Any]] = [header] if protocol else []
        self.turns_end = protocol not in (None, "1.1")

    def message(self, kind: str, **payload: Any) -> Session:
        """A line of the stream."""
        self.at_s += 0.125
        self.records.append({"timestamp": self.at_s, "message": {"type": kind, "payload": payload}})
        return self

    def part(self, kind: str, **fields: Any) -> Session:
        """A part of an answer."""
        return self.message("ContentPart", type=kind, **fields)

    def typed(self, content: Any) -> Session:
        """A person's prompt; the turn before it is over."""
        if len(self.records) > 1 and self.turns_end:
            self.message("TurnEnd")
        self.at_s += 5
        return self.message("TurnBegin", user_input=content)

    def answered(self, text: str) -> Session:
        """A step of an answer, with what is hidden around its text."""
        self.message("StepBegin", n=1).part("think", think="CANARY thinking", encrypted=None)
        self.part("text", text=text)
        self.message("ToolCall", id="c", function={"name": "Shell", "arguments": "CANARY call"})
        return self.message("ToolResult", tool_call_id="c", return_value={"output": "CANARY result"})

    def compacted(self) -> Session:
        """A compaction."""
        return self.message("CompactionBegin").message("CompactionEnd")

    def forked(self, session_id: str = FORK) -> Session:
        """`/fork`: another session, with the lines as they were."""
        fork = Session(session_id, cwd=self.cwd)
        fork.records, fork.at_s = list(self.records), self.at_s + 60
        return fork

    def save(self, home: Path, *, listed: bool = True) -> Path:
        """The session's folder where Kimi would keep it; returns its stream."""
        place = home / "sessions" / digest(self.cwd) / self.session_id
        (place / "subagents" / "a1").mkdir(parents=True, exist_ok=True)
        (place / "subagents" / "a1" / "wire.jsonl").write_text('{"CANARY": "sub-agent"}\n')
        (place / "context.jsonl").write_text('{"role": "user", "content": "CANARY context"}\n')
        (place / "state.json").write_text('{"custom_title": "CANARY title"}')
        if listed:
            table = home / "kimi.json"
            known = json.loads(table.read_text("utf-8"))["work_dirs"] if table.exists() else []
            entry = {"path": self.cwd, "kaos": "local", "last_session_id": self.session_id}
            known = [*(other for other in known if other["path"] != self.cwd), entry]
            table.write_text(json.dumps({"work_dirs": known}), "utf-8")
        path = place / "wire.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def opened(session_id: str = TEA) -> kimi.State:
    """The state before the first record."""
    path = Path("nowhere", session_id, "wire.jsonl")
    return kimi.open_session(SessionFile(path=path, session_id=session_id, cwd="/home/dev/tea"))


def read(records: Iterable[Any], state: kimi.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(kimi.read(records, state or opened()))


def turns(items: Iterable[Turn | SessionMark]) -> list[Turn]:
    """What was said."""
    return [item for item in items if isinstance(item, Turn)]


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [turn.text for turn in turns(items)]
