"""Hook entries in a JSON file that others write into as well."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.hooks import json_edit
from conversation_esaa.hooks.command import is_ours
from conversation_esaa.hooks.surface import Event, Found, Kept, NotEditable, broken, text_of, unforeseen

if TYPE_CHECKING:
    from conversation_esaa.hooks.command import Program

Handler = dict[str, Any]
_GROUP_KEYS = {"matcher", "sequential"}  # of a group, besides its handlers
HANDLER_TEXTS = ("command", "bash", "powershell")  # the keys of a handler that hold a command


class JsonHooks(msgspec.Struct, frozen=True, kw_only=True):
    """A `Form`: a list of entries per event, somewhere in a JSON document.

    handler   what we register for one event: `handler(program, event, inject=…)`.
    below     the keys that lead to the object with the events.
    grouped   whether an entry is `{"matcher": …, "hooks": [handler, …]}`, as Claude Code has it, or a handler.
    base      what a file has to say besides, when we are the ones to make it.
    """

    events: Sequence[Event]
    handler: Callable[..., Handler]
    below: tuple[str, ...] = ("hooks",)
    grouped: bool = True
    base: dict[str, Any] = {}

    def put(self, old: bytes, program: Program, *, inject: bool) -> bytes:
        """As `Form` has it. An entry that is stale is replaced where it stands."""
        mark, text = text_of(old)
        before = _value(text) if text.strip() else None
        if before is None:
            text = json.dumps(self.base, indent=2) + "\n"
        text = self._put(text, program, inject=inject)
        _check(before, text, ours=[found.entry for found in self.wanted(program, inject=inject)])
        return (mark + text).encode()

    def _put(self, text: str, program: Program, *, inject: bool) -> str:
        try:
            for event in self.events:
                handler = self.handler(program, event, inject=inject)
                at = (*self.below, event.name)
                there = [path for path in _ours(json_edit.parse(text).value) if path[: len(at)] == at]
                for path in reversed(there[1:]):
                    text = json_edit.remove(text, _whole(text, path))
                if not there:
                    text = json_edit.append(text, at, {"hooks": [handler]} if self.grouped else handler)
                elif _at(json_edit.parse(text).value, there[0]) != handler:
                    text = json_edit.replace(text, there[0], handler)
            places = [(*self.below, event.name) for event in self.events]
            for path in reversed(_ours(json_edit.parse(text).value)):
                if not any(path[: len(place)] == place for place in places):
                    text = json_edit.remove(text, _whole(text, path))
        except json_edit.NotJson as error:
            raise broken(error.what, error.line, error.column) from None
        return text

    def take(self, old: bytes, kept: Kept) -> bytes:
        """As `Form` has it."""
        mark, text = text_of(old)
        if not text.strip():
            return old
        before = _value(text)
        for path in reversed(_ours(before)):
            text = json_edit.remove(text, _whole(text, path), keep=kept.containers)
        _check(before, text, ours=[])
        if not kept.existed and before != _value(text) and _value(text) in ({}, self.base):
            return b""
        return (mark + text).encode()

    def kept(self, old: bytes) -> Kept:
        """As `Form` has it."""
        _, text = text_of(old)
        containers = json_edit.empty_containers(text) if text.strip() else []
        return Kept(containers=tuple(containers), existed=bool(text.strip()))

    def found(self, content: bytes) -> list[Found]:
        """As `Form` has it. The event is the last key on the way that is a name."""
        _, text = text_of(content)
        value = _value(text) if text.strip() else {}
        depth = len(self.below)
        return [
            _found(str(path[depth]) if len(path) > depth else "", _at(value, path)) for path in _ours(value)
        ]

    def wanted(self, program: Program, *, inject: bool) -> list[Found]:
        """As `Form` has it."""
        return [_found(event.name, self.handler(program, event, inject=inject)) for event in self.events]


def _found(event: str, handler: Handler) -> Found:
    entry = _canonical(handler)
    return Found(event=event, entry=entry, inject=" --inject" in entry)


def entries(content: bytes) -> list[json_edit.Path]:
    """Where handlers of ours stand in a file; nowhere in one that cannot be read."""
    try:
        _, text = text_of(content)
        return _ours(_value(text)) if text.strip() else []
    except NotEditable:
        return []


def _value(text: str) -> Any:
    try:
        return json_edit.parse(text).value
    except json_edit.NotJson as error:
        raise broken(error.what, error.line, error.column) from None


def _ours(value: Any) -> list[json_edit.Path]:
    """Where handlers of ours stand: objects that are elements of a list and call our entry file."""
    return [
        path
        for path, each in json_edit.walk(value)
        if path
        and isinstance(path[-1], int)
        and isinstance(each, dict)
        and any(is_ours(each.get(key)) for key in HANDLER_TEXTS)
    ]


def _whole(text: str, path: json_edit.Path) -> json_edit.Path:
    """The path of the group when it holds nothing but our handler, else that of the handler."""
    group = path[:-2]
    if len(path) > 3 and path[-2] == "hooks" and isinstance(group[-1], int):
        around = _at(json_edit.parse(text).value, group)
        if set(around) <= {"hooks", *_GROUP_KEYS} and len(around["hooks"]) == 1:
            return group
    return path


def _at(value: Any, path: json_edit.Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _check(before: Any, text: str, *, ours: list[str]) -> None:
    """The document differs from what it was by our entries and by nothing else.

    Raises NotEditable: a fault of ours, or a document that is laid out in a way that nobody foresaw.
    """
    after = _value(text)
    there = sorted(_canonical(_at(after, path)) for path in _ours(after))
    rest = before is None or _without_ours(after) == _without_ours(before)
    if not rest or there != sorted(ours):
        raise unforeseen()


def _without_ours(value: Any) -> Any:
    """`value` without our handlers, and without what is empty: containers come and go with them."""
    if isinstance(value, dict):
        if any(is_ours(value.get(key)) for key in HANDLER_TEXTS):
            return None
        below = {key: _without_ours(each) for key, each in value.items()}
        kept = {key: each for key, each in below.items() if each is not None}
        emptied = "hooks" in value and "hooks" not in kept
        return kept if kept.keys() - (_GROUP_KEYS if emptied else set()) else None
    if isinstance(value, list):
        return [each for each in map(_without_ours, value) if each is not None] or None
    return _Same(value)


class _Same:
    """A leaf that is equal to itself, and to nothing of another type: `true` is not `1`, `null` is something."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and repr(other.value) == repr(self.value)

    __hash__ = None  # type: ignore[assignment]


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
