"""The ways in which agents keep sessions: each is written once, and a `SessionFile` names its own.

A kind is a module that offers `beside` and `opened` (see `Storage`), and a line in KINDS. What its records mean
is not its business: that is the agent's module, which gets them one after the other.

| kind | what lies on the disk | after a change |
|---|---|---|
| `JSONL` | a file that grows, an object a line | read on from the byte where it was left |
| `DOCUMENT` | a file with one JSON object, written anew each time | read as a whole |
| `TREE` | a tree of small JSON files | read as a whole |
| `SQLITE` | a database with many sessions, in use by its agent | the agent's module asks for what its state lacks |

Reading again from the beginning is always right and only costs time: a turn is known by its identity.
"""

from __future__ import annotations

import importlib
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import BinaryIO

    from conversation_esaa.agents.jsonl import Lines
    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile


class Kind(StrEnum):
    """How a session is kept."""

    JSONL = "jsonl"
    DOCUMENT = "document"
    TREE = "tree"
    SQLITE = "sqlite"


KINDS = {
    Kind.JSONL: "conversation_esaa.agents.jsonl",
    Kind.DOCUMENT: "conversation_esaa.agents.document",
    Kind.TREE: "conversation_esaa.agents.tree",
    Kind.SQLITE: "conversation_esaa.agents.sqlite",
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
