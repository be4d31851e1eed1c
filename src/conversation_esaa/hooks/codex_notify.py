"""Codex's older way: `notify` in its `config.toml`, one program that it calls after each turn, without any trust.

There is one such program. One that is there is kept, word for word, as the rest of our call, and is called with
what Codex hands over when we have had it. Codex hands it over as an argument; our entry file reads standard input.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from conversation_esaa.hooks import command, toml_edit
from conversation_esaa.hooks.surface import Event, Found, Kept, NotEditable, text_of, unforeseen

if TYPE_CHECKING:
    from conversation_esaa.hooks.command import Program

EVENTS = (Event(name="agent-turn-complete"),)
MARK = "conversation-esaa"
_NOTIFY = re.compile(r"^[ \t]*notify[ \t]*=[ \t]*\[", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_OURS = re.compile(r'[ \t]*"sh",[ \t]*"-c",[ \t]*"(?:[^"\\]|\\.)*",[ \t]*"' + MARK + r'"[ \t]*(,[ \t]*)?')
_THEN_THE_OTHER = ' >/dev/null 2>&1; [ "$#" -gt 1 ] && exec "$@"; :'


class Notify:
    """A `Form`."""

    def put(self, old: bytes, program: Program, *, inject: bool) -> bytes:
        """As `Form` has it."""
        if self.found(old) == self.wanted(program, inject=inject):
            return old
        mark, text = text_of(self.take(old, Kept(existed=True)))
        before = toml_edit.parse(text)
        chained = before.get("notify", [])
        ours = _argv(program)
        words = ", ".join(map(toml_edit.quoted, ours))
        root_keys = text[: found.start()] if (found := _TABLE.search(text)) else text
        if there := _NOTIFY.search(root_keys):
            comma = ", " if chained else ""
            text = text[: there.end()] + words + comma + text[there.end() :]
        else:
            newline = "\r\n" if "\r\n" in text else "\n"
            text = f"notify = [{words}]{newline}{text}"
        if toml_edit.parse(text) != {**before, "notify": [*ours, *chained]}:
            raise unforeseen()
        return (mark + text).encode()

    def take(self, old: bytes, kept: Kept) -> bytes:
        """As `Form` has it."""
        mark, text = text_of(old)
        before = toml_edit.parse(text)
        argv = _ours(before)
        if argv is None:
            return old
        chained = argv[4:]
        there = _NOTIFY.search(text)
        ours = _OURS.match(text, there.end()) if there else None
        if not there or not ours:
            raise unforeseen()
        rest = text[ours.end() :]
        if not chained and there.start() == 0 and (line_end := re.match(r"[ \t]*\][ \t]*\r?\n", rest)):
            text = rest[line_end.end() :]  # the line that we put there
        else:
            text = text[: there.end()] + rest
        after = toml_edit.parse(text)
        if {**after, "notify": chained} != {**before, "notify": chained} or after.get(
            "notify", []
        ) != chained:
            raise unforeseen()
        return b"" if not text and not kept.existed else (mark + text).encode()

    def kept(self, old: bytes) -> Kept:
        """As `Form` has it."""
        return Kept(existed=bool(old))

    def found(self, content: bytes) -> list[Found]:
        """As `Form` has it."""
        argv = _ours(toml_edit.parse(text_of(content)[1]))
        return [Found(event=EVENTS[0].name, entry=json.dumps(argv[:4]))] if argv else []

    def wanted(self, program: Program, *, inject: bool) -> list[Found]:
        """As `Form` has it."""
        del inject
        return [Found(event=EVENTS[0].name, entry=json.dumps(_argv(program)))]


FORM = Notify()


def _argv(program: Program) -> list[str]:
    """`sh -c SCRIPT conversation-esaa`, behind which stand another program's words and what Codex hands over."""
    if program.windows:
        raise NotEditable(
            "Codex's `notify` hands its words to a program, and Windows has no shell that could pass them on",
            hint="`conversation-esaa enable-hooks --agent codex` without --notify works there.",
        )
    call = " ".join(map(command.sh_quoted, command.words(program, "codex", EVENTS[0].name)))
    script = f'for said; do :; done; printf %s "$said" | {call}{_THEN_THE_OTHER}'
    return ["sh", "-c", script, MARK]


def _ours(document: dict[str, Any]) -> list[str] | None:
    argv = document.get("notify")
    if isinstance(argv, list) and len(argv) >= 4 and argv[3] == MARK and command.is_ours(argv[2]):
        return argv
    return None
