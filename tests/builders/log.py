"""Logs and drafts for tests: made-up words, and both logs behind one face."""

from __future__ import annotations

import hashlib
from pathlib import Path

from conversation_esaa.events import ConversationTurn, Entry, GoalSet, SessionStarted, Unreadable
from conversation_esaa.layout import Layout
from conversation_esaa.log import FileLog, InMemoryLog, Stamp, chain

NOW = "2026-03-01T10:00:00.000Z"
LATER = "2026-03-01T10:00:01.000Z"
STAMP = Stamp(workspace_root="/w/app", workspace_id="workspace-1", replica_id="replica-1")
GOLDEN_V1_1 = Path(__file__).parent.parent / "golden" / "v1_1" / "activity.jsonl"


def turn(text: str = "Where do hooks live?", *, index: int = 0, session: str = "s-1", **more: object):
    ref = more.pop("source_ref", f"{session}/{index}")
    return ConversationTurn(
        event_id=hashlib.sha256(str(ref).encode()).hexdigest(),
        ts=NOW,
        actor="user",
        agent_id="codex",
        source="codex",
        source_session_id=session,
        source_index=index,
        source_ref=str(ref),
        text=text,
        summary=text[:20],
        **more,
    )


def started(session: str = "s-1"):
    """An event without any content key."""
    return SessionStarted(
        event_id=hashlib.sha256(session.encode()).hexdigest(),
        ts=NOW,
        source="codex",
        source_session_id=session,
    )


def goal(words: str = "Ship it"):
    return GoalSet(actor="user", agent_id="human", goal=words)


def v1_1_log(workspace: str = "/w/app", other: str = "/w/other") -> bytes:
    """The synthetic log of the older tool, its root tokens replaced."""
    text = GOLDEN_V1_1.read_text(encoding="utf-8")
    return text.replace("__WORKSPACE__", workspace).replace("__OTHER_WORKSPACE__", other).encode()


class OnDisk:
    """A FileLog and its bytes."""

    def __init__(self, root: Path, stamp: Stamp = STAMP) -> None:
        self.layout = Layout(root)
        self.layout.store.mkdir(parents=True, exist_ok=True)
        self.log = FileLog(self.layout, stamp)

    def bytes(self) -> bytes:
        return self.layout.log.read_bytes() if self.layout.log.exists() else b""

    def put(self, data: bytes) -> None:
        self.layout.log.write_bytes(data)

    def quarantined(self) -> list[bytes]:
        place = self.layout.quarantine
        return [path.read_bytes() for path in sorted(place.iterdir())] if place.exists() else []


class InMemory:
    """An InMemoryLog and its bytes."""

    def __init__(self, stamp: Stamp = STAMP) -> None:
        self.log = InMemoryLog(stamp)

    def bytes(self) -> bytes:
        return bytes(self.log.data)

    def put(self, data: bytes) -> None:
        self.log.data[:] = data

    def quarantined(self) -> list[bytes]:
        return list(self.log.quarantined.values())


def append(kept: OnDisk | InMemory, *drafts: object, at: str = NOW) -> list[Entry]:
    with kept.log.writing(purpose="test") as writer:
        return writer.append(drafts, recorded_at=at)


def findings(kept: OnDisk | InMemory) -> list[chain.Finding]:
    return list(chain.check(kept.log.numbered(), genesis=kept.log.prefix_digest))


def damage(kept: OnDisk | InMemory) -> list[tuple[str, int]]:
    return [(found.kind, found.line_no) for found in findings(kept) if found.is_damage]


def texts(kept: OnDisk | InMemory) -> list[str]:
    """The words of every readable turn, in order."""
    return [e.event.text for e in kept.log.entries() if isinstance(e, Entry) and hasattr(e.event, "text")]


def unreadable(kept: OnDisk | InMemory) -> list[Unreadable]:
    return [line for line in kept.log.entries() if isinstance(line, Unreadable)]
