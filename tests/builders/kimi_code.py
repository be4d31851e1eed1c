"""Kimi Code CLI's session folders, as 2.1.0 writes them. All content is made up."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import kimi_code
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "session_ffffffff-0000-4000-8000-000000000001"
FORK = "session_ffffffff-0000-4000-8000-000000000002"
BEGIN_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z
REMINDER = "<system-reminder>\nCANARY reminder\n</system-reminder>"


class Session:
    """One session's stream of its main agent; a tenth of a second passes from line to line."""

    def __init__(self, session_id: str = TEA, *, cwd: str = "/home/dev/tea", forked_from: str = "") -> None:
        self.session_id, self.cwd, self.forked_from = session_id, cwd, forked_from
        self.at_ms = BEGIN_MS
        self.records: list[dict[str, Any]] = [
            {"type": "metadata", "protocol_version": "1.5", "created_at": BEGIN_MS}
        ]
        self.record("profile.bind", modelAlias="demo", systemPrompt="CANARY system prompt")

    def record(self, kind: str, *, agent: str = "main", **fields: Any) -> Session:
        """A line of the stream."""
        self.at_ms += 100
        self.records.append({"type": kind, "agentId": agent, **fields, "time": self.at_ms})
        return self

    def native_id(self) -> str:
        """A new id."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.session_id}/{len(self.records)}"))

    def prompt(self, content: Any, how: str = "turn.prompt", **origin: Any) -> Session:
        """A prompt of any origin."""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        ref = {"turn.prompt": "promptId", "turn.steer": "messageId"}[how]
        ids = {ref: f"msg_{self.native_id()}"}
        return self.record(how, input=parts, origin={"kind": "user", **origin}, **ids)

    def typed(self, text: str) -> Session:
        """A person's prompt, and what the model gets in their name."""
        message = {"role": "user", "content": [{"type": "text", "text": REMINDER}]}
        return self.prompt(text).record("context.append_message", message=message)

    def steered(self, text: str) -> Session:
        """What a person types while the model works."""
        return self.prompt(text, "turn.steer")

    def event(self, kind: str, **fields: Any) -> Session:
        """An event of the loop."""
        return self.record("context.append_loop_event", event={"type": kind, "turnId": "0", **fields})

    def part(self, kind: str, **fields: Any) -> Session:
        """A part of an answer."""
        return self.event(
            "content.part", uuid=self.native_id(), stepUuid="step-1", part={"type": kind, **fields}
        )

    def answered(self, text: str) -> Session:
        """A step of an answer, with what is hidden around its text."""
        self.event("step.begin").part("think", think="CANARY thinking").part("text", text=text)
        self.event("tool.call", args={"command": "CANARY"})
        self.event("tool.result", result={"output": "CANARY result"})
        content = [{"type": "text", "text": "CANARY again"}]
        message = {"message": {"role": "assistant", "content": content}}
        return self.record("agent.message.appended", message=message)

    def compacted(self) -> Session:
        """A compaction, with its summary."""
        self.record("context.apply_compaction", summary="CANARY summary")
        return self.record("full_compaction.complete")

    def forked(self, session_id: str = FORK) -> Session:
        """A fork: the lines as they were, and one that ends them."""
        fork = Session(session_id, cwd=self.cwd, forked_from=self.session_id)
        fork.records, fork.at_ms = list(self.records), self.at_ms + 60_000
        return fork.record("forked")

    def save(self, home: Path, **state: Any) -> Path:
        """The session's folder where Kimi Code would keep it; returns its main agent's stream."""
        place = home / "sessions" / "wd_tea_0123456789ab" / self.session_id
        for agent in ("main", "agent-0"):
            (place / "agents" / agent).mkdir(parents=True, exist_ok=True)
        child = {"type": "turn.prompt", "input": [{"type": "text", "text": "CANARY sub-agent"}]}
        (place / "agents" / "agent-0" / "wire.jsonl").write_text(f"{json.dumps(child)}\n")
        described = {"id": self.session_id, "version": 2, "cwd": self.cwd, "title": "CANARY title"}
        if self.forked_from:
            described["forkedFrom"] = self.forked_from
        (place / "state.json").write_text(json.dumps({**described, **state}), "utf-8")
        path = place / "agents" / "main" / "wire.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def opened() -> kimi_code.State:
    """The state before the first record, without side files."""
    path = Path("nowhere", TEA, "agents", "main", "wire.jsonl")
    return kimi_code.open_session(SessionFile(path=path, session_id=TEA, cwd="/home/dev/tea"))


def read(records: Iterable[Any], state: kimi_code.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(kimi_code.read(records, state or opened()))


def turns(items: Iterable[Turn | SessionMark]) -> list[Turn]:
    """What was said."""
    return [item for item in items if isinstance(item, Turn)]


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [turn.text for turn in turns(items)]
