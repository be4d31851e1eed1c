"""Editors that descend from VS Code: where they keep a user's data, and which folders their windows had open."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import depends_on, listed
from conversation_esaa.agents.places import directory_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Window(NamedTuple):
    """What an editor keeps of one folder, or one multi-root workspace, that was opened."""

    storage: Path  # its directory; the name is what other records call the workspace by
    folders: list[str]


def user_directory(application: str, environ: Mapping[str, str], user_home: Path) -> Path:
    """The `User` directory of an editor: settings, `globalStorage` and `workspaceStorage` lie in it."""
    if moved := environ.get("VSCODE_APPDATA"):  # which the editors honour
        base = Path(moved)
    elif sys.platform == "win32":
        base = Path(environ.get("APPDATA") or user_home / "AppData" / "Roaming")
    elif sys.platform == "darwin":
        base = user_home / "Library" / "Application Support"
    else:
        base = Path(environ.get("XDG_CONFIG_HOME") or user_home / ".config")
    return base / application / "User"


def windows(user: Path) -> Iterator[Window]:
    """Every folder or workspace that was opened, sorted by its storage. Raises nothing.

    A storage's name is a hash with a salt of the file system, so it is not computed; `workspace.json` says it.
    """
    try:
        storages = sorted(Path(entry.path) for entry in listed(user / "workspaceStorage"))
    except OSError:
        return
    for storage in storages:
        described_in = storage / "workspace.json"
        depends_on(described_in)
        match read_document(described_in):
            case {"folder": str(uri)}:
                yield Window(storage, [directory_of(uri)])
            case {"workspace": str(uri)}:
                yield Window(storage, _folders_of(Path(directory_of(uri))))


def _folders_of(workspace_file: Path) -> list[str]:
    """The folders of a multi-root workspace: paths, which may be relative to the file, or URLs."""
    depends_on(workspace_file)
    try:
        described = read_document(workspace_file)
    except ValueError:  # a NUL in the path
        return []
    found: list[str] = []
    match described:
        case {"folders": [*folders]}:
            for folder in folders:
                match folder:
                    case {"path": str(path)}:
                        found.append(os.path.normpath(workspace_file.parent / path))
                    case {"uri": str(uri)}:
                        found.append(directory_of(uri))
    return found
