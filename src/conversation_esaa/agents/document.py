"""Sessions that are one JSON object in one file, which their agent writes anew each time.

The object is one record. There is no place in it to go on from: after a change it is read as a whole, and what
the log has already is recognised by identity. Memory: the file, once; such formats allow nothing else.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.jsonl import read_document_bytes
from conversation_esaa.agents.storage import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conversation_esaa.agents.jsonl import Lines
    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile


def beside(file: SessionFile) -> Sequence[str]:
    """Nothing: it is one file."""
    del file
    return ()


@contextlib.contextmanager
def opened(file: SessionFile) -> Iterator[Opened]:
    """The file, read when the records are asked for. Raises OSError."""

    def records(lines: Lines, module: AgentModule, state: ReaderState) -> Iterator[Any]:
        del module, state
        yield from read_document_bytes(file.path.read_bytes(), lines)

    yield Opened(records)
