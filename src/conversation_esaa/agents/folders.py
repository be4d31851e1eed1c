"""Directories as agents state them, and looking for those that have to do with a workspace.

Coarse on purpose: what is related is read, and the gate judges each turn of it later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from conversation_esaa.agents.listing import listed
from conversation_esaa.agents.places import comparable
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence
    from pathlib import Path

_DRIVE, _URL = lazy(r"/[A-Za-z]:(?:/|$)"), lazy(r"[a-z][a-z0-9+.-]+://")


def path_of(uri: str) -> str:
    """The path that a `file:` URL or a path states; "" for a URL of another kind."""
    if uri.startswith("file://"):
        path = unquote(uri.removeprefix("file://"))
        return without_surrogates(path[1:] if _DRIVE.match(path) else path)
    return "" if _URL.match(uri) else without_surrogates(uri)


def related(paths: Iterable[str], roots: Sequence[str]) -> list[str]:
    """Those of `paths` that are a root, or lie in one or above one. A coarse look: the gate judges later."""
    wanted = [comparable(root) for root in roots]
    return [path for path in paths if any(_touches(comparable(path), root) for root in wanted)]


def entries(parent: Path) -> list[os.DirEntry[str]]:
    """What is in a directory, sorted by name; empty when it is none, or went meanwhile."""
    try:
        return sorted(listed(parent), key=lambda entry: entry.name)
    except OSError:
        return []


def is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a directory, or leads to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _touches(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/") or root.startswith(f"{path}/")
