"""One writer at a time: an operating-system lock on `run/write.lock`.

The lock dies with its holder, so nothing has to judge whether one is stale; the file stays and is never
unlinked, because a file that is removed while another waits on it locks nobody out. What is written into
it (pid, host, since, purpose) is for the person who waits, and decides nothing.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.errors import ConversationError, LockTimeout
from conversation_esaa.log.files import make_private_directory, open_file, unreadable, write_all
from conversation_esaa.timestamps import to_utc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_HELD_BY_ANOTHER = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, getattr(errno, "EDEADLK", -1)}
_NOT_HERE = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}
_HOLDER_BYTES = 4096
_WIDTH = 256  # bytes of the holder's words, blanks included
_WINDOWS_LOCK_AT = 1 << 30  # a byte far behind the holder's words: Windows locks hinder reading


class LockUnsupported(ConversationError):
    """The file system of the store has no locks that work."""

    code = "log.lock_unsupported"

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"the file system of {path} cannot lock files, so two writers could mix their events",
            hint="Keep the workspace's .conversation-esaa/ on a local disk; `conversation-esaa verify` checks what is there.",
        )


@contextlib.contextmanager
def held(path: Path, *, purpose: str, wait_s: float) -> Iterator[None]:
    """Hold the lock while the context lasts. Its directory is created, its directory's parent is not.

    wait_s   how long to wait for its holder; 0 asks once.

    Two writers of one process exclude each other too. Raises LockTimeout, LockUnsupported,
    LogUnreadable.
    """
    descriptor, size = _acquired(path, time.monotonic() + wait_s, wait_s)
    try:
        _write_words(descriptor, _holder_words(purpose), size)
        try:
            yield
        finally:
            _write_words(descriptor, b"", size)
    finally:
        os.close(descriptor)  # gives the lock back


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock at this moment. Waits for nobody, writes nothing, raises nothing.

    Two that ask at once do not take each other for a holder. Who wants the lock in that moment has to wait for
    a few microseconds, so nobody should ask for one with `wait_s=0` whose refusal would matter.
    """
    try:
        descriptor, _ = open_file(path, os.O_RDWR)
    except (OSError, ConversationError):  # not there, or nobody could have locked it
        return False
    try:
        return not _try(descriptor, path, shared=True)
    except ConversationError:
        return False
    finally:
        os.close(descriptor)


def holder(path: Path) -> str:
    """Who wrote into the lock file last, in words: `pid 4711 on build-3 (sync, since …)`."""
    try:
        descriptor, _ = open_file(path, os.O_RDONLY)
        try:
            told = msgspec.json.decode(os.read(descriptor, _HOLDER_BYTES))
        finally:
            os.close(descriptor)
        pid, host, purpose, since = (told[key] for key in ("pid", "host", "purpose", "since"))
    except (OSError, ConversationError, msgspec.DecodeError, ValueError, KeyError, TypeError, RecursionError):
        return "another process"
    return f"pid {_plain(pid)} on {_plain(host)} ({_plain(purpose)}, since {_plain(since)})"


def _acquired(path: Path, deadline: float, wait_s: float) -> tuple[int, int]:
    """The descriptor that holds the lock, and the size of its file."""
    pause_s = 0.002
    while True:
        descriptor, found = _opened(path)
        try:
            while not _try(descriptor, path):
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise LockTimeout(
                        f"{holder(path)} is writing to the log and did not finish within {wait_s:g} s",
                        hint="Nothing was written. Try again; the lock goes away with that process.",
                    )
                time.sleep(min(left_s, pause_s * (0.5 + _jitter())))
                pause_s = min(0.05, pause_s * 1.5)
            if _is_named(path, found):
                return descriptor, found.st_size
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # somebody removed the file: the next writer would lock another one


def _opened(path: Path) -> tuple[int, os.stat_result]:
    try:
        try:
            return open_file(path, os.O_RDWR | os.O_CREAT)
        except FileNotFoundError:  # the first time, or somebody removed its directory
            make_private_directory(path.parent)
            return open_file(path, os.O_RDWR | os.O_CREAT)
    except OSError as error:
        raise unreadable(path, error) from error


def _is_named(path: Path, found: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), found)
    except FileNotFoundError:
        return False


def _try(descriptor: int, path: Path, *, shared: bool = False) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _WINDOWS_LOCK_AT, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD_BY_ANOTHER:
            return False
        if error.errno in _NOT_HERE:
            raise LockUnsupported(path) from error
        raise unreadable(path, error) from error
    return True


def _holder_words(purpose: str) -> bytes:
    told = {
        "pid": os.getpid(),
        "host": _host(),
        "since": to_utc(datetime.now(UTC)),
        "purpose": purpose,
    }
    with contextlib.suppress(UnicodeEncodeError):
        return msgspec.json.encode(told)
    return b""


def _write_words(descriptor: int, words: bytes, size: int) -> None:
    """Write `words` over the `size` bytes that were there, with blanks behind them.

    The file keeps its size, since giving it another one twice is dearer than the rest of an append but the sync.
    """
    with contextlib.suppress(OSError):  # a full disk must not take the lock away
        if size > _HOLDER_BYTES:  # not ours
            os.ftruncate(descriptor, 0)
            size = 0
        os.lseek(descriptor, 0, os.SEEK_SET)
        write_all(descriptor, words.ljust(max(size, _WIDTH)))


@cache  # a system call, and no small one
def _host() -> str:
    if hasattr(os, "uname"):
        return os.uname().nodename
    import socket  # only where nothing else tells

    return socket.gethostname()


def _jitter() -> float:
    """From 0 to 1, so that two who wait do not ask at the same moments for ever."""
    import random  # only who waits pays for it

    return random.random()  # noqa: S311  # no secret


def _plain(value: object) -> str:
    return "".join(char for char in str(value)[:80] if char.isprintable())
