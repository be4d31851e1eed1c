"""Where VS Code and the editors made from it keep what their extensions store: written once, for all of them.

    <home>/<editor>/User/globalStorage/<extension>/    of an extension, for all projects
    <home>/<editor>/User/workspaceStorage/<hash>/      of a window's project, which `workspace.json` names

`home` is where programs keep their settings on this system.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from conversation_esaa.agents import listing, places
from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, is_directory
from conversation_esaa.agents.places import directory_of
from conversation_esaa.agents.registry import EDITORS, SERVERS
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PLATFORM: str = sys.platform

_HOMES = ((".config",), ("Library", "Application Support"), ("AppData", "Roaming"))
_NO_JSON = lazy(r'(?s)("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/|,(?=\s*[\]}])')  # what a settings file may have


class Window(NamedTuple):
    """What an editor keeps of one folder, or one multi-root workspace, that was opened."""

    storage: Path  # its directory; the name is what other records call the workspace by
    folders: list[str]


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
    folders = [home / editor / "User" for editor in EDITORS]
    folders += [person / server / "data" / "User" for server in SERVERS] if person else []
    return [folder for folder in folders if is_directory(folder)]


def windows(user: Path) -> list[Window]:
    """Every folder or workspace that an editor had open, sorted by its storage. Raises nothing.

    user   the editor's folder `User`.

    A storage's name is a hash with a salt of the file system, so it is not computed; `workspace.json` says it.
    Directories of another machine stay as they are stated.
    """
    storages = [Path(entry.path) for entry in listing.entries(user / "workspaceStorage")]
    return [Window(storage, folders_of_window(storage, directory_of)) for storage in storages]


def folders_of_window(storage: Path, place: Callable[[str], str] = places.path_of) -> list[str]:
    """The directories of the project that a folder in `workspaceStorage` belongs to.

    place   what a path or URL names, "" for what is to be left out. As it stands: none of a remote window,
            whose directories are on another machine, though the talk is here.
    """
    described = storage / "workspace.json"
    depends_on(described)
    match read_document(described):
        case {"folder": str(uri)}:
            return [path for path in [place(uri)] if path]
        case {"workspace": str(uri)} | {"configuration": str(uri)}:
            return _folders_in(Path(place(uri)), place) if place(uri) else []
    return []


def _folders_in(workspace: Path, place: Callable[[str], str]) -> list[str]:
    """The folders of a project of several, relative to the file that names them."""
    import json

    depends_on(workspace)
    try:
        text = workspace.read_bytes().decode("utf-8", "replace")
        named = json.loads(_NO_JSON.sub(lambda found: found[1] or "", text), strict=False)["folders"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    found = []
    for folder in named if isinstance(named, list) else []:
        match folder:
            case {"uri": str(uri)}:
                found.append(place(uri))
            case {"path": str(path)}:
                found.append(without_surrogates(os.path.normpath(workspace.parent / path)))
    return [path for path in found if path]
