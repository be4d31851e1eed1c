"""`Workspace.doctor`: looking at everything between an agent and the log, and mending what is safe to mend."""

from __future__ import annotations

import stat
import time
from typing import TYPE_CHECKING

from conversation_esaa.capture import spool
from conversation_esaa.capture.heard import heard
from conversation_esaa.drain import drain
from conversation_esaa.errors import ConversationError
from conversation_esaa.establish import establish, old_hooks
from conversation_esaa.hooks import command, registry
from conversation_esaa.projections.markdown import counted
from conversation_esaa.reading.diagnosis import Diagnosis, Facts, HookFact, Problem, health, problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conversation_esaa.hooks.status import HookStatus, InFile
    from conversation_esaa.layout import Layout
    from conversation_esaa.reading.status import Status
    from conversation_esaa.workspace import Workspace

LOG_LINES = 200  # of `run/hook.log` that are looked at


def doctor(workspace: Workspace, *, prove: bool, fix: bool, status: Status | None = None) -> Diagnosis:
    """What is wrong, after mending what can be mended without asking, with `fix`.

    prove   also make a made-up call as each agent that has sound hooks would, and see whether it comes through.

    Raises NoWorkspace; whatever else goes wrong is in the answer.
    """
    fixed = _fixed(workspace) if fix else []
    try:
        status = status if status and not fix else workspace.status()
        facts = _facts(workspace, status, prove=prove)
    except ConversationError as error:
        problem = Problem(code=error.code, what=error.message, mend=error.hint)
        return Diagnosis(workspace=str(workspace.root), freshness=None, problems=[problem], fixed=fixed)
    found = list(problems(facts, status.freshness, looked=workspace.catch_up))
    return Diagnosis(
        workspace=str(workspace.root),
        freshness=status.freshness,
        agents=health(facts),
        waiting_calls=len(facts.waiting),
        problems=[each for each in found if not each.is_note],
        notes=[each for each in found if each.is_note],
        fixed=fixed,
    )


def _facts(workspace: Workspace, status: Status, *, prove: bool) -> Facts:
    layout, machine = workspace.layout, workspace.machine
    called = workspace.hooks()
    failures: dict[str, str] = {}
    if prove:
        from conversation_esaa.hooks import proof  # it starts processes; `status` does not

        program = command.this_program()
        for each in called:
            if any(found.kind == "hooks" and _is_sound(found) for found in each.installed):
                failures[each.agent] = proof.failure(layout, machine, program, each.agent)
    return Facts(
        now=machine.now(),
        surveys=status.agents,
        said=workspace.state().conversation,
        hooks={each.agent: _facts_of(each) for each in called if each.installed},
        with_hooks=frozenset(registry.MODULES),
        heard={agent: (told.at, told.event) for agent, told in heard(layout).items() if told.at},
        proofs=failures,
        waiting=[spool.read(path).at for path in spool.waiting(layout)],
        hook_failures=_hook_failures(layout),
        stale_read_models=status.stale_read_models,
        too_open=list(_too_open(layout)),
        older_hooks=old_hooks(workspace.root),
    )


def _is_sound(found: InFile) -> bool:
    """Whether what we wrote is right; whether the agent's user allows it is another question."""
    return not found.problem or (found.approval_required and not found.stale)


def _facts_of(status: HookStatus) -> list[HookFact]:
    return [
        HookFact(
            file=each.file,
            kind=each.kind,
            scope=each.scope,
            inject=each.inject,
            stale=each.stale,
            approval_required=each.approval_required,
            problem=each.problem,
            mend=each.mend,
        )
        for each in status.installed
    ]


def _fixed(workspace: Workspace) -> list[str]:
    """Only what changes nothing that anybody said, and nothing outside the store."""
    done: list[str] = []
    for step in (_settled, _drained, _captured, _projected):
        try:
            done += step(workspace)
        except ConversationError:
            continue  # the diagnosis that follows tells it
    return done


def _settled(workspace: Workspace) -> list[str]:
    made = establish(workspace.root, workspace.machine, wait_s=workspace.lock_wait_s)
    return [
        *(f"made {name}" for name in made.created),
        *(f"only you can read {name} now" for name in made.tightened),
    ]


def _drained(workspace: Workspace) -> list[str]:
    calls = drain(workspace, pause=time.sleep).calls
    return [f"took in {counted(calls, 'call')} of hooks, left behind"] if calls else []


def _captured(workspace: Workspace) -> list[str]:
    captured = workspace.sync().captured
    return [f"captured {counted(captured, 'event')}"] if captured else []


def _projected(workspace: Workspace) -> list[str]:
    return [f"wrote {name} anew" for name in workspace.project().changed]


def _hook_failures(layout: Layout) -> list[str]:
    """The last lines of the hooks' log, printable. Calls from inside a worker are no failure."""
    try:
        lines = layout.hook_log.read_text("utf-8", "replace").splitlines()[-LOG_LINES:]
    except OSError:
        return []
    return [line for line in lines if not line.endswith("nested call")]


def _too_open(layout: Layout) -> Iterator[str]:
    for path in (layout.store, *sorted(layout.store.rglob("*"))):
        try:
            mode = path.lstat().st_mode
        except OSError:
            continue
        if not stat.S_ISLNK(mode) and mode & 0o077:
            yield path.relative_to(layout.root).as_posix()
