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
    from pathlib import Path


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


def is_anything(path: str) -> bool:
    """Whether there is something; False where we may not look."""
    if witness := _witness.get():
        witness.kind(path)
    return os.path.exists(path)  # noqa: PTH110 - raises nothing, in any version


def real_path(path: str) -> str:
    """`path` with its links followed; "" for what is no absolute path here. Raises nothing."""
    try:
        found = os.path.realpath(path) if os.path.isabs(path) else ""
    except (OSError, ValueError):  # a NUL or half a character in it
        return ""
    if found != path and found and (witness := _witness.get()):
        witness.real(path)
    return found


def entries(parent: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    """What is in a directory, by name, links last; empty when it is none, or went meanwhile."""
    try:
        return sorted(listed(parent), key=lambda entry: (entry.is_symlink(), entry.name))
    except OSError:
        return []


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a directory, or leads to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def paths(parent: Path, *, folders: bool = False) -> list[Path]:
    """The files in `parent`, or its folders, by name; empty when it is none, or went meanwhile."""
    try:
        return sorted(parent / entry.name for entry in listed(parent) if _is(entry, folders=folders))
    except OSError:
        return []


def logs(folder: Path, seen: set[str]) -> list[Path]:
    """The JSONL files in `folder`, each real one once; empty when it is none, or went meanwhile.

    seen   the real paths so far; those that are found are added.
    """
    real = os.path.realpath(folder)
    found = []
    for entry in entries(folder):
        if not entry.name.endswith(".jsonl") or is_folder(entry):
            continue
        name = os.path.realpath(entry.path) if entry.is_symlink() else f"{real}{os.sep}{entry.name}"
        if name not in seen:
            seen.add(name)
            found.append(folder / entry.name)
    return found


def _is(entry: os.DirEntry[str], *, folders: bool) -> bool:
    try:
        return entry.is_dir() if folders else entry.is_file()
    except OSError:  # a link that leads to itself
        return False
