"""Our entries into agents' files, and out again: read, change, look at what would change, back up, write."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.errors import ConversationError, UsageError
from conversation_esaa.hooks import codex_notify, instructions, registry
from conversation_esaa.hooks.records import Record, Records, digest
from conversation_esaa.hooks.surface import PROJECT, USER, Form, Kept, NotEditable
from conversation_esaa.ids import AgentId
from conversation_esaa.layout import FILE_MODE, Layout
from conversation_esaa.machine import state_directory
from conversation_esaa.replace import replace_file
from conversation_esaa.text import masked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.hooks.surface import HookModule
    from conversation_esaa.machine import Machine

HOOKS, NOTIFY, TRUST, INSTRUCTIONS = "hooks", "notify", "trust", "instructions"


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """One file that one agent reads, and what of ours belongs into it."""

    agent: AgentId
    kind: str  # HOOKS, NOTIFY, TRUST or INSTRUCTIONS
    scope: str
    path: Path
    form: Form


class Change(msgspec.Struct, kw_only=True):
    """What was done to one file, or would be."""

    agent: str
    kind: str
    scope: str
    file: str
    action: str = "unchanged"  # created, changed, unchanged; restored, removed, deleted, absent; refused
    events: list[str] = []
    approval_required: bool = False  # the agent will not run them before `step` was taken
    step: str = ""
    notes: list[str] = []
    diff: str = ""  # unified; secrets masked
    problem: str = ""  # why it was refused
    hint: str = ""
    code: str = ""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be enabled or disabled, and how."""

    agents: Sequence[AgentId]
    scope: str = ""  # "": where each agent keeps what is private; for disabling: both
    inject: bool = False
    trust: bool = False
    instructions: bool = False
    notify: bool = False
    dry_run: bool = False


def enable(machine: Machine, root: Path, wish: Wish, program: Program) -> list[Change]:
    """Put our entries into the settings of each agent that is wished for.

    root   the workspace; entries of scope `project`, trust and instructions are about it.

    What cannot be changed is told as `refused`, and the others are changed all the same. Raises UsageError for
    a wish that no agent can fulfil.
    """
    changes = []
    for name in wish.agents:
        module = registry.module(name)
        for target in _wanted(machine, root, wish, name, module):
            change = _guarded(target, partial(_put, machine, root, target, program, wish))
            if module and target.kind == HOOKS and change.action != "refused":
                changed = change.action != "unchanged"
                approval = module.approval(machine, _real(root), scope=target.scope, changed=changed)
                change.approval_required, change.step = approval.required, approval.step
                change.notes += _notes(module, root, target, wish)
            changes.append(change)
    return changes


def disable(machine: Machine, root: Path, wish: Wish) -> list[Change]:
    """Take our entries out again, and nothing else. Files that hold none are not in the answer."""
    changes = []
    for name in wish.agents:
        for target in _all(machine, root, wish, name, registry.module(name)):
            change = _guarded(target, partial(_take, machine, root, target, wish))
            if change.action != "absent":
                changes.append(change)
    return changes


def targets(machine: Machine, root: Path, name: AgentId) -> list[Target]:
    """Every file of one agent that may hold something of ours, trust apart."""
    module = registry.module(name)
    return [
        each
        for each in _all(machine, root, Wish(agents=(), instructions=True), name, module)
        if each.kind != TRUST
    ]


def _wanted(
    machine: Machine, root: Path, wish: Wish, name: AgentId, module: HookModule | None
) -> list[Target]:
    found = []
    if module is None and not wish.instructions:
        raise UsageError(
            f"{name} has no hooks that could tell when something was said",
            hint=f"`conversation-esaa enable-hooks --agent {name} --instructions` tells it where the handoff is.",
        )
    if module:
        scope = wish.scope or module.DEFAULT_SCOPE
        places = module.places(machine, root)
        if scope not in places:
            raise UsageError(
                f"{name} has no settings of scope {scope!r}",
                hint=f"It has: {', '.join(places)}.",
            )
        if wish.trust and scope == PROJECT and (trust := module.trust(machine, _real(root))):
            # First, so that what is said of approval afterwards is so.
            found.append(Target(agent=name, kind=TRUST, scope=USER, path=trust.path, form=trust.form))
        found.append(Target(agent=name, kind=HOOKS, scope=scope, path=places[scope], form=module.FORM))
    if wish.notify and name == "codex" and module:
        found.append(_notify(machine, name, module))
    if wish.instructions:
        found.append(_instructions(root, name))
    return found


