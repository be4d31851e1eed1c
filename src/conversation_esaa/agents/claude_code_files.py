"""Claude Code: where its sessions are, and for how long it keeps them."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.agents.jsonl import read_document
from conversation_esaa.agents.listing import listed
from conversation_esaa.agents.registry import Retention, SessionFile

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

FOLDER_LIMIT = 200  # UTF-16 code units of a folder's name; a longer path is cut there and gets a hash
_SEPARATORS = "/\\"
DEFAULT_RETENTION_DAYS = 30
FOR_EVER_DAYS = 1_000_000  # what people write who want nothing deleted, and more


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or user_home / ".claude")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:
    """Session files of the folders that may hold turns said in `roots` or below, sorted by path.

    A folder is named after the directory its sessions started in: a root, a directory below one, or one
    above it from which the session changed into the workspace. Names are compared without case, as some
    file systems do. What cannot be listed, or vanishes meanwhile, is skipped. Costs one listing of
    `projects` and one of each folder that fits; no file is opened, and only symbolic links are followed
    with a further call.
    """
    exact, prefixes = _folder_names(roots)
    candidates = [
        candidate
        for folder in _listed(home / "projects")
        if (name := folder.name.lower()) in exact or name.startswith(prefixes)
        for candidate in _sessions_in(folder)
    ]
    once: dict[tuple[int, int], tuple[str, str]] = {}
    for _, folder_name, name, identity in sorted(candidates):  # of two names of one file, not the linked one
        once.setdefault(identity, (folder_name, name))
    for folder_name, names in groupby(sorted(once.values()), key=itemgetter(0)):
        folder_path = home / "projects" / folder_name  # once: a join costs more than all the rest of a file
        for _, name in names:
            yield SessionFile(path=folder_path / name, session_id=name.removesuffix(".jsonl"))


def retention(home: Path) -> Retention:
    """`cleanupPeriodDays` of the user's settings; 30 where nothing is set, or nothing that is a number.

    At its start, Claude Code deletes session files that were last written before that many days. Settings of a
    project or an organisation may say otherwise for some of its starts; the user's hold for all the others.
    """
    file = home / "settings.json"
    days: Any = read_document(file).get("cleanupPeriodDays")
    given = not isinstance(days, bool) and isinstance(days, int | float) and days >= 0
    kept = int(min(days, FOR_EVER_DAYS)) if given else DEFAULT_RETENTION_DAYS
    return Retention(
        days=kept,
        setting="cleanupPeriodDays",
        file=str(file),
        by_default=not given,
    )


def munge(path: str) -> str:
    """The folder name Claude Code gives to a directory, uncut: all but ASCII letters and digits is a dash.

    Counted in UTF-16 code units, so a character beyond the basic plane is two dashes.
    """
    dashed = (
        character if character.isascii() and character.isalnum() else "-" * (1 + (character > "\uffff"))
        for character in path
    )
    return "".join(dashed)


def _folder_names(roots: Sequence[str]) -> tuple[set[str], tuple[str, ...]]:
    """Names of the folders of `roots` and of what is above them, and how names of those below begin."""
    exact: set[str] = set()
    prefixes: set[str] = set()
    for root in roots:
        prefixes.add(f"{munge(root.rstrip(_SEPARATORS))}-".lower()[:FOLDER_LIMIT])
        for path in _and_above(root):
            name = munge(path).lower()
            if len(name) > FOLDER_LIMIT:
                prefixes.add(name[:FOLDER_LIMIT] + "-")
            exact.add(name)
    return exact, tuple(prefixes)


def _and_above(root: str) -> Iterator[str]:
    """`root` and the directories it lies in, by its text alone: a path of either kind of system."""
    path = root.rstrip(_SEPARATORS)
    while path and not path.endswith(":"):
        yield path
        path = path[: max(path.rfind("/"), path.rfind("\\"), 0)]
    yield path + "/"  # the top, `/` or `C:\\`, is the one that ends with a separator


def _listed(directory: Path) -> list[os.DirEntry[str]]:
    try:
        return listed(directory)
    except OSError:
        return []


def _sessions_in(folder: os.DirEntry[str]) -> Iterator[tuple[bool, str, str, tuple[int, int]]]:
    """Of each session file: whether a link leads there, folder, name, and the numbers of the real file."""
    directory = Path(folder.path)
    try:
        if not folder.is_dir():
            return
        device = directory.stat().st_dev
    except OSError:
        return
    for entry in _listed(directory):
        if not entry.name.endswith(".jsonl") or entry.name.startswith("agent-"):
            continue
        try:
            if not entry.is_file():
                continue
            identity = (device, entry.inode())
            if entry.is_symlink():
                status = (directory / entry.name).stat()
                identity = (status.st_dev, status.st_ino)
        except OSError:
            continue
        yield folder.is_symlink() or entry.is_symlink(), folder.name, entry.name, identity
