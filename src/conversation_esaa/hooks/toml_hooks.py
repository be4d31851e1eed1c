"""Entries of ours as `[[hooks]]` tables of a TOML file, each one event with its command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.hooks import command, toml_edit
from conversation_esaa.hooks.surface import Event, Found, Kept, text_of, unforeseen
from conversation_esaa.ids import AgentId

if TYPE_CHECKING:
    from conversation_esaa.hooks.command import Program

_HOOKS = re.compile(r"[ \t]*\[\[[ \t]*hooks[ \t]*\]\]")


class TomlHooks(msgspec.Struct, frozen=True, kw_only=True):
    """A `Form`. Time-outs are seconds; nothing that an entry prints is asked for."""

    agent: AgentId
    events: tuple[Event, ...]

    def put(self, old: bytes, program: Program, *, inject: bool) -> bytes:
        """As `Form` has it."""
        wanted = self.wanted(program, inject=inject)
        if self.found(old) == wanted:
            return old
        mark, text = text_of(old)
        before = toml_edit.parse(text)
        tables = [self._table(program, event) for event in self.events]
        text = toml_edit.append(toml_edit.cut(text, _is_ours), tables)
        if _others(toml_edit.parse(text)) != _others(before) or self.found(text.encode()) != wanted:
            raise unforeseen()
        return (mark + text).encode()

    def take(self, old: bytes, kept: Kept) -> bytes:  # noqa: ARG002 - tables leave nothing empty behind
        """As `Form` has it."""
        mark, text = text_of(old)
        before = toml_edit.parse(text)
        text = toml_edit.cut(text, _is_ours)
        if _others(toml_edit.parse(text)) != _others(before) or self.found(text.encode()):
            raise unforeseen()
        return (mark + text).encode()

    def kept(self, old: bytes) -> Kept:
        """As `Form` has it."""
        return Kept(existed=bool(old))

    def found(self, content: bytes) -> list[Found]:
        """As `Form` has it."""
        tables = toml_edit.parse(text_of(content)[1]).get("hooks")
        return [
            Found(event=str(table.get("event")), entry=f"{table['command']} {table.get('timeout')}")
            for table in (tables if isinstance(tables, list) else [])
            if isinstance(table, dict) and command.is_ours(table.get("command"))
        ]

    def wanted(self, program: Program, *, inject: bool) -> list[Found]:  # noqa: ARG002
        """As `Form` has it."""
        return [
            Found(event=event.name, entry=f"{self._command(program, event)} {event.timeout_s}")
            for event in self.events
        ]

    def _command(self, program: Program, event: Event) -> str:
        shell = command.CMD if program.windows else command.SH
        return command.command(program, shell, self.agent, event.name)

    def _table(self, program: Program, event: Event) -> str:
        line = toml_edit.quoted(self._command(program, event))
        return f'[[hooks]]\nevent = "{event.name}"\ncommand = {line}\ntimeout = {event.timeout_s}'


def _is_ours(table: str) -> bool:
    return bool(_HOOKS.match(table)) and command.is_ours(table)


def _others(document: dict[str, Any]) -> dict[str, Any]:
    hooks = document.get("hooks")
    if not isinstance(hooks, list):
        return document
    rest = [
        table for table in hooks if not (isinstance(table, dict) and command.is_ours(table.get("command")))
    ]
    return {key: value for key, value in {**document, "hooks": rest}.items() if key != "hooks" or rest}
