"""Entries of ours in the files in which agents' users say which folders they trust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.hooks import json_edit, toml_edit
from conversation_esaa.hooks.surface import Found, Kept, broken, text_of, unforeseen

if TYPE_CHECKING:
    from conversation_esaa.hooks.command import Program


class TrustedTable(msgspec.Struct, frozen=True, kw_only=True):
    """A `Form`: a TOML table per folder, `[projects."/path"]`. An entry that is there is its user's, and stays."""

    table: str  # `projects`, `folders`
    folder: str
    says: dict[str, Any]  # what the table holds
    by: str  # the key of it that decides

    @property
    def _text(self) -> str:
        said = "".join(
            f"\n{key} = {toml_edit.quoted(value) if isinstance(value, str) else str(value).lower()}"
            for key, value in self.says.items()
        )
        return f"[{self.table}.{toml_edit.quoted(self.folder)}]{said}"

    def decided(self, content: bytes) -> Any:
        """What the file says of the folder; None when nothing. Raises NotEditable."""
        entry = _dict(toml_edit.parse(text_of(content)[1]).get(self.table)).get(self.folder)
        return _dict(entry).get(self.by)

    def put(self, old: bytes, program: Program, *, inject: bool) -> bytes:  # noqa: ARG002
        """As `Form` has it."""
        if self.decided(old) is not None:
            return old
        mark, text = text_of(old)
        before = toml_edit.parse(text)
        text = toml_edit.append(text, [self._text])
        folders = {**_dict(before.get(self.table)), self.folder: self.says}
        if toml_edit.parse(text) != {**before, self.table: folders}:
            raise unforeseen()
        return (mark + text).encode()

    def take(self, old: bytes, kept: Kept) -> bytes:  # noqa: ARG002
        """As `Form` has it: only while the table is as it was written."""
        mark, text = text_of(old)
        newline = "\r\n" if "\r\n" in text else "\n"
        ours = self._text.replace("\n", newline)
        before = toml_edit.parse(text)
        text = toml_edit.cut(text, lambda table: table == ours)
        if _without(toml_edit.parse(text), self) != _without(before, self):
            raise unforeseen()
        return (mark + text).encode()

    def kept(self, old: bytes) -> Kept:
        """As `Form` has it."""
        return Kept(existed=bool(old))

    def found(self, content: bytes) -> list[Found]:
        """As `Form` has it."""
        entry = _dict(toml_edit.parse(text_of(content)[1]).get(self.table)).get(self.folder)
        return [Found(event=self.by, entry=self._text)] if entry == self.says else []

    def wanted(self, program: Program, *, inject: bool) -> list[Found]:  # noqa: ARG002
        """As `Form` has it."""
        return [Found(event=self.by, entry=self._text)]


class TrustedMember(msgspec.Struct, frozen=True, kw_only=True):
    """A `Form`: a JSON object of folders, `{"/path": "TRUST_FOLDER"}`."""

    folder: str
    says: str | bool

    def decided(self, content: bytes) -> Any:
        """What the file says of the folder; None when nothing. Raises NotEditable."""
        _, text = text_of(content)
        return _dict(_json(text)).get(self.folder) if text.strip() else None

    def put(self, old: bytes, program: Program, *, inject: bool) -> bytes:  # noqa: ARG002
        """As `Form` has it."""
        if self.decided(old) is not None:
            return old
        mark, text = text_of(old)
        text = text if text.strip() else "{}\n"
        before = _dict(_json(text))
        try:
            text = json_edit.put(text, (self.folder,), self.says)
        except json_edit.NotJson as error:
            raise broken(error.what, error.line, error.column) from None
        if _json(text) != {**before, self.folder: self.says}:
            raise unforeseen()
        return (mark + text).encode()

    def take(self, old: bytes, kept: Kept) -> bytes:
        """As `Form` has it."""
        if self.decided(old) != self.says:
            return old
        mark, text = text_of(old)
        text = json_edit.remove(text, (self.folder,))
        return b"" if not kept.existed and _json(text) == {} else (mark + text).encode()

    def kept(self, old: bytes) -> Kept:
        """As `Form` has it."""
        return Kept(existed=bool(old))

    def found(self, content: bytes) -> list[Found]:
        """As `Form` has it."""
        return [Found(event="", entry=str(self.says))] if self.decided(content) == self.says else []

    def wanted(self, program: Program, *, inject: bool) -> list[Found]:  # noqa: ARG002
        """As `Form` has it."""
        return [Found(event="", entry=str(self.says))]


def _without(document: dict[str, Any], form: TrustedTable) -> dict[str, Any]:
    """A document without the folder's table."""
    folders = {key: each for key, each in _dict(document.get(form.table)).items() if key != form.folder}
    rest = {key: each for key, each in document.items() if key != form.table}
    return {**rest, form.table: folders} if folders else rest


def _json(text: str) -> Any:
    try:
        return json_edit.parse(text).value
    except json_edit.NotJson as error:
        raise broken(error.what, error.line, error.column) from None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