def _all(machine: Machine, root: Path, wish: Wish, name: AgentId, module: HookModule | None) -> list[Target]:
    found = []
    if module:
        for scope, path in module.places(machine, root).items():
            if wish.scope in ("", scope):
                found.append(Target(agent=name, kind=HOOKS, scope=scope, path=path, form=module.FORM))
        if name == "codex" and wish.scope in ("", USER):
            found.append(_notify(machine, name, module))
        if wish.scope in ("", PROJECT) and (trust := module.trust(machine, _real(root))):
            found.append(Target(agent=name, kind=TRUST, scope=USER, path=trust.path, form=trust.form))
    if wish.instructions and name in instructions.FILES:
        found.append(_instructions(root, name))
    return found


def _notify(machine: Machine, name: AgentId, module: HookModule) -> Target:
    path = module.home(machine) / "config.toml"
    return Target(agent=name, kind=NOTIFY, scope=USER, path=path, form=codex_notify.FORM)


def _instructions(root: Path, name: AgentId) -> Target:
    path = root / instructions.FILES[name]
    return Target(agent=name, kind=INSTRUCTIONS, scope=PROJECT, path=path, form=instructions.FORM)


def _guarded(target: Target, step: Callable[[Change], None]) -> Change:
    """The change, or why there is none: one agent's broken file must not keep us from the others."""
    change = Change(agent=target.agent, kind=target.kind, scope=target.scope, file=str(target.path))
    try:
        step(change)
    except ConversationError as error:
        change.action, change.diff = "refused", ""
        change.problem, change.hint, change.code = _named(error.message, target.path), error.hint, error.code
    return change


def _put(machine: Machine, root: Path, target: Target, program: Program, wish: Wish, change: Change) -> None:
    real, old = _opened(root, target)
    before = old or b""
    new = target.form.put(before, program, inject=wish.inject)
    change.events = [found.event for found in target.form.wanted(program, inject=wish.inject) if found.event]
    if new == old:
        return
    change.action = "created" if old is None else "changed"
    change.diff = _diff(str(target.path), before, new)
    if wish.dry_run:
        return
    records, key = _records(machine, root, target), _key(root, target)
    record = records.load(key)
    if record is None or old is None or digest(old) != record.after_sha256:
        before = target.form.take(before, Kept(existed=True))
        record = Record(
            file=str(target.path),
            created=old is None,
            before=before,
            after_sha256="",
            kept=msgspec.structs.replace(target.form.kept(before), existed=old is not None),
            made=[str(path) for path in reversed(real.parents) if not path.exists()],
        )
    with _told(target.path):
        # The record first: one whose file was not written names a content that no file has.
        records.save(key, msgspec.structs.replace(record, after_sha256=digest(new)))
        _write(real, old, new, shared=target.kind == INSTRUCTIONS)


def _take(machine: Machine, root: Path, target: Target, wish: Wish, change: Change) -> None:
    change.action = "absent"
    real, old = _opened(root, target)
    records, key = _records(machine, root, target), _key(root, target)
    record = records.load(key)
    if old is None or (target.kind == TRUST and record is None):  # a trust that we did not write is not ours
        return
    if record and digest(old) == record.after_sha256:
        new, gone = record.before, record.created
        change.action = "deleted" if gone else "restored"
    else:
        change.events = [found.event for found in target.form.found(old) if found.event]
        ours_by_name = target.path.name.startswith("conversation-esaa.")
        kept = record.kept if record else Kept(existed=not ours_by_name)
        new = target.form.take(old, kept)
        gone = not new and not kept.existed
        if new == old:
            return
        change.action = "deleted" if gone else "removed"
    change.diff = _diff(str(target.path), old, new)
    if wish.dry_run:
        return
    with _told(target.path):
        _write(real, old, None if gone else new, shared=False)
        for directory in reversed(record.made if record else []):
            with contextlib.suppress(OSError):  # somebody else keeps something there
                Path(directory).rmdir()
        records.drop(key)


