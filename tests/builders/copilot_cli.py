"""Copilot CLI's event streams, as 1.0.102 writes them. All content is made up."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import copilot_cli
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.timestamps import to_utc
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "cccccccc-0000-4000-8000-000000000001"
OTHER = "cccccccc-0000-4000-8000-000000000002"
BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Session:
    """One session's events, a second apart."""

    def __init__(self, session_id: str = TEA, *, cwd: str = "/home/dev/tea") -> None:
        self.session_id = session_id
        self.records: list[dict[str, Any]] = []
        self.event(
            "session.start",
            sessionId=session_id,
            version=1,
            copilotVersion="1.0.102",
            startTime=to_utc(BEGIN),
            selectedModel="demo",
            context=self.context(cwd),
        )

    @staticmethod
    def context(cwd: str, branch: str = "main") -> dict[str, str]:
        """Where a session is."""
        return {"cwd": cwd, "gitRoot": cwd, "branch": branch, "headCommit": "c0ffee"}

    def event(self, kind: str, *, agent: str = "", **data: Any) -> Session:
        """A line of the stream; `agent` is the sub-agent that it is of."""
        number = len(self.records)
        event = {
            "type": kind,
            "data": data,
            "id": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session_id}/{number}")),
            "timestamp": to_utc(BEGIN + timedelta(seconds=number)),
            "parentId": self.records[-1]["id"] if self.records else None,
        }
        self.records.append({**event, "agentId": agent} if agent else event)
        return self

    def prompt(self, text: str, *, agent: str = "", **data: Any) -> Session:
        """A prompt, with the marks given."""
        sent = f"<current_datetime>CANARY</current_datetime>\n\n{text}\n<system_reminder>CANARY</system_reminder>"
        number = len(self.records)
        fields = {"content": text, "transformedContent": sent, "messageId": f"m-{number}", "turnId": "0"}
        return self.event("user.message", agent=agent, **{**fields, "parentAgentTaskId": "t-1", **data})

    def typed(self, text: str) -> Session:
        """A person's prompt, and the system prompt that follows it."""
        return self.prompt(text).event("system.message", role="system", content="CANARY system prompt")

    def answer(self, text: str, *, agent: str = "", **data: Any) -> Session:
        """A message of the model, with the marks given."""
        tools = [{"toolCallId": "c", "name": "bash", "arguments": {"command": "CANARY"}}]
        fields = {"messageId": f"m-{len(self.records)}", "model": "demo", "reasoningText": "CANARY reasoning"}
        return self.event(
            "assistant.message", agent=agent, content=text, toolRequests=tools, **{**fields, **data}
        )

    def answered(self, text: str) -> Session:
        """An answer, and the tool call that it ends with."""
        self.event("assistant.turn_start", turnId="0").answer(text)
        return self.event("tool.execution_complete", toolCallId="c", result={"content": "CANARY result"})

    def resumed(self, cwd: str) -> Session:
        """The session is taken up again, perhaps elsewhere."""
        return self.event("session.resume", eventCount=len(self.records), context=self.context(cwd))

    def save(self, home: Path) -> Path:
        """The session's folder where Copilot would keep it; returns its event stream."""
        place = home / "session-state" / self.session_id
        place.mkdir(parents=True, exist_ok=True)
        (place / "workspace.yaml").write_text(f"id: {self.session_id}\nname: CANARY\n")
        path = place / "events.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def opened() -> copilot_cli.State:
    """The state before the first record."""
    return copilot_cli.open_session(SessionFile(path=Path("nowhere", TEA, "events.jsonl"), session_id=TEA))


def read(records: Iterable[Any], state: copilot_cli.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(copilot_cli.read(records, state or opened()))


def turns(items: Iterable[Turn | SessionMark]) -> list[Turn]:
    """What was said."""
    return [item for item in items if isinstance(item, Turn)]


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [turn.text for turn in turns(items)]
