"""SHA-256 at a price that fits the work: a few digests without OpenSSL, many with it.

`hashlib` loads OpenSSL, which takes a third of the time that an empty interpreter takes to start; a command that
takes in one turn makes two dozen digests of a kilobyte. Python has an implementation of its own that is there
at once, and slower by three microseconds a kilobyte. Its module `random` makes the same choice.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from hashlib import _Hash as Digest

FEW = 200  # digests; with so many, OpenSSL saves what loading it costs
SMALL = 65_536  # bytes at once


class _Sha256:
    """`hashlib.sha256`, loaded when it pays."""

    def __init__(self) -> None:
        self._few: Callable[[bytes], Digest] | None = None
        self._many: Callable[[bytes], Digest] | None = None
        self._left = FEW

    def __call__(self, data: bytes = b"") -> Digest:
        """The digest of `data`, to which more can be added."""
        if self._many is not None:
            return self._many(data)
        self._left -= 1
        if self._left <= 0 or len(data) > SMALL or "hashlib" in sys.modules:
            self._many = many()
            return self._many(data)
        if self._few is None:
            self._few = _own()
        return self._few(data)


sha256 = _Sha256()


def many() -> Callable[..., Digest]:
    """OpenSSL's, for whoever knows that there is much to digest."""
    import hashlib

    return hashlib.sha256


def _own() -> Callable[[bytes], Digest]:
    """Python's; OpenSSL's where Python was built without."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256 as own
        else:
            from _sha256 import sha256 as own  # type: ignore[import-not-found]
    except ImportError:
        return many()
    return cast("Callable[[bytes], Digest]", own)
