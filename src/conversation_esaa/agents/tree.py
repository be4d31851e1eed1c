"""Sessions that are a tree of small JSON files, each written anew when it changes.

Which files, and in which order, is the module's to know; here each is read, and a bad one is named. There is
no place to go on from: after a change the tree is read as a whole.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol, cast

from conversation_esaa.agents.jsonl import Lines, read_document_bytes
from conversation_esaa.agents.storage import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from conversation_esaa.agents.registry import AgentModule, ReaderState, SessionFile


class ReadsTrees(Protocol):
    """What the module of an agent offers whose sessions are trees."""

    def documents(self, tree: Tree, file: SessionFile) -> Iterator[Any]:
        """The records of a session, in order, for the module's own `read`."""


class Tree:
    """Reads the files of one session. `lines` counts them."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    def document(self, path: Path) -> dict[str, Any]:
        """The JSON object in a file; {} when there is no file, or none that can be read. Raises OSError."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return {}
        own = Lines()
        found: dict[str, Any] = next(read_document_bytes(content, own), {})
        reason = own.bad[0].reason if own.bad else "" if content else "empty"
        if reason:
            self.lines.name_bad(f"{path.parent.name}/{path.name}: {reason}")
        self.lines.line_no += 1
        return found


def beside(file: SessionFile) -> Sequence[str]:
    """What its module named."""
    return file.beside


@contextlib.contextmanager
def opened(file: SessionFile) -> Iterator[Opened]:
    """The files, read through their module's `documents`. Raises OSError, when records are asked for."""

    def records(lines: Lines, module: AgentModule, state: ReaderState) -> Iterator[Any]:
        del state
        return cast("ReadsTrees", module).documents(Tree(lines), file)

    yield Opened(records)
