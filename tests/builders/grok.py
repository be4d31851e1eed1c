"""Grok's session folders, as its versions write them. All content is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from conversation_esaa.agents import grok
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from conversation_esaa.turn import SessionMark

TEA = "01900000-0000-7000-8000-0000000000aa"
FORK = "01900000-0000-7000-8000-0000000000bb"
CHILD = "01900000-0000-7000-8000-0000000000cc"
BEGIN_MS = 1_767_323_045_000  # 2026-01-02T03:04:05Z


class Session:
    """One session's update stream; a tenth of a second passes from line to line."""

    def __init__(self, session_id: str = TEA) -> None:
        self.session_id = session_id
        self.records: list[dict[str, Any]] = []
        self.events = 1
        self.prompts = 0
        self.at_ms = BEGIN_MS

    def update(self, kind: str, *, meta: dict[str, Any] | None = None, **fields: Any) -> Session:
        """A line of the stream."""
        self.events += 1
        self.at_ms += 100
        vendor = kind in ("turn_completed", "compaction_checkpoint", "auto_compact_completed")
        outer = {
            "eventId": f"{self.session_id}-{self.events}",
            "agentTimestampMs": self.at_ms,
            **(meta or {}),
        }
        self.records.append(
            {
                "timestamp": self.at_ms // 1000,
                "method": "_x.ai/session/update" if vendor else "session/update",
                "params": {
                    "sessionId": self.session_id,
                    "update": {"sessionUpdate": kind, **fields},
                    "_meta": outer,
                },
            }
        )
        return self

    def new_process(self) -> Session:
        """The agent was started again: its event counter begins anew."""
        self.events = 1
        self.at_ms += 60_000
        return self

    def user_chunk(self, content: dict[str, Any], **meta: Any) -> Session:
        """A chunk in the user's name, with the marks given."""
        return self.update("user_message_chunk", content=content, _meta={"modelId": "demo", **meta})

    def typed(self, text: str) -> Session:
        """A person's prompt."""
        self.prompts += 1
        return self.user_chunk({"type": "text", "text": text}, promptIndex=self.prompts - 1)

    def answered(self, text: str, prompt: str = "p-1") -> Session:
        """A run of text of the answer."""
        content = {"type": "text", "text": text}
        return self.update("agent_message_chunk", content=content, meta={"promptId": prompt})

    def compacted(self) -> Session:
        """A compaction, which two lines tell of."""
        self.update("compaction_checkpoint", checkpoint_id="k1", checkpoint_file="compaction_checkpoints/k1")
        return self.update("auto_compact_completed", tokens_before=9, summary_preview="CANARY preview")

    def forked(self) -> Session:
        """A fork: the parent's lines with another session id and time of writing, `_meta` as it was."""
        fork = Session(FORK)
        fork.prompts, fork.at_ms = self.prompts, self.at_ms + 60_000
        for record in self.records:
            params = {**record["params"], "sessionId": FORK}
            fork.records.append({**record, "timestamp": fork.at_ms // 1000, "params": params})
        return fork

    def save(
        self,
        home: Path,
        *,
        cwd: str = "/home/dev/tea",
        folder: str = "",
        summary: dict[str, Any] | None = None,
    ) -> Path:
        """The session's folder where Grok would keep it; returns its update stream."""
        place = home / "sessions" / (folder or quote(cwd, safe="-._~")) / self.session_id
        place.mkdir(parents=True)
        described = {"info": {"id": self.session_id, "cwd": cwd}, "current_model_id": "demo"}
        (place / "summary.json").write_text(json.dumps({**described, **(summary or {})}, indent=2), "utf-8")
        (place / "chat_history.jsonl").write_text('{"type":"user","content":"CANARY chat history"}\n')
        (place / "events.jsonl").write_text('{"CANARY":"events"}\n')
        path = place / "updates.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def opened(session_id: str = TEA, cwd: str = "/home/dev/tea") -> grok.State:
    """The state before the first record, without side files."""
    path = Path("nowhere", session_id, "updates.jsonl")
    return grok.open_session(SessionFile(path=path, session_id=session_id, cwd=cwd))


def read(records: Iterable[Any], state: grok.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(grok.read(records, state or opened()))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]
