"""What a file was before we changed it, so that it can be given back: one record per change, for its owner alone.

Kept in the store of the workspace for what is the project's, else in the per-user state directory; never beside the
agent's file. A record that is lost costs nothing but exact blanks: entries of ours are found without it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.hooks.surface import Kept
from conversation_esaa.layout import DIRECTORY_MODE
from conversation_esaa.replace import replace_file

if TYPE_CHECKING:
    from pathlib import Path


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One file that we changed."""

    file: str
    created: bool  # by us
    before: bytes  # without anything of ours
    after_sha256: str  # as we wrote it
    kept: Kept
    made: list[str] = []  # directories that we made for it, the outermost first


def digest(content: bytes) -> str:
    """What tells one content from another."""
    return hashlib.sha256(content).hexdigest()


class Records:
    """The records in one directory; made when the first is written."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def load(self, key: str) -> Record | None:
        """The record of one change; None when there is none that can be read."""
        try:
            return msgspec.json.decode(self._path(key).read_bytes(), type=Record)
        except (OSError, msgspec.DecodeError):
            return None

    def save(self, key: str, record: Record) -> None:
        """Keep a record. Raises OSError."""
        self._directory.parent.mkdir(parents=True, exist_ok=True)
        if not self._directory.is_dir():
            self._directory.mkdir(DIRECTORY_MODE)
            self._directory.chmod(DIRECTORY_MODE)
        replace_file(self._path(key), msgspec.json.encode(record))

    def drop(self, key: str) -> None:
        """Forget a change that was taken back. Raises OSError."""
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._directory / f"{digest(key.encode('utf-8', 'surrogatepass'))[:24]}.json"
