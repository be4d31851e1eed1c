"""What is around the log: who may read it, whether git has it, the capture cache, and what was set aside."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from conversation_esaa.capture import cursors
from conversation_esaa.forensic.findings import Severity
from conversation_esaa.forensic.git_index import tracked_below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conversation_esaa.events import Head
    from conversation_esaa.forensic.findings import Findings
    from conversation_esaa.layout import Layout
    from conversation_esaa.log.contract import EventLog
    from conversation_esaa.settings import Settings

_OTHERS = 0o077  # rights of everybody but the owner


def check_store(findings: Findings, layout: Layout, settings: Settings) -> None:
    """Modes, .gitignore, git's index, quarantine, and whether the directory was moved."""
    _permissions(findings, layout)
    _gitignore(findings, layout)
    if tracked := tracked_below(layout.store):
        findings.tell(
            "store.tracked",
            f"git tracks {tracked} files of it: whoever has the repository has the conversation",
            file=".",
        )
    for path, size in _pieces(layout):
        findings.tell("quarantine.piece", f"{size} bytes that recovery set aside", file=f"quarantine/{path}")
    if os.path.realpath(settings.root) != os.path.realpath(layout.root):
        findings.tell("workspace.moved", "the directory was at another path before", file="config.toml")


def check_cache(findings: Findings, layout: Layout, log: EventLog, head: Head) -> None:
    """sync-state.json: a cache that can only cost time, and that remembers how far the log went."""
    if not os.path.lexists(layout.sync_state):
        return
    name = layout.sync_state.name
    state = cursors.load(layout.sync_state)
    if state is None or not all(map(state.cursor, state.sources)):
        findings.tell("cache.unreadable", "is none of ours, and is not used", file=name)
    elif not state.log_fingerprint:
        return
    elif state.log_size > head.size:
        findings.tell(
            "cache.other_log",
            f"the log had {state.log_size} bytes when it was last captured to, now {head.size}",
            file=name,
        )
    elif log.fingerprint(state.log_size) != state.log_fingerprint:
        findings.tell(
            "cache.other_log",
            f"the first {state.log_size} bytes of the log are not those that were last captured to",
            file=name,
        )


def _permissions(findings: Findings, layout: Layout) -> None:
    if os.name == "nt":
        return
    read_only = _is_read_only(layout)
    for path in _everything(layout):
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            continue
        if stat.S_ISLNK(mode) or not mode & _OTHERS:
            continue
        wanted = 0o700 if stat.S_ISDIR(mode) else 0o600
        findings.tell(
            "store.permissions",
            f"has mode {stat.S_IMODE(mode):04o}, so other users of this machine can get at it; {wanted:04o} is ours",
            file=os.path.relpath(path, layout.store).replace(os.sep, "/"),
            severity=Severity.WARNING if read_only else None,
            mend="Mend the modes where the directory can be written." if read_only else None,
        )


def _is_read_only(layout: Layout) -> bool:
    try:
        return bool(os.statvfs(layout.store).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _everything(layout: Layout) -> Iterator[str]:
    """The store and all in it, by name; a directory that cannot be listed is passed over."""
    yield str(layout.store)
    for directory, folders, files in os.walk(layout.store):
        folders.sort()
        for name in sorted([*folders, *files]):
            yield os.path.join(directory, name)


def _gitignore(findings: Findings, layout: Layout) -> None:
    try:
        ignores = b"*" in layout.gitignore.read_bytes().split()
    except OSError:
        ignores = False
    if not ignores:
        findings.tell(
            "store.gitignore", "does not keep git away from the conversation", file=layout.gitignore.name
        )


def _pieces(layout: Layout) -> list[tuple[str, int]]:
    try:
        with os.scandir(layout.quarantine) as found:
            return sorted((entry.name, entry.stat(follow_symlinks=False).st_size) for entry in found)
    except OSError:
        return []
