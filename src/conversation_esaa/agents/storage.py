"""The ways in which agents keep sessions: each is written once, and a `SessionFile` names its own.

A kind is a module that offers `beside` and `opened` (see `Storage`), and a line in KINDS. What its records mean
is not its business: that is the agent's module, which gets them one after the other.

| kind | what lies on the disk | after a change |
|---|---|---|
| `JSONL` | a file that grows, an object a line | read on from the byte where it was left |
| `DOCUMENT` | a file with one JSON object or array, written anew each time | read as a whole |
| `TREE` | a tree of small JSON files | read as a whole |
| `SQLITE` | a database with many sessions, in use by its agent | the agent's module asks for what its state lacks |
| `JOURNAL` | a file of operations on one JSON object, an operation a line; sometimes written anew | replayed as a whole |
| `TEXT` | a file that grows and is no JSON; its agent's module divides it | read on from where the last finished piece ends |

Reading again from the beginning is always right and only costs time: a turn is known by its identity.
"""

from __future__ import annotations

import contextlib
import importlib
from contextvars import ContextVar
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path
    from typing import BinaryIO

    from conversation_esaa.agents.jsonl import Lines
    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile


class Kind(StrEnum):
    """How a session is kept."""

    JSONL = "jsonl"
    DOCUMENT = "document"
    TREE = "tree"
    SQLITE = "sqlite"
    TEXT = "text"
    JOURNAL = "journal"


KINDS = {
    Kind.JSONL: "conversation_esaa.agents.jsonl",
    Kind.DOCUMENT: "conversation_esaa.agents.document",
    Kind.TREE: "conversation_esaa.agents.tree",
    Kind.SQLITE: "conversation_esaa.agents.sqlite",
    Kind.TEXT: "conversation_esaa.agents.grown_text",
    Kind.JOURNAL: "conversation_esaa.agents.journal",
}


class Opened(NamedTuple):
    """A session that is open for reading."""

    records: Callable[[Lines, AgentModule, ReaderState], Iterator[Any]]
    """The records that the state has not read, in order. `lines` is where reading begins and, when the iterator
    has ended, where it would go on: an offset of 0 is the beginning, for a kind that knows no other place.
    Raises OSError only."""
    grows: BinaryIO | None = None
    """The bytes, when they are only ever appended to and `lines.offset` counts them. Whoever goes on behind an
    offset makes sure by a fingerprint that what lies before it is still what was read."""


class Storage(Protocol):
    """What the module of a kind offers."""

    def beside(self, file: SessionFile) -> Sequence[str]:
        """Paths of what belongs to the session and can change without `file.path` changing. Raises nothing."""

    def opened(self, file: SessionFile) -> AbstractContextManager[Opened]:
        """Opens the session, and writes nothing. Raises OSError."""


def storage(kind: Kind) -> Storage:
    """The module of a kind."""
    return cast("Storage", importlib.import_module(KINDS[kind]))


class SharedFile(Protocol):
    """A file that many sessions share, open."""

    def close(self) -> None:
        """Let go of it."""


_kept: ContextVar[dict[Path, SharedFile] | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def kept_open() -> Iterator[None]:
    """While the context lasts, what many sessions share is opened once."""
    files: dict[Path, SharedFile] = {}
    token = _kept.set(files)
    try:
        yield
    finally:
        _kept.reset(token)
        for file in files.values():
            file.close()


def kept() -> dict[Path, SharedFile] | None:
    """What is kept open, those that were opened last at the end; None outside of `kept_open`."""
    return _kept.get()
