"""Looking around on the disk, in a way that can be told later: what did it depend on?

Discovery lists directories and looks at side files. Whoever runs it may hand in a witness, which is told of
everything that was looked at before it is; when nothing of that has changed, neither has what was found.
"""

from __future__ import annotations

import contextlib
import os
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


class Witness(Protocol):
    """Is told of what is looked at, before it is."""

    def content(self, path: str) -> None:
        """What a file holds, or which names a directory has, or that there is nothing."""

    def written(self, path: str) -> None:
        """As `content`, for a file whose owner is set by looking at it."""

    def kind(self, path: str) -> None:
        """What is at the end of a path: a file, a directory, nothing; which one, and not what is in it."""

    def real(self, path: str) -> None:
        """Where the links in a path lead."""


_witness: ContextVar[Witness | None] = ContextVar("witness", default=None)


@contextlib.contextmanager
def witnessed_by(witness: Witness | None) -> Iterator[None]:
    """While the context lasts, `witness` is told."""
    token = _witness.set(witness)
    try:
        yield
    finally:
        _witness.reset(token)


def listed(directory: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    """The entries of a directory, in no order. Raises OSError as `os.scandir` does."""
    depends_on(directory)
    with os.scandir(directory) as found:
        entries = list(found)
    if witness := _witness.get():
        for entry in entries:
            if entry.is_symlink():  # where it leads may change without the directory changing
                witness.kind(entry.path)
    return entries


def depends_on(path: str | os.PathLike[str]) -> None:
    """What `path` holds is about to decide something."""
    if witness := _witness.get():
        witness.content(os.fspath(path))


def depends_on_what_is_written(path: str | os.PathLike[str]) -> None:
    """As `depends_on`, for a file whose owner is set by looking at it."""
    if witness := _witness.get():
        witness.written(os.fspath(path))


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is a file; False where we may not look."""
    if witness := _witness.get():
        witness.kind(os.fspath(path))
    return os.path.isfile(path)  # noqa: PTH113 - raises nothing, in any version


def is_directory(path: str | os.PathLike[str]) -> bool:
    """Whether there is a directory; False where we may not look."""
    if witness := _witness.get():
        witness.kind(os.fspath(path))
    return os.path.isdir(path)


def real_path(path: str) -> str:
    """`path` with its links followed; "" for what is no absolute path here. Raises nothing."""
    try:
        found = os.path.realpath(path) if os.path.isabs(path) else ""
    except (OSError, ValueError):  # a NUL or half a character in it
        return ""
    if found != path and found and (witness := _witness.get()):
        witness.real(path)
    return found
