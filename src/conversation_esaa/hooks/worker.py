"""What a hook starts when nobody else looks into the spool: takes it into the log, and is gone.

Started by `hooks/call.py` with the lock in its hands (`run/worker.lock`), so there is one at a time, in a session
of its own and with none of the agent's pipes. It waits for the log's lock; the hook has long returned.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_esaa.capture import spool
from conversation_esaa.drain import drain
from conversation_esaa.errors import ConversationError, LockTimeout
from conversation_esaa.hooks import call
from conversation_esaa.layout import Layout
from conversation_esaa.log.lock import held
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

LOCK_WAIT_S = 60.0  # for the log; after that the calls wait in the spool for the next worker
NICENESS = 5  # an agent that works has the first right to the machine
DESCRIPTORS = 256  # what an agent may have left open for those that it starts


def main(words: Sequence[str]) -> None:
    """ROOT and, where it was handed over, the descriptor that holds the lock."""
    root = Path(words[0])
    lock = int(words[1]) if len(words) > 1 else -1
    try:
        _detach(root, lock)
        work(root, lock)
    except ConversationError as error:
        call.note(str(root), "worker", error.code, type(error).__name__)
    except Exception as error:  # noqa: BLE001 - nobody would see it
        call.note(str(root), "worker", "defect", type(error).__name__)


def work(root: Path, lock: int = -1) -> None:
    """Drain the spool, as long as nobody else does.

    lock   a descriptor that holds `run/worker.lock`, given back here; -1 when it is to be taken.

    A hook writes first and looks at the lock then; we give the lock back first and look at the spool then. So
    whichever comes last sees the other.
    """
    workspace = Workspace(root, lock_wait_s=LOCK_WAIT_S, catch_up=False)
    if lock >= 0:
        try:
            drain(workspace, pause=time.sleep)
        finally:
            os.close(lock)
    layout = Layout(root)
    while spool.waiting(layout):
        try:
            with held(layout.worker_lock, purpose="hooks", wait_s=0.2):  # a hook holds it for a moment
                drain(workspace, pause=time.sleep)
        except LockTimeout:
            return  # another one


def _detach(root: Path, lock: int) -> None:
    os.closerange(3, max(lock, 3))
    os.closerange(max(lock, 2) + 1, DESCRIPTORS)
    if sys.platform != "win32":
        with suppress(OSError):  # the hook has done it where the system can
            os.setsid()
        os.nice(NICENESS)
    os.chdir(root)
