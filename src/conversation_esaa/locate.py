"""Which directory is the workspace: from an option, from what lies above, from git."""

from __future__ import annotations

import os
from pathlib import Path

from conversation_esaa.errors import ConversationError, NoWorkspace
from conversation_esaa.layout import DIRECTORY

_HINT = "`conversation-esaa up` sets one up here."


def existing(present: Path, explicit: Path | None = None) -> Path:
    """The root of the workspace that a command in `present` means.

    The one given, else the nearest directory above that holds a store; on the way up, a linked git worktree
    leads to the workspace of its main work tree. Raises NoWorkspace.
    """
    if explicit is not None:
        root = explicit_root(present, explicit)
        if not is_store(root / DIRECTORY):
            raise NoWorkspace(
                f"{root} holds no {DIRECTORY}/",
                hint=f"`conversation-esaa up --workspace {explicit}` sets one up there.",
            )
        return root
    for directory in (present, *present.parents):
        if is_store(directory / DIRECTORY):
            return directory
        if (main := main_work_tree(directory)) and is_store(main / DIRECTORY):
            return main
    raise NoWorkspace(f"no {DIRECTORY}/ in {present} or above", hint=_HINT)


def intended(present: Path, explicit: Path | None = None) -> Path:
    """The root a new workspace would have: the one given, an existing one, the git root, or `present`."""
    if explicit is not None:
        return explicit_root(present, explicit)
    for directory in (present, *present.parents):
        if is_store(directory / DIRECTORY):
            return directory
        if (directory / ".git").exists():
            return main_work_tree(directory) or directory
    return present


def explicit_root(present: Path, explicit: Path) -> Path:
    """The directory named by an option. Raises NoWorkspace when it is none."""
    root = Path(os.path.normpath(present / explicit.expanduser()))
    if not root.is_dir():
        what = "is not a directory" if root.exists() else "does not exist"
        raise NoWorkspace(f"{root} {what}", hint="Name the directory of the project.")
    return root


def is_store(path: Path) -> bool:
    """Whether `path` is a store. A file of that name is refused aloud, since nothing can be kept there."""
    if path.is_dir():
        return True
    if path.exists():
        raise ConversationError(
            f"{path} is not a directory", hint="Move that file away; conversation-esaa keeps its log there."
        )
    return False


def main_work_tree(directory: Path) -> Path | None:
    """The main work tree of the repository whose linked worktree has its top at `directory`, else None.

    Read from git's own files (`.git` is a file that names `<main>/.git/worktrees/<name>`); git is not run.
    """
    try:
        content = (directory / ".git").read_text("utf-8", "replace")
    except OSError:
        return None
    if not content.startswith("gitdir:"):
        return None
    git_dir = Path(os.path.normpath(directory / content.removeprefix("gitdir:").strip()))
    if git_dir.parent.name != "worktrees" or git_dir.parents[1].name != ".git":
        return None
    main = git_dir.parents[2]
    return main if main.is_dir() else None


def worktree_top(present: Path) -> Path | None:
    """The top of the linked git worktree that `present` is in, else None."""
    for directory in (present, *present.parents):
        if (directory / ".git").exists():
            return directory if main_work_tree(directory) else None
    return None
