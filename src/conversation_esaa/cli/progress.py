"""One line that says how far long work is: on a terminal only, rewritten in place, gone when it ends.

No control sequence but the carriage return, so that any terminal will do. Why not a library: docs/adr/0010.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

SILENT_S = 0.5  # what is done by then needs no telling
AGAIN_S = 0.1
UNKNOWN = 80  # columns, where a terminal does not say how many it has


class ProgressLine:
    """Hears of progress (see `progress.Progress`) and shows it on a terminal.

    stream   the terminal; nothing else writes to it while the line is there, or it calls `clear` first.
    clock    seconds that only go forward.
    """

    def __init__(self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._next = clock() + SILENT_S
        self._shown = 0  # characters that are on the line now

    def __call__(self, doing: str, done: int, total: int) -> None:
        """Show it, if the last time is long enough ago."""
        now = self._clock()
        if now < self._next:
            return
        self._next = now + AGAIN_S
        share = f" {min(100, 100 * done // total)} %" if total > 0 else ""
        self._write(f"{doing} …{share}"[: self._columns()])

    def clear(self) -> None:
        """Take the line away: something else is to be written."""
        if self._shown:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def _write(self, text: str) -> None:
        self._stream.write(f"\r{text.ljust(self._shown)}")
        self._stream.flush()
        self._shown = len(text)

    def _columns(self) -> int:
        """One less than there are: a full line would make the terminal begin another one."""
        try:
            columns = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return max(1, (columns or UNKNOWN) - 1)  # containers and serial lines say 0
