"""Sessions in a text that only grows and whose records are no lines: Markdown, mostly.

Where one record ends and the next begins is the agent's own grammar, so its module divides the text. A piece
that is still being written is not handed over, and reading goes on at its beginning.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol, cast

from conversation_esaa.agents.jsonl import BUFFER
from conversation_esaa.agents.storage import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from conversation_esaa.agents.jsonl import Lines
    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile


class DividesText(Protocol):
    """What the module of an agent offers whose sessions are such a text."""

    def pieces(self, text: BinaryIO, file: SessionFile, lines: Lines, state: ReaderState) -> Iterator[Any]:
        """The finished pieces from `lines.offset` on, for the module's own `read`; `lines` moves behind each.

        In whichever portions a growing file is read, it gives the same pieces.
        """


def beside(file: SessionFile) -> Sequence[str]:
    """Nothing: what is said is in the one file."""
    del file
    return ()


@contextlib.contextmanager
def opened(file: SessionFile) -> Iterator[Opened]:
    """The file, read from where its reader left off. Raises OSError."""
    with file.path.open("rb", buffering=BUFFER) as handle:

        def records(lines: Lines, module: AgentModule, state: ReaderState) -> Iterator[Any]:
            handle.seek(lines.offset)
            return cast("DividesText", module).pieces(handle, file, lines, state)

        yield Opened(records, grows=handle)
