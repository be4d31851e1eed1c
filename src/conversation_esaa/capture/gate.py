"""The gate: does something said in a directory belong to this workspace?

Decided by each record's own working directory: the root or below, and the nearest enclosing workspace
wins. Paths are compared as text after one normalisation, so that logs from another machine, a deleted
directory or the other side of WSL are judged like any other.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING
from urllib.parse import unquote

from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_DRIVE = lazy(r"([A-Za-z]):(?=/|$)")
_WSL = lazy(r"//(?:wsl\$|wsl\.localhost|wsl)/([^/]+)(/.*)?", re.IGNORECASE)
_MOUNTED_DRIVE = lazy(r"/mnt/([A-Za-z])(?=/|$)")
_LONGEST = 32_767  # characters of a path, on any system; a longer one is no directory


class Verdict(Enum):
    """What the gate says of a directory."""

    ADMITTED = "admitted"
    FOREIGN = "foreign"  # outside all roots
    NESTED = "nested"  # below a root, in a workspace of its own
    UNKNOWN = "unknown"  # the log does not say where


class Gate:
    """Judges directories for one workspace, each once.

    roots      absolute paths as text: the workspace root and what config.toml adds to it.
    has_store  whether a directory holds a `.conversation-esaa/`; finds nested workspaces.
    resolve    the real path of a path (symbolic links followed), or the path itself.
    """

    def __init__(
        self, roots: Iterable[str], *, has_store: Callable[[str], bool], resolve: Callable[[str], str]
    ) -> None:
        self._roots = frozenset(filter(None, map(normalise, roots)))
        self._has_store = has_store
        self._resolve = resolve
        self._verdicts: dict[str, Verdict] = {"": Verdict.UNKNOWN}

    def judge(self, cwd: str) -> Verdict:
        """The verdict on a recorded working directory. Costs a look at the disk the first time only."""
        verdict = self._verdicts.get(cwd)
        if verdict is None:
            verdict = self._verdicts[cwd] = self._judge(cwd)
        return verdict

    def _judge(self, cwd: str) -> Verdict:
        if len(cwd) > _LONGEST:
            return Verdict.FOREIGN
        recorded, real = normalise(cwd), normalise(self._resolve(cwd))
        for spelling in dict.fromkeys((real, recorded)):  # where a link leads weighs more than where it lies
            for ancestor in ancestors(spelling):
                if ancestor in self._roots:
                    return Verdict.ADMITTED
                if self._has_store(ancestor):
                    inside = any(above in self._roots for above in ancestors(ancestor))
                    return Verdict.NESTED if inside else Verdict.FOREIGN
        return Verdict.FOREIGN


def normalise(path: str) -> str:
    r"""One spelling per directory; "" for what is no absolute path.

    `\\` and `/` are the same, `.` and `..` are taken out, trailing and doubled separators go. Windows
    drive paths, and drives mounted at `/mnt/<letter>`, do not know case: they are case-folded. The two
    spellings of a WSL distribution's share are one, and stay distinct from a bare Linux path, which does
    not say its distribution. A `file://` URL is decoded.
    """
    if path.startswith("file://"):
        path = unquote(path.removeprefix("file://"))
        if _DRIVE.match(path[1:]):
            path = path[1:]
    text = path.replace("\\", "/") if _looks_windows(path) else path
    prefix = ""
    if text[1:2] == ":" and (drive := _DRIVE.match(text)):
        prefix, text = f"{drive[1].lower()}:", text[2:] or "/"
    elif text.startswith("//"):
        prefix, text = "/", text[1:]  # a network share
    if not text.startswith("/"):
        return ""
    cleaned = prefix + (_without_dots(text) or ("" if prefix else "/"))
    if cleaned.startswith("//") and (share := _WSL.fullmatch(cleaned)):
        return f"//wsl/{share[1].casefold()}{share[2] or ''}"  # below it, a Linux path, which knows case
    if prefix or (cleaned.startswith("/mnt/") and _MOUNTED_DRIVE.match(cleaned)):
        return cleaned.casefold()
    return cleaned


def ancestors(normalised: str) -> Iterator[str]:
    """A normalised path, then each directory above it, the nearest first."""
    path = normalised
    while path:
        yield path
        if path == "/":
            return
        parent = path.rpartition("/")[0]
        path = parent or ("/" if normalised.startswith("/") else "")


def _looks_windows(path: str) -> bool:
    return path.startswith("\\") or (path[1:2] == ":" and bool(_DRIVE.match(path.replace("\\", "/", 1))))


def _without_dots(text: str) -> str:
    parts: list[str] = []
    for part in text.split("/"):
        if part == "..":
            parts[-1:] = []
        elif part not in ("", "."):
            parts.append(part)
    return "".join(f"/{part}" for part in parts)
