"""Codex CLI: where its rollouts are, and what lies beside them that is not read.

Format and how we know it: docs/reference/agents/codex.md.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_esaa.agents.listing import listed
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ID_AT_END = lazy(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$")


def home(environ: Mapping[str, str], user_home: Path) -> Path:
    """`$CODEX_HOME`, else `~/.codex`."""
    return Path(environ.get("CODEX_HOME") or user_home / ".codex")


def session_files(home: Path, roots: Sequence[str]) -> Iterator[SessionFile]:  # noqa: ARG001 - paths tell nothing
    """All rollouts, sorted by path: neither name nor folder tells the workspace.

    Archiving moves a file; a thread that is in both places is listed twice, and its turns have the same
    identity. Costs one listing of the tree.
    """
    rollouts = [path for path in _files(home) if _is_rollout(path)]
    for path in sorted(rollouts, key=str):
        yield SessionFile(path=path, session_id=_id_of(path))


def unlisted(home: Path) -> dict[str, int]:
    """What is there and not read: reason → count. Costs one listing of the tree."""
    counts: dict[str, int] = {}
    for path in _files(home):
        if path.name.endswith(".jsonl.zst"):
            reason = "compressed rollouts (.jsonl.zst)"
        elif path.suffix == ".json" and path.name.startswith("rollout-"):
            reason = "rollouts of 2025 in one JSON document"
        else:
            continue
        counts[reason] = counts.get(reason, 0) + 1
    return counts


def _is_rollout(path: Path) -> bool:
    if path.suffix != ".jsonl":
        return False
    return path.name.startswith("rollout-") or path.parent.name == "archived_sessions"


def _id_of(path: Path) -> str:
    found = _ID_AT_END.search(path.stem)
    return found[0] if found else path.stem


def _files(home: Path) -> Iterator[Path]:
    """All files of the two trees, each real one once, under its real name if that is below `home`.

    Loops of links end; what vanishes meanwhile is skipped.
    """
    seen: set[str] = set()
    waiting = [home / "archived_sessions", home / "sessions"]
    links: list[Path] = []
    while waiting or links:
        path = waiting.pop() if waiting else links.pop()
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        try:
            entries = sorted(listed(path), key=lambda entry: entry.name)
        except NotADirectoryError:
            yield path  # a link to a file
            continue
        except OSError:
            continue
        for entry in entries:
            if entry.is_symlink():
                links.append(path / entry.name)
            elif entry.is_dir():
                waiting.append(path / entry.name)
            else:
                seen.add(f"{real}{os.sep}{entry.name}")
                yield path / entry.name
