"""The watcher's loop: hear of a change, look at the workspaces, wait again.

    the user's lock → the registered workspaces → hear → look at each → say and write down what came of it

One process for all workspaces and all agents. It keeps a few values for each workspace, and nothing for a turn.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from conversation_esaa import __version__
from conversation_esaa.errors import ConversationError
from conversation_esaa.layout import Layout
from conversation_esaa.log.lock import held
from conversation_esaa.registered import list_file, private_state_directory, registered
from conversation_esaa.watch import state
from conversation_esaa.watch.changes import POLL_S, Deaf, Heard, Polling, listen
from conversation_esaa.watch.retention import warnings
from conversation_esaa.watch.served import Served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from threading import Event

    from conversation_esaa.machine import Machine
    from conversation_esaa.watch.changes import Ear

HEARTBEAT_S = 60.0  # until a look that nothing asked for: some file systems tell nothing
SETTLED_S = 3.0  # after a capture: only what is two seconds old can be remembered as known
FIRST_RETRY_S, LAST_RETRY_S = 2.0, 60.0
RETENTION_S = 3_600.0  # between two looks at what agents are about to delete
# Polling waits that many times as long as its looks take, so it costs a hundredth of a core, and a tenth where
# something keeps it from remembering that nothing was new.
KNOWN_PARTS, UNKNOWN_PARTS = 100, 10
UNTOLD = 2  # captures in a row that no event told of: then events do not reach us


class Watcher:
    """Serves every registered workspace until it is stopped, or none is left.

    stop    set by whoever wants it to end; it does within a second or two.
    say     told what a person at the terminal wants to read, a line each.
    poll    why not to ask the system for events; "" means to ask.
    """

    def __init__(
        self,
        machine: Machine,
        *,
        stop: Event,
        say: Callable[[str], None],
        poll: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.machine, self._stop, self._say, self._poll, self._clock = machine, stop, say, poll, clock
        self._since = machine.now()
        self._words: list[str] = []  # still to be said
        self._listed: list[Path] = []
        self._list_stat: tuple[int, int, int] | None = None
        self._served: dict[Path, Served] = {}
        self._without_store: set[Path] = set()  # of those that are registered; each was told of once
        self._places: frozenset[str] | None = None
        self._ear: Ear = Polling("not begun yet", stop)
        self._listen = True  # the places may be others than those we listen at
        self._untold = 0
        self._warnings: list[str] = []
        self._warn_at = 0.0
        self._written = state.WatcherFile()

    def run(self) -> None:
        """Watch. Raises LockTimeout when another watcher of this user does, and StateUnusable."""
        private_state_directory(self.machine)
        with held(state.lock_file(self.machine), purpose=f"watch {__version__}", wait_s=2.0):
            self._listed = registered(self.machine)
            self._tell()
            with self._closing():
                self._watch()

    @contextmanager
    def _closing(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._ear.close()
            for each in self._served.values():
                each.close()

    def _watch(self) -> None:
        heard = Heard()
        while not self._stop.is_set():
            self._serve_the_registered()
            if not self._served:
                self._words.append("no registered workspace is left to watch")
                break
            if heard.reshaped or self._listen:
                self._listen_anew()
            for each in list(self._served.values()):
                self._look(each, heard)
            self._warn()
            self._tell()
            heard = self._hear()
        else:
            self._words.append("stopped")
        self._tell()

    # --- which workspaces

    def _serve_the_registered(self) -> None:
        """Begin with those that came, let go of those that went. Costs two stats for each when all is as it was."""
        self._read_list()
        for root in [root for root in self._served if root not in self._listed]:
            self._let_go(root, "not registered any more")
        for root in self._listed:
            served = self._served.get(root)
            if served and not served.is_there():
                self._let_go(root, "its store is gone; it is not watched any more, and no new one is made")
                self._without_store.add(root)
            elif served and served.has_shrunk() and not served.failures:
                served.due_at = 0.0
            if root not in self._served:
                self._begin(root)

    def _begin(self, root: Path) -> None:
        try:
            there = Layout(root).store.is_dir()
        except OSError:
            there = False
        if there:
            self._without_store.discard(root)
            served = self._served[root] = Served(root, self.machine)
            served.begin()
            self._words.append(f"watching {root}")
            self._listen = True
        elif root not in self._without_store:
            self._without_store.add(root)
            self._words.append(
                f"{root} has no store; `conversation-esaa watch --forget DIR` strikes it off the list"
            )

    def _let_go(self, root: Path, why: str) -> None:
        self._served.pop(root).close()
        self._words.append(f"{root}: {why}")
        self._listen = True

    def _read_list(self) -> None:
        try:
            found = list_file(self.machine).stat()
            seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        except OSError:
            seen = None
        if seen == self._list_stat:
            return
        self._list_stat = seen
        try:
            self._listed = registered(self.machine)
        except ConversationError as error:  # the list we have goes on to hold
            self._words.append(f"{error.message}. {error.hint}")

    # --- hearing

    def _listen_anew(self) -> None:
        """Listen where the sessions are now. What came before we listened is found by a look."""
        self._listen = False
        places: frozenset[str] = frozenset().union(*(each.places() for each in self._served.values()))
        if places == self._places:
            return
        former, self._places = self._ear, places
        self._ear = listen(places, self._stop, poll=self._poll)
        former.close()
        self._untold = 0
        if (self._ear.mode, self._ear.why) != (former.mode, former.why):
            how = "told by the system" if self._ear.mode == "events" else f"by polling ({self._ear.why})"
            self._words.append(f"changes are found {how}")
        self._tell()
        for each in self._served.values():
            if not each.failures:
                each.due_at = 0.0

    def _hear(self) -> Heard:
        try:
            return self._ear.wait()
        except Deaf as deaf:
            self._poll_from_now_on(str(deaf))
            return Heard(changed=True)

    def _poll_from_now_on(self, why: str) -> None:
        self._ear.close()
        self._poll, self._ear = why, Polling(why, self._stop)
        self._words.append(f"changes are found by polling from now on ({why})")

    # --- looking

    def _look(self, served: Served, heard: Heard) -> None:
        began = self._clock()
        asked = heard.changed and not served.failures  # one that fails is tried again when it is due
        if not asked and began < served.due_at:
            return
        look = served.look()
        now = self._clock()
        for words in look.words:
            self._words.append(f"{served.root}: {words}")
        if look.captured:
            self._words.append(f"{served.root}: {look.captured} new event{'s' if look.captured > 1 else ''}")
        if served.failures:
            wait = min(LAST_RETRY_S, FIRST_RETRY_S * 2 ** min(served.failures - 1, 10))
        elif self._ear.mode == "polling":
            parts = 0 if look.captured else KNOWN_PARTS if look.known else UNKNOWN_PARTS
            wait = min(HEARTBEAT_S, max(0.9 * POLL_S, parts * (now - began)))
        else:
            wait = HEARTBEAT_S if look.known or not look.captured else SETTLED_S
        served.due_at = now + wait
        if self._ear.mode == "events" and not asked and not look.known:
            self._listen = True  # what changed unheard may be where we do not listen
        if heard.changed:
            self._untold = 0
        elif look.captured and self._ear.mode == "events":
            self._untold += 1
            if self._untold > UNTOLD:
                self._poll_from_now_on("the file system tells of no changes")

    # --- telling

    def _warn(self) -> None:
        """Say what an agent is about to delete uncaptured, once for each such thing."""
        if self._clock() < self._warn_at:
            return
        self._warn_at = self._clock() + RETENTION_S
        found: list[str] = []
        for each in self._served.values():
            with suppress(ConversationError, OSError):  # its look has told
                found += warnings(each.workspace)
        for warning in found:
            if warning not in self._warnings:
                self._words.append(warning)
        self._warnings = found

    def _tell(self) -> None:
        """Write down how it stands, then say what happened: whoever hears it finds it written."""
        self._write()
        words, self._words = self._words, []
        for each in words:
            self._say(each)

    def _write(self) -> None:
        workspaces = [
            state.Watched(
                root=str(each.root),
                state="failing" if each.problem else "watched",
                captured=each.captured,
                last_capture=each.last_capture,
                problem=each.problem,
            )
            for each in self._served.values()
        ]
        told = state.WatcherFile(
            pid=os.getpid(),
            version=__version__,
            since=self._since,
            mode=self._ear.mode,
            why=self._ear.why,
            workspaces=workspaces,
            warnings=self._warnings,
        )
        if told != self._written:
            with suppress(OSError):  # a full disk: only those who ask miss it
                state.write(state.state_file(self.machine), told)
                self._written = told
