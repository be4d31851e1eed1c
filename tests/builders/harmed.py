"""A small workspace that was really used, and ways to harm it: what `verify` is tested on."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from conversation_esaa.events import TYPES
from conversation_esaa.log import FileLog, Stamp, chain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.events import Recorded
    from conversation_esaa.forensic.findings import Finding, VerifyReport
    from conversation_esaa.workspace import Workspace


class Harmed:
    """Two agents spoke, somebody curated, everything is projected. Nothing is wrong yet."""

    def __init__(self, world: World) -> None:
        self.world = world
        world.claude("s1").user("Which port does the demo take?").assistant("Port 8080.")
        world.codex("s2").user("And with TLS?").assistant("Then 8443.")
        world.sync()
        self.workspace: Workspace = world.workspace()
        self.workspace.decide("Ports are fixed", rationale="The firewall is", sources=["last"])
        self.workspace.create_task("Open the port", next_step="Ask for it", sources=["last"])
        self.workspace.create_topic("Ports", events=["last"])
        self.workspace.link("TOP-001", decisions=["DEC-0001"], tasks=["CONV-001"])
        self.workspace.decide("Ports are chosen at start", supersedes=["DEC-0001"])

    @property
    def store(self) -> Path:
        return self.world.store

    @property
    def log(self) -> Path:
        return self.store / "activity.jsonl"

    def lines(self) -> list[bytes]:
        """The log's lines, line feeds included."""
        return self.log.read_bytes().splitlines(keepends=True)

    def put(self, lines: list[bytes]) -> None:
        self.log.write_bytes(b"".join(lines))

    def forget_cursors(self) -> None:
        """So that nothing but the log says what it was."""
        (self.store / "sync-state.json").unlink()

    def change_line(self, line_no: int, change: Callable[[bytes], bytes]) -> None:
        """Something writes into the middle of the log."""
        lines = self.lines()
        before = lines[line_no - 1]
        lines[line_no - 1] = change(before)
        assert lines[line_no - 1] != before
        self.put(lines)

    def line_no_of(self, event: str) -> int:
        """The number of the last line with that event."""
        return max(n for n, line in enumerate(self.lines(), 1) if json.loads(line)["event"] == event)

    def append(self, *drafts: Recorded, at: str = "", **stamp: str) -> None:
        """Another program uses our writer, and checks nothing. The read models keep up."""
        settings = self.workspace.settings
        known = {
            "workspace_root": settings.root,
            "workspace_id": settings.workspace_id,
            "replica_id": "other",
        }
        log = FileLog(self.workspace.layout, Stamp(**{**known, **stamp}))
        with log.writing(purpose="test") as writer:
            writer.append(drafts, recorded_at=at or self.world.now())
        self.workspace.project()

    def append_line(self, **fields: Any) -> None:
        """Another program chains a line that our writer would refuse. The read models keep up."""
        head = self.workspace.log.head()
        whole = {
            "v": 2,
            "seq": head.seq + 1,
            "event_id": hashlib.sha256(str(head.seq).encode()).hexdigest(),
            "ts": "2026-03-01T11:00:00.000Z",
            "recorded_at": "2026-03-01T11:00:00.000Z",
            "actor": "assistant",
            "agent_id": "codex",
            "workspace_id": self.workspace.settings.workspace_id,
            **fields,
        }
        kind = TYPES.get(whole["event"])
        content = kind.CONTENT if kind else frozenset()
        line, _ = chain.seal(whole, content, salt=bytes(16), previous=bytes.fromhex(head.hash))
        with self.log.open("ab") as file:
            file.write(line + b"\n")
        self.workspace.project()

    def verify(self, *, deep: bool = False) -> VerifyReport:
        return self.workspace.verify(deep=deep)

    def found(self, code: str, *, deep: bool = False) -> list[Finding]:
        return [finding for finding in self.verify(deep=deep).findings if finding.code == code]

    def stats_of_store(self) -> dict[str, tuple[int, ...]]:
        """What a write, however small, would change."""
        paths = [self.store, *self.store.rglob("*")]
        return {
            str(path): (stat.st_mode, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
            for path in paths
            for stat in [path.lstat()]
        }
