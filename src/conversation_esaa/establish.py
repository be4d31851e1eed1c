"""How a workspace directory comes to be, is taken over from v1.1, and follows a move.

Nothing that is there is ever overwritten: running it again changes nothing.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa import settings as settings_file
from conversation_esaa.errors import ConversationError, LogUnreadable, NoWorkspace
from conversation_esaa.events import Entry, WorkspaceInitialised, WorkspaceMoved
from conversation_esaa.layout import DIRECTORY_MODE, FILE_MODE, Layout
from conversation_esaa.locate import main_work_tree, worktree_top
from conversation_esaa.log.contract import Stamp
from conversation_esaa.log.file_log import FileLog
from conversation_esaa.log.lock import held
from conversation_esaa.replace import replace_file
from conversation_esaa.turn import Actor

if TYPE_CHECKING:
    from conversation_esaa.machine import Machine
    from conversation_esaa.settings import Settings


class Established(msgspec.Struct, kw_only=True):
    """What setting up did; all empty when everything was there."""

    root: str
    created: list[str] = []  # files and directories made, relative to the workspace
    tightened: list[str] = []  # whose permissions were too wide
    v1_1_lines: int = 0  # lines of a v1.1 log that was taken over
    moved_from: str = ""
    worktree: str = ""  # a git worktree that joined


def establish(root: Path, machine: Machine, *, wait_s: float) -> Established:
    """Make `root` a workspace, or complete and settle the one that is there.

    Raises ConversationError when the directory cannot be written.
    """
    layout = Layout(root)
    done = Established(root=str(root))
    try:
        for directory in (layout.store, layout.run, layout.quarantine):
            _directory(directory, done)
        with held(layout.write_lock, purpose="init", wait_s=wait_s):
            _file(layout.gitignore, b"*\n", done)
            if not layout.config.exists():
                config = settings_file.new_config(
                    workspace_id=_logged_id(layout) or _random_id(16),
                    replica_id=_random_id(8),
                    root=str(root),
                )
                _file(layout.config, config.encode(), done)
            _file(layout.log, b"", done)
        _tighten(layout, done)
    except OSError as error:
        raise LogUnreadable(
            f"{error.filename or layout.store}: {error.strerror}",
            hint="conversation-esaa writes only inside that directory. Make it writable, then run "
            "`conversation-esaa up` again.",
        ) from None
    settings = read_settings(layout)
    log = open_log(layout, settings)
    if not log.head().hash:
        with log.writing(purpose="init", wait_s=wait_s) as writer:
            if not writer.head.hash:  # still the first to write
                done.v1_1_lines = writer.head.seq
                draft = WorkspaceInitialised(
                    ts=machine.now(), actor=str(Actor.SYSTEM), v1_1_lines=writer.head.seq
                )
                writer.append([draft], recorded_at=machine.now())
    done.moved_from = settle_move(layout, machine, wait_s=wait_s)
    done.worktree = _join_worktree(layout, machine, wait_s=wait_s)
    return done


def read_settings(layout: Layout) -> Settings:
    """What config.toml says. Raises NoWorkspace when there is none."""
    try:
        content = layout.config.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        if not layout.store.is_dir():
            raise NoWorkspace(
                f"{layout.store} is gone", hint="`conversation-esaa up` sets up a new one."
            ) from None
        raise NoWorkspace(
            f"{layout.store} has no config.toml: it is the older tool's, or the file was lost",
            hint="`conversation-esaa upgrade` takes it over; the log stays as it is.",
        ) from None
    except OSError as error:
        raise LogUnreadable(
            f"{layout.config}: {error.strerror}", hint="Make it readable for your user."
        ) from None
    return settings_file.parse(content, where=str(layout.config))


def open_log(layout: Layout, settings: Settings) -> FileLog:
    """The log of a workspace, stamping what is appended with where and which it is."""
    return FileLog(
        layout,
        Stamp(
            workspace_root=str(layout.root),
            workspace_id=settings.workspace_id,
            replica_id=settings.replica_id,
        ),
    )


def settle_move(layout: Layout, machine: Machine, *, wait_s: float) -> str:
    """Note in log and settings that the directory has another path than it had; returns the old one.

    "" when it has not. The id stays, so everything said before stays visible. A copy, whose original is
    still where it was, becomes a replica of its own: two logs that go on apart must not share a name.
    """
    if not _has_moved(layout, read_settings(layout)):
        return ""
    log = open_log(layout, read_settings(layout))
    with log.writing(purpose="move", wait_s=wait_s):
        settings = read_settings(layout)
        if not _has_moved(layout, settings):
            return ""  # another process was faster
        former = dict.fromkeys((settings.root, *settings.former_roots))
        former.pop(str(layout.root), None)
        replica_id = _random_id(8) if _is_copy(settings) else settings.replica_id
        _write_settings(
            layout,
            msgspec.structs.replace(
                settings, root=str(layout.root), former_roots=tuple(former), replica_id=replica_id
            ),
        )
    # Behind the settings, and stamped with the new replica. A crash in between leaves a move unnoted, which
    # costs nothing; the other way round each further try would note it again.
    with open_log(layout, read_settings(layout)).writing(purpose="move", wait_s=wait_s) as writer:
        draft = WorkspaceMoved(ts=machine.now(), actor=str(Actor.SYSTEM), moved_from=settings.root)
        writer.append([draft], recorded_at=machine.now())
    return settings.root


def _has_moved(layout: Layout, settings: Settings) -> bool:
    return os.path.realpath(settings.root) != os.path.realpath(layout.root)


def _is_copy(settings: Settings) -> bool:
    """Whether the workspace is, under the same id, still where the settings say."""
    try:
        original = read_settings(Layout(Path(settings.root)))
    except ConversationError:
        return False
    return original.workspace_id == settings.workspace_id


def _join_worktree(layout: Layout, machine: Machine, *, wait_s: float) -> str:
    """A linked worktree of this repository, from which the command was run, becomes one of the roots."""
    top = worktree_top(machine.present)
    if top is None or top == layout.root:
        return ""
    main = main_work_tree(top)
    if main is None or os.path.realpath(main) != os.path.realpath(layout.root):
        return ""
    if str(top) in read_settings(layout).roots:
        return ""
    with held(layout.write_lock, purpose="init", wait_s=wait_s):
        settings = read_settings(layout)
        roots = tuple(dict.fromkeys((*settings.roots, str(top))))
        _write_settings(layout, msgspec.structs.replace(settings, roots=roots))
    return str(top)


def _write_settings(layout: Layout, settings: Settings) -> None:
    """Put the lines that we keep into config.toml; all others stay as a person wrote them."""
    content = layout.config.read_bytes().decode("utf-8")
    changed = settings_file.with_roots(
        content,
        root=settings.root,
        roots=settings.roots,
        former_roots=settings.former_roots,
        replica_id=settings.replica_id,
        where=str(layout.config),
    )
    try:
        replace_file(layout.config, changed.encode())
    except OSError as error:
        raise LogUnreadable(
            f"{layout.config}: {error.strerror}",
            hint="The workspace has another path than that file says. Make the directory writable, then "
            "run the command again.",
        ) from None


# What the older tool kept beside its log. Read models have the same names as ours and are rewritten.
_OLDER_FILES = (
    "bin",
    "plans",
    "rag",
    "tests",
    "codex-watch.log",
    "antigravity-hook.log",
    "run/conversation-esaa.lock",
    "run/test-battery-report.json",
    "install-manifest.json",
    "vendor",
)
_OLDER_HOOKS = (".grok/hooks/conversation-esaa.json", ".claude/settings.json", ".agents/hooks.json")


def leftovers(layout: Layout) -> list[str]:
    """Files of the older tool that nothing uses any more, relative to the workspace."""
    found = (layout.store / name for name in _OLDER_FILES)
    return [path.relative_to(layout.root).as_posix() for path in found if path.exists()]


def old_hooks(root: Path) -> list[str]:
    """Agents' settings in the project that still call the older tool's scripts."""
    found = []
    for name in _OLDER_HOOKS:
        try:
            content = (root / name).read_bytes()
        except OSError:
            continue
        if b"conversation-esaa" in content and b".ps1" in content:
            found.append(name)
    return found


def _random_id(length: int) -> str:
    """Twice as many hex digits as bytes."""
    return os.urandom(length).hex()


def _directory(path: Path, done: Established) -> None:
    if path.exists() and not path.is_dir():
        raise ConversationError(f"{path} is not a directory", hint="Move that file away.")
    if not path.is_dir():
        path.mkdir(mode=DIRECTORY_MODE)
        path.chmod(DIRECTORY_MODE)  # mkdir's mode is cut by the umask
        done.created.append(path.name)


def _file(path: Path, content: bytes, done: Established) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except FileExistsError:
        return
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    path.chmod(FILE_MODE)
    done.created.append(path.name)


def _tighten(layout: Layout, done: Established) -> None:
    """Take other users' rights away: what people say is nobody else's to read."""
    if os.name == "nt":
        return
    for path in (layout.store, *sorted(layout.store.rglob("*"))):
        if path.is_symlink():
            continue
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & 0o077:
            path.chmod(mode & 0o700)
            done.tightened.append(path.relative_to(layout.root).as_posix())


def _logged_id(layout: Layout) -> str:
    """The workspace id that the log itself names: a lost config.toml does not make it another workspace."""
    log = FileLog(layout, Stamp(workspace_root="", workspace_id="", replica_id=""))
    for entry in log.entries_backward():
        if isinstance(entry, Entry) and entry.event.workspace_id:
            return entry.event.workspace_id
    return ""
