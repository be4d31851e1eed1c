"""Where VS Code and the editors made from it keep what their extensions store: written once, for all of them.

    <home>/<editor>/User/globalStorage/<extension>/    of an extension, for all projects
    <home>/<editor>/User/workspaceStorage/<hash>/      of a window's project, which `workspace.json` names

`home` is where programs keep their settings on this system.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_directory, listed
from conversation_esaa.canonical import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PLATFORM: str = sys.platform

_EDITORS = (
    *("Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders"),
    *("Cursor", "Windsurf", "Windsurf - Next", "Antigravity", "Kiro", "Positron", "Trae"),
)
_SERVERS = (
    *(".vscode-server", ".vscode-server-insiders", ".vscodium-server"),
    *(".cursor-server", ".windsurf-server"),
)
_HOMES = ((".config",), ("Library", "Application Support"), ("AppData", "Roaming"))
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[\]}])', re.DOTALL)


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$VSCODE_APPDATA`, which the editors honour, else where the system has the settings of programs."""
    if moved := environ.get("VSCODE_APPDATA"):
        return Path(moved)
    if PLATFORM == "win32":
        return Path(environ.get("APPDATA") or user_home / "AppData" / "Roaming")
    if PLATFORM == "darwin":
        return user_home / "Library" / "Application Support"
    return Path(environ.get("XDG_CONFIG_HOME") or user_home / ".config")


def person_of(home: Path) -> Path | None:
    """The home directory of the user, when `home` is where it usually is in there."""
    for parts in _HOMES:
        if home.parts[-len(parts) :] == parts:
            return home.parents[len(parts) - 1]
    return None


def user_folders(home: Path) -> list[Path]:
    """The folder `User` of every editor that was used here, servers of remote windows included."""
    person = person_of(home)
    folders = [home / editor / "User" for editor in _EDITORS]
    folders += [person / server / "data" / "User" for server in _SERVERS] if person else []
    return [folder for folder in folders if is_directory(folder)]


def folders_of_window(storage: Path) -> list[str]:
    """The directories of the project that a folder in `workspaceStorage` belongs to, as paths.

    None for a remote window: its directories are on another machine, though the talk is here.
    """
    described = storage / "workspace.json"
    depends_on(described)
    match read_document(described):
        case {"folder": str(uri)}:
            return [path for path in [path_of(uri)] if path]
        case {"workspace": str(uri)} | {"configuration": str(uri)}:
            return _folders_in(Path(path_of(uri))) if path_of(uri) else []
    return []


def path_of(uri: str) -> str:
    """The path that a `file:` URL or a path states; "" for a URL of another kind."""
    if uri.startswith("file://"):
        path = unquote(uri.removeprefix("file://"))
        return without_surrogates(path[1:] if re.match(r"/[A-Za-z]:(?:/|$)", path) else path)
    return "" if re.match(r"[a-z][a-z0-9+.-]+://", uri) else without_surrogates(uri)


def related(paths: Iterable[str], roots: Sequence[str]) -> list[str]:
    """Those of `paths` that are a root, or lie in one or above one. A coarse look: the gate judges later."""
    wanted = [comparable(root) for root in roots]
    return [path for path in paths if any(_touches(comparable(path), root) for root in wanted)]


def comparable(path: str) -> str:
    """One spelling for comparing: case and the form of Unicode do not count, nor the kind of separators."""
    return unicodedata.normalize("NFC", path).replace("\\", "/").rstrip("/").casefold()


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


def _folders_in(workspace: Path) -> list[str]:
    """The folders of a project of several, relative to the file that names them."""
    import json

    depends_on(workspace)
    try:
        text = workspace.read_bytes().decode("utf-8", "replace")
        named = json.loads(_COMMENT.sub(lambda found: found[1] or "", text), strict=False)["folders"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    found = []
    for folder in named if isinstance(named, list) else []:
        match folder:
            case {"uri": str(uri)}:
                found.append(path_of(uri))
            case {"path": str(path)}:
                found.append(without_surrogates(os.path.normpath(workspace.parent / path)))
    return [path for path in found if path]
