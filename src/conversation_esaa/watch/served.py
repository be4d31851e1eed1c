"""One workspace as the watcher serves it: its lock held, its news captured, its troubles its own."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa import __version__
from conversation_esaa.capture import spool
from conversation_esaa.drain import drain
from conversation_esaa.errors import ConversationError, LockTimeout
from conversation_esaa.layout import Layout
from conversation_esaa.log.files import make_private_directory
from conversation_esaa.log.lock import held, holder
from conversation_esaa.watch import places
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.machine import Machine

LOCK_WAIT_S = 1.0  # for another writer: the other workspaces wait meanwhile


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What one look at a workspace gave."""

    captured: int = 0
    known: bool = False  # nothing that capture depends on had changed, told without a sync
    words: list[str] = []  # what deserves to be told


class Served:
    """A workspace, from when its lock is taken to when it is given back."""

    def __init__(self, root: Path, machine: Machine) -> None:
        self.root = root
        self.captured = 0  # events, since the watcher began
        self.last_capture = ""
        self.problem = ""  # of the last look
        self.failures = 0  # looks that failed, one after the other
        self.due_at = 0.0  # when to look, whatever is heard
        self._machine = machine
        self._layout = Layout(root)
        self.workspace = Workspace(root, machine=machine, lock_wait_s=LOCK_WAIT_S)
        self._locked = ExitStack()
        self._is_locked = False
        self._store = _identity(self._layout.store)
        self._seen_size, self._seen, self._seen_seq = 0, "", 0  # the log as it was left

    def begin(self) -> None:
        """Take the lock. Where that fails, the first look says so, and each look tries again."""
        with suppress(ConversationError, OSError):
            self._take()

    def is_there(self) -> bool:
        """Whether the store is the one we began with. Costs a stat."""
        return self._store is not None and _identity(self._layout.store) == self._store

    def has_shrunk(self) -> bool:
        """Whether the log is shorter than we left it. Costs a stat."""
        try:
            return self._layout.log.stat().st_size < self._seen_size
        except OSError:
            return self._seen_size > 0

    def places(self) -> set[str]:
        """The directories where news of this workspace appear, the hooks' spool among them."""
        found = places.directories(self.workspace)
        spool = os.path.realpath(self._layout.spool)
        return found | {spool} if os.path.isdir(spool) else found

    def look(self) -> Look:
        """Capture what is new. Raises nothing: what goes wrong becomes `problem`, and a word when it is new."""
        before, words = self.problem, list[str]()
        try:
            found = self._look(words)
            self.failures = 0
        except Exception as error:  # noqa: BLE001 - one workspace must never stop the others
            self.problem = _told(error)
            self.failures += 1
            found = Look()
        if self.problem != before:
            words.append(self.problem or "all is well again")
        return msgspec.structs.replace(found, words=words)

    def _look(self, words: list[str]) -> Look:
        self._take()
        called = spool.waiting(self._layout)
        if not called and self.workspace.is_unchanged():
            self.problem = ""
            return Look(known=True)
        log = self.workspace.log
        went_back = bool(self._seen) and log.fingerprint(self._seen_size) != self._seen
        from_hooks = drain(self.workspace, pause=time.sleep).captured if called else 0
        report = self.workspace.sync()
        if went_back:
            words.append(
                f"the log went back: it is not what it was at position {self._seen_seq}. Nothing was restored; "
                f"capturing goes on, and it is at position {report.head.seq} now. `conversation-esaa verify` checks it"
            )
        self._seen_size, self._seen_seq = report.head.size, report.head.seq
        self._seen = log.fingerprint(report.head.size) if report.head.size else ""
        captured = from_hooks + report.captured
        self.captured += captured
        if captured:
            self.last_capture = self._machine.now()
        unread = [agent.agent for agent in report.agents if agent.failed or agent.problems]
        self.problem = (
            f"parts of {', '.join(unread)} could not be read: `conversation-esaa sync` names them"
            if report.partial
            else ""
        )
        return Look(captured=captured)

    def _take(self) -> None:
        """Hold the workspace's watcher lock, and have a place for what hooks leave."""
        if self._is_locked:
            return
        layout = self._layout
        try:
            self._locked.enter_context(held(layout.watcher_lock, purpose=f"watch {__version__}", wait_s=0.5))
        except LockTimeout:
            who = holder(layout.watcher_lock)
            raise ConversationError(f"another watcher serves this workspace already: {who}") from None
        self._is_locked = True
        make_private_directory(layout.spool)

    def close(self) -> None:
        """Give the lock back."""
        self._locked.close()
        self._is_locked = False


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _told(error: Exception) -> str:
    """What went wrong; never the words of an exception that could quote a conversation."""
    match error:
        case ConversationError():
            return error.message
        case OSError():
            return f"{error.filename or 'the disk'}: {error.strerror or type(error).__name__}"
        case _:
            return f"a fault of conversation-esaa: {type(error).__name__}"
