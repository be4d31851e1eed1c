"""Which agents call us, from which file, and what keeps one from doing so."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.errors import ConversationError
from conversation_esaa.hooks import install, instructions, registry
from conversation_esaa.hooks.command import is_ours
from conversation_esaa.hooks.surface import read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.hooks.install import Target
    from conversation_esaa.ids import AgentId
    from conversation_esaa.machine import Machine


class InFile(msgspec.Struct, kw_only=True):
    """What of ours is in one file."""

    kind: str  # hooks, notify or instructions
    scope: str
    file: str
    events: list[str] = []
    inject: bool = False  # the handoff goes into the agent's context when a session starts
    stale: bool = False  # it calls another installation, or is of another version of ours
    approval_required: bool = False  # the agent does not run it yet
    problem: str = ""  # what is wrong; "" when nothing
    mend: str = ""  # the command or the step that mends it


class HookStatus(msgspec.Struct, kw_only=True):
    """One agent."""

    agent: str
    present: bool  # its own directory exists on this machine
    default_scope: str  # "" for an agent without hooks
    installed: list[InFile] = []


def status(
    machine: Machine, root: Path, program: Program, agents: Sequence[AgentId] = ()
) -> list[HookStatus]:
    """What is in force for the workspace `root`, agent by agent. Reads files, and changes nothing.

    agents   only these; empty: all that have hooks, and those with an instruction file of ours.
    """
    told = []
    for name in agents or dict.fromkeys((*registry.MODULES, *instructions.FILES)):
        module = registry.module(name)
        found = [
            each
            for target in install.targets(machine, root, name)
            if (each := _in_file(machine, root, target, program))
        ]
        if module or found or agents:
            told.append(
                HookStatus(
                    agent=name,
                    present=bool(module and module.home(machine).is_dir()),
                    default_scope=module.DEFAULT_SCOPE if module else "",
                    installed=found,
                )
            )
    return told


def _in_file(machine: Machine, root: Path, target: Target, program: Program) -> InFile | None:
    told = InFile(kind=target.kind, scope=target.scope, file=str(target.path))
    content = read(target.path)
    if not content:
        return None
    again = f"conversation-esaa enable-hooks --agent {target.agent}"
    again += {"notify": " --notify", "instructions": " --instructions"}.get(
        target.kind, f" --scope {target.scope}"
    )
    try:
        found = target.form.found(content)
        if not found:
            return None
        told.events = list(dict.fromkeys(each.event for each in found if each.event))
        told.inject = any(each.inject for each in found)
        wanted = target.form.wanted(program, inject=told.inject)
    except ConversationError as error:
        told.problem, told.mend = error.message, error.hint
        return told if is_ours(content.decode("utf-8", "replace")) else None
    again += " --inject" if told.inject else ""
    if sorted(each.entry for each in found) != sorted(each.entry for each in wanted):
        told.stale = True
        told.problem = "it calls another installation of conversation-esaa, or lacks an event"
        told.mend = f"`{again}`"
    module = registry.module(target.agent)
    if module and target.kind == install.HOOKS:
        real = Path(os.path.realpath(root))
        approval = module.approval(machine, real, scope=target.scope, changed=False)
        told.approval_required = approval.required
        if approval.required and not told.stale:
            told.problem, told.mend = "the agent does not run it before its user allows it", approval.step
    return told
