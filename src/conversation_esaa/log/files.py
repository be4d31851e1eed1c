"""Private files and directories, whatever the umask, and writes that are on the disk when they return."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING

from conversation_esaa.errors import LogUnreadable
from conversation_esaa.layout import DIRECTORY_MODE, FILE_MODE

if TYPE_CHECKING:
    from pathlib import Path

# O_NONBLOCK: a pipe in the place of a file must not make us wait. O_NOFOLLOW: nor a link lead us away.
_FLAGS = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)


def make_private_directory(path: Path) -> None:
    """Create one directory with mode 0700; its parent is there. One that exists stays as it is."""
    try:
        path.mkdir(DIRECTORY_MODE)
    except FileExistsError:
        return
    path.chmod(DIRECTORY_MODE)  # the umask may have taken bits away
    sync_directory(path.parent)


def open_file(path: Path, flags: int) -> tuple[int, os.stat_result]:
    """A descriptor of a regular file, and what it is; created with mode 0600 when `flags` has O_CREAT.

    Raises LogUnreadable for anything that is no regular file, symbolic links included: a store that
    came with a cloned repository must not make us write somewhere else. Raises OSError otherwise.
    """
    creating = flags & os.O_CREAT
    try:
        descriptor = os.open(path, flags & ~os.O_CREAT | _FLAGS)
    except FileNotFoundError:
        if not creating:
            raise
        return _created(path, flags)
    except OSError as error:
        if path.is_symlink():
            raise not_a_file(path) from error
        raise
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise not_a_file(path)
    return descriptor, found


def read_at(descriptor: int, offset: int, length: int) -> bytes:
    """`length` bytes from `offset` on, fewer only where the file ends. Raises OSError."""
    data = part = _part(descriptor, offset, length)
    while part and len(data) < length:
        part = _part(descriptor, offset + len(data), length - len(data))
        data += part
    return data


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, in one call where the system takes it whole. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def sync(descriptor: int) -> None:
    """Return when the bytes are on the disk. Raises OSError."""
    getattr(os, "fdatasync", os.fsync)(descriptor)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the system knows such a thing."""
    with contextlib.suppress(OSError):  # Windows opens no directories; some file systems sync none
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def not_a_file(path: Path) -> LogUnreadable:
    """The refusal of a link, a directory or a device where a file should be."""
    return LogUnreadable(
        f"{path} is not a regular file",
        hint="Put the file itself there; links are not followed, so that no repository can lead writes away.",
    )


def unreadable(path: Path, error: OSError) -> LogUnreadable:
    """What the system said about `path`, as an error of ours."""
    return LogUnreadable(
        f"{path}: {error.strerror or type(error).__name__}",
        hint="Nothing was changed. `conversation-esaa verify` checks owner and modes; look for free space too.",
    )


def _part(descriptor: int, offset: int, length: int) -> bytes:
    if sys.platform == "win32":  # which has no pread
        os.lseek(descriptor, offset, os.SEEK_SET)
        return os.read(descriptor, length)
    return os.pread(descriptor, length, offset)


def _created(path: Path, flags: int) -> tuple[int, os.stat_result]:
    try:
        descriptor = os.open(path, flags | os.O_CREAT | os.O_EXCL | _FLAGS, FILE_MODE)
    except FileExistsError:
        return open_file(path, flags & ~os.O_CREAT)  # another process was faster
    with contextlib.suppress(AttributeError):  # os.fchmod is not everywhere
        os.fchmod(descriptor, FILE_MODE)
    sync_directory(path.parent)
    return descriptor, os.fstat(descriptor)
