"""The part of `Workspace` that is about agents' settings: which agents call us, and making them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from conversation_esaa.errors import ConversationError, UsageError
from conversation_esaa.later import Later
from conversation_esaa.opened import Opened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conversation_esaa import registered
    from conversation_esaa.hooks import command as commands
    from conversation_esaa.hooks import install as installing
    from conversation_esaa.hooks import instructions, registry
    from conversation_esaa.hooks import status as statuses
    from conversation_esaa.hooks.command import Program
    from conversation_esaa.hooks.install import Change
    from conversation_esaa.hooks.status import HookStatus
    from conversation_esaa.ids import AgentId
else:  # most commands have nothing to do with hooks
    commands = Later("conversation_esaa.hooks.command")
    instructions = Later("conversation_esaa.hooks.instructions")
    registry = Later("conversation_esaa.hooks.registry")
    installing = Later("conversation_esaa.hooks.install")
    registered = Later("conversation_esaa.registered")
    statuses = Later("conversation_esaa.hooks.status")


class Hooked(Opened):
    """Agents' settings, seen from one workspace. Nothing here reads or writes the log."""

    def hooks(self, agents: Sequence[str] = ()) -> list[HookStatus]:
        """Which agents call us and from where, and what keeps one from it. Changes nothing.

        agents   only these; empty: every one that has hooks. Raises UnknownName.
        """
        known = [registry.known(name) for name in agents]
        return statuses.status(self.machine, self.root, commands.this_program(), known)

    def enable_hooks(
        self,
        agents: Sequence[str] = (),
        *,
        scope: str = "",
        inject: bool = False,
        trust: bool = False,
        instruct: bool = False,
        notify: bool = False,
        dry_run: bool = False,
        program: Program | None = None,
    ) -> list[Change]:
        """Put our entries into agents' settings, keeping all that is there; once, however often it is called.

        agents     their names; empty: every agent that has hooks and is on this machine.
        scope      `project` or `user`; "": where the agent keeps what is private.
        inject     the handoff goes into the agent's context when a session starts, where it can take it.
        trust      also write that the folder is trusted, into a file that the agent's vendor documents.
        instruct   also put a block into the instruction file of the project.
        notify     for Codex: also chain onto `notify`, the older way.
        dry_run    change nothing; `diff` tells what would be.
        program    what is to be called; this installation unless a test says otherwise.

        What could not be changed comes back as `refused`; the rest is done. A watcher, where one runs, serves
        the workspace from then on. Raises UnknownName, UsageError.
        """
        if notify and "codex" not in agents:
            raise UsageError("`notify` is Codex's", hint="Name it: `--agent codex --notify`.")
        program = program or commands.this_program()
        wish = installing.Wish(
            agents=[registry.known(name) for name in agents] or self._present(),
            scope=scope,
            inject=inject,
            trust=trust,
            instructions=instruct,
            notify=notify,
            dry_run=dry_run,
        )
        changes = installing.enable(self.machine, self.root, wish, program)
        if not dry_run and self.layout.store.is_dir():
            with suppress(ConversationError):  # hooks work without a watcher; `doctor` tells what hinders one
                registered.register(self.machine, self.root)
        return changes

    def disable_hooks(
        self, agents: Sequence[str] = (), *, scope: str = "", instruct: bool = False, dry_run: bool = False
    ) -> list[Change]:
        """Take our entries out of agents' settings, and nothing else; a file that only we changed gets its bytes back.

        agents     their names; empty: all.
        scope      `project` or `user`; "": both.
        instruct   also the block in the instruction file of the project.

        Tells of files that held something of ours. Raises UnknownName.
        """
        everyone = dict.fromkeys((*registry.MODULES, *instructions.FILES))
        wish = installing.Wish(
            agents=[registry.known(name) for name in agents] or list(everyone),
            scope=scope,
            instructions=instruct,
            dry_run=dry_run,
        )
        return installing.disable(self.machine, self.root, wish)

    def _present(self) -> list[AgentId]:
        present = [each.agent for each in self.hooks() if each.present]
        if not present:
            raise NoAgent(
                "no agent that has hooks is on this machine",
                hint="Name one with --agent; `conversation-esaa hooks` lists them.",
            )
        return [registry.known(name) for name in present]


class NoAgent(ConversationError):
    """Every agent was meant, and there is none."""

    code = "hooks.no_agent"
