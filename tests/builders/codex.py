"""Codex rollouts, as its versions write them. All content is made up.

`Rollout` grows line by line; every method adds one record. The native shape of a line is here and nowhere
else in the tests.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents import codex
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.turn import SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TEA = "01900000-0000-7000-8000-000000000001"
FORK = "01900000-0000-7000-8000-000000000002"
CHILD = "01900000-0000-7000-8000-000000000003"
BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Rollout:
    """One thread. `records` is its file, a line each; ten milliseconds pass from line to line."""

    def __init__(self, thread: str = TEA, *, paginated: bool = True, begin: datetime = BEGIN) -> None:
        self.thread, self.paginated, self.now = thread, paginated, begin
        self.records: list[dict[str, Any]] = []

    def later(self, **passed: float) -> Rollout:
        """Time goes by; the arguments of a timedelta."""
        self.now += timedelta(**passed)
        return self

    def line(self, kind: str, payload: Any, **more: Any) -> Rollout:
        """A record with its envelope."""
        record = {"timestamp": self.now.isoformat(timespec="milliseconds")[:-6] + "Z"}
        if self.paginated:
            record["ordinal"] = len(self.records)
        self.records.append({**record, "type": kind, "payload": payload, **more})
        return self.later(milliseconds=10)

    def bare(self, record: Any) -> Rollout:
        """A line exactly as given."""
        self.records.append(record)
        return self

    def header(self, *, cwd: str = "/home/dev/tea", **more: Any) -> Rollout:
        """The first line."""
        payload = {
            "id": self.thread,
            "session_id": self.thread,
            "timestamp": BEGIN.isoformat()[:-6] + ".000Z",
            "cwd": cwd,
            "originator": "codex_exec",
            "cli_version": "0.171.0" if self.paginated else "0.50.0",
            "source": "exec",
            "base_instructions": {"text": "CANARY base instructions"},
            "git": {"commit_hash": "c0ffee", "branch": "main"},
        }
        if self.paginated:
            payload |= {"thread_source": "user", "history_mode": "paginated"}
        return self.line("session_meta", {**payload, **more})

    def context(self, *, cwd: str = "/home/dev/tea", model: str = "demo-model") -> Rollout:
        """What holds for the turns that follow."""
        return self.line("turn_context", {"turn_id": "t1", "cwd": cwd, "model": model})

    def item(self, role: str, *texts: str, kinds: list[str] | None = None) -> Rollout:
        """A message of the model's history."""
        part = "output_text" if role == "assistant" else "input_text"
        payload: dict[str, Any] = {
            "type": "message",
            "role": role,
            "content": [{"type": part, "text": text} for text in texts],
        }
        if kinds:
            payload["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
        return self.line("response_item", payload)

    def event(self, name: str, /, **payload: Any) -> Rollout:
        """What the terminal was told."""
        return self.line("event_msg", {"type": name, **payload})

    def completed(self, kind: str, **item: Any) -> Rollout:
        """A finished item of paginated mode."""
        return self.event("item_completed", thread_id=self.thread, turn_id="t1", item={"type": kind, **item})

    def shown(self, role: str, text: str) -> Rollout:
        """The event of a message, without its mirror."""
        if not self.paginated:
            return self.event("user_message" if role == "user" else "agent_message", message=text, images=[])
        ref = f"{'u' if role == 'user' else 'msg_'}{len(self.records)}"
        kind, part = ("UserMessage", "text") if role == "user" else ("AgentMessage", "Text")
        return self.completed(kind, id=ref, content=[{"type": part, "text": text}])

    def said(self, role: str, text: str) -> Rollout:
        """A message with both mirrors, in the order that Codex writes them."""
        if role == "user":
            return self.item(role, text).shown(role, text)
        return self.shown(role, text).item(role, text)

    def compacted(self) -> Rollout:
        """A compaction: a hidden summary, and the records that tell of it."""
        if self.paginated:
            self.item("assistant", "CANARY summary of it all")
        replaced = [{"type": "message", "role": "user", "content": "CANARY old talk"}]
        self.line("compacted", {"message": "CANARY summary again", "replacement_history": replaced})
        return self.completed("ContextCompaction", id="c1") if self.paginated else self

    def save(self, home: Path, *, day: str = "2026/01/02", archived: bool = False) -> Path:
        """The file where Codex would keep it."""
        folder = home / "archived_sessions" if archived else home / "sessions" / day
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"rollout-2026-01-02T03-04-05-{self.thread}.jsonl"
        path.write_text("".join(f"{json.dumps(record)}\n" for record in self.records), "utf-8")
        return path


def read(records: Iterable[Any], state: codex.State | None = None) -> list[Turn | SessionMark]:
    """Everything that a reader gives, from the beginning unless `state` says otherwise."""
    return list(codex.read(records, state or opened()))


def opened(thread: str = TEA) -> codex.State:
    """The state before the first record."""
    from pathlib import Path

    return codex.open_session(SessionFile(path=Path(f"rollout-{thread}.jsonl"), session_id=thread))


def texts(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The words alone."""
    return [item.text for item in items if isinstance(item, Turn)]


def marks(items: Iterable[Turn | SessionMark]) -> list[str]:
    """The kinds of the marks alone."""
    return [str(item.kind) for item in items if isinstance(item, SessionMark)]
