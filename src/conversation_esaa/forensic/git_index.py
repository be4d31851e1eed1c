"""Which files git tracks below a directory: read from its index, git itself is not run.

Format: git's gitformat-index, versions 2 to 4. What does not fit it is taken for no index at all.
"""

from __future__ import annotations

import os
from pathlib import Path

_HEADER = 12
_STAT = 40  # ten numbers of the file's stat come before the object's name


def tracked_below(directory: Path) -> int:
    """How many files git tracks in `directory` or below; 0 outside of a repository. Raises nothing."""
    for top in directory.parents:
        git = top / ".git"
        if os.path.lexists(git):
            prefix = f"{directory.relative_to(top).as_posix()}/".encode()
            try:
                return sum(
                    name.startswith(prefix) for name in _names((_git_directory(git) / "index").read_bytes())
                )
            except (OSError, ValueError, IndexError):
                return 0
    return 0


def _git_directory(git: Path) -> Path:
    """A linked worktree or a submodule has a file in the place of the directory."""
    if git.is_dir():
        return git
    named = git.read_text("utf-8", "surrogateescape").removeprefix("gitdir:").strip()
    return Path(os.path.normpath(git.parent / named))


def _names(index: bytes) -> list[bytes]:
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if index[:4] != b"DIRC" or version not in (2, 3, 4):
        return []
    for object_name in (20, 32):  # SHA-1 and SHA-256 repositories; the index does not say which it is of
        try:
            return _names_with(index, version, count, object_name)
        except (ValueError, IndexError):
            continue
    return []


def _names_with(index: bytes, version: int, count: int, object_name: int) -> list[bytes]:
    names: list[bytes] = []
    at, name = _HEADER, b""
    for _ in range(count):
        flags_at = at + _STAT + object_name
        extended = index[flags_at] & 0x40
        length = int.from_bytes(index[flags_at : flags_at + 2], "big") & 0xFFF
        name_at = flags_at + (4 if extended else 2)
        kept = 0
        if version == 4:
            dropped, name_at = _varint(index, name_at)
            kept = len(name) - dropped
            if kept < 0:
                raise ValueError
        end = index.index(b"\0", name_at)
        name = name[:kept] + index[name_at:end]
        if not name or length != min(len(name), 0xFFF):
            raise ValueError
        names.append(name)
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return names


def _varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1