def _opened(root: Path, target: Target) -> tuple[Path, bytes | None]:
    """The file itself, links followed, and its bytes; None where there is none. Raises NotEditable."""
    real = Path(os.path.realpath(target.path))
    if target.scope == PROJECT and not real.is_relative_to(_real(root)):
        raise NotEditable(
            f"it is a link that leads out of the project, to {real}",
            hint="A project that was cloned must not lead writes away. Give --scope user, or replace the link.",
        )
    with _told(target.path):
        try:
            if not stat.S_ISREG(real.stat().st_mode):
                raise NotEditable("it is not a regular file", hint="Put the file itself there.")
            return real, real.read_bytes()
        except FileNotFoundError:
            return real, None


def _write(real: Path, old: bytes | None, new: bytes | None, *, shared: bool) -> None:
    """Put `new` there in one step, with the mode and the owner of `old`; None: no file. Raises OSError, NotEditable."""
    present = real.read_bytes() if real.exists() else None
    if present != old:
        raise NotEditable("it changed at this very moment", hint="Run the command again.")
    if new is None:
        real.unlink()
        return
    if old is None:
        real.parent.mkdir(parents=True, exist_ok=True)
        replace_file(real, new, mode=0o666 if shared else FILE_MODE)  # the umask decides what others may
        return
    was = real.stat()
    replace_file(real, new, mode=stat.S_IMODE(was.st_mode))
    real.chmod(stat.S_IMODE(was.st_mode))  # the umask may have taken bits away
    if hasattr(os, "chown") and (real.stat().st_uid, real.stat().st_gid) != (was.st_uid, was.st_gid):
        with contextlib.suppress(OSError):
            os.chown(real, was.st_uid, was.st_gid)


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the system refuses, as an error of ours."""
    try:
        yield
    except OSError as error:
        raise NotEditable(
            f"{path}: {error.strerror or type(error).__name__}",
            hint="Nothing was changed. Make it readable and writable for your user, then run the command again.",
        ) from None


def _records(machine: Machine, root: Path, target: Target) -> Records:
    store = Layout(root).store
    of_project = target.scope == PROJECT and store.is_dir()
    return Records((store if of_project else state_directory(machine)) / "hooks")


def _key(root: Path, target: Target) -> str:
    about = str(root) if target.kind == TRUST else ""
    return "\0".join((target.kind, str(target.path), about))


def _notes(module: HookModule, root: Path, target: Target, wish: Wish) -> list[str]:
    notes = []
    if wish.inject and not any(event.injects for event in module.EVENTS):
        notes.append(
            f"{target.agent} takes nothing in by hooks; give --instructions to tell it where the handoff is"
        )
    if target.scope == PROJECT and (root / ".git").exists():
        name = target.path.relative_to(root).as_posix()
        notes.append(
            f"{name} names paths of this machine: keep it out of git, in .git/info/exclude for example"
        )
    return notes


def _diff(name: str, old: bytes, new: bytes) -> str:
    import difflib

    before, after = (masked(each.decode("utf-8", "replace")).splitlines() for each in (old, new))
    return "\n".join(difflib.unified_diff(before, after, name, name, n=2, lineterm=""))


def _named(message: str, path: Path) -> str:
    """A message that names the file; the forms know bytes, and no path."""
    if str(path) in message:
        return message
    if message.startswith("the file, "):
        return f"{path}, {message.removeprefix('the file, ')}"
    return f"{path}: {message}"


def _real(root: Path) -> Path:
    return Path(os.path.realpath(root))
