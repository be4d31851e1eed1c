"""Factory droid's session files, as 0.215.0 writes them. All content is made up."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import droid
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.timestamps import to_utc
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "dddddddd-0000-4000-8000-000000000001"
FORK = "dddddddd-0000-4000-8000-000000000002"
BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
REMINDER = "<system-reminder>\nCANARY reminder\n</system-reminder>"


class Session:
    """One session's lines, a second apart."""

    def __init__(self, session_id: str = TEA, *, cwd: str = "/home/dev/tea", **header: Any) -> None:
        self.session_id, self.cwd = session_id, cwd
        start = {"type": "session_start", "id": session_id, "title": "CANARY title", "owner": "unknown"}
        self.records: list[dict[str, Any]] = [{**start, "version": 2, "cwd": cwd, **header}]

    def line(self, kind: str, **fields: Any) -> Session:
        """A line of any kind."""
        number = len(self.records)
        ref = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session_id}/{number}"))
        at = to_utc(BEGIN + timedelta(seconds=number))
        self.records.append({"type": kind, "id": ref, "timestamp": at, **fields})
        return self

    def message(self, role: str, content: Any, **marks: Any) -> Session:
        """A message of any role, with marks."""
        return self.line("message", message={"role": role, "content": content, **marks})

    def user(self, *texts: str, **marks: Any) -> Session:
        """A message in the user's name."""
        return self.message("user", [{"type": "text", "text": text} for text in texts], **marks)

    def hook(self, output: str) -> Session:
        """A report of a hook's run."""
        results = [{"exitCode": 0, "stdout": output}]
        return self.message(
            "user", [], visibility="user_only", hookEventName="SessionStart", hookResults=results
        )

    def typed(self, text: str) -> Session:
        """A person's prompt, and the context that the model gets before it."""
        self.hook("CANARY hook").user(REMINDER, visibility="llm_only")
        self.records[-1]["id"] = f"context-{self.records[-1]['id']}"
        return self.user(text, interactionMode="auto")

    def answered(self, *texts: str) -> Session:
        """An answer of one or more text blocks, with what is hidden around them."""
        content = [{"type": "thinking", "thinking": "CANARY thinking", "signature": "x"}]
        content += [{"type": "text", "text": text} for text in texts]
        content += [{"type": "tool_use", "id": "t", "name": "Execute", "input": {"command": "CANARY"}}]
        reasoning = {"chatCompletionReasoningContent": "CANARY reasoning"}
        self.message("assistant", content, modelId="demo", **reasoning)
        self.message("user", [{"type": "tool_result", "tool_use_id": "t", "content": "CANARY result"}])
        self.records.append({"type": "agent_turn_outcome", "turnId": "x", "reason": "completed"})
        return self

    def compacted(self) -> Session:
        """A compaction, with its summary."""
        return self.line("compaction_state", summaryText="CANARY summary", removedCount=3)

    def forked(self, session_id: str = FORK) -> Session:
        """A fork: a new header, and the lines as they were."""
        last = [record["id"] for record in self.records if record["type"] == "message"][-1]
        fork = Session(session_id, cwd=self.cwd, parent=self.session_id, forkedAtMessageId=last)
        fork.records += self.records[1:]
        return fork

    def save(self, home: Path, *, folder: str = "") -> Path:
        """The session's file where droid would keep it."""
        name = folder or self.cwd.replace("/", "-")
        path = home / "sessions" / name / f"{self.session_id}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".settings.json").write_text('{"CANARY": "settings"}')
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def opened() -> droid.State:
    """The state before the first record."""
    return droid.open_session(SessionFile(path=Path("nowhere", f"{TEA}.jsonl"), session_id=TEA))


def read(records: Iterable[Any], state: droid.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(droid.read(records, state or opened()))


def turns(items: Iterable[Turn | SessionMark]) -> list[Turn]:
    """What was said."""
    return [item for item in items if isinstance(item, Turn)]


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [turn.text for turn in turns(items)]
