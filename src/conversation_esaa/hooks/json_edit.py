"""The smallest change in the text of a JSON file: one value put in, replaced or taken out.

What is not part of the change keeps its bytes: comments, trailing commas, indentation, line ends, the spelling
of numbers and strings. Comments and trailing commas are read everywhere; whether an agent allows them is its
own affair. Putting in and taking out again gives the text that was there before.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

Path = tuple[str | int, ...]  # object keys and list positions, from the document down

DEEPEST = 100
_BLANK = " \t\r\n"
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])")
_LINE_COMMENT = re.compile(r"//[^\r\n]*")
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


class NotJson(ValueError):
    """The text is no JSON, or not of the shape that the change needs. `line` and `column` count from 1."""

    def __init__(self, what: str, text: str, at: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = text.count("\n", 0, at) + 1
        self.column = at - (text.rfind("\n", 0, at) + 1) + 1


class Node(msgspec.Struct):
    """One value and where it stands: `text[begin:end]`."""

    begin: int
    end: int
    value: Any  # as json.loads gives it
    items: list[Item] = []  # of an object or a list

    @property
    def is_object(self) -> bool:
        """Whether it is `{…}`."""
        return isinstance(self.value, dict)

    @property
    def is_list(self) -> bool:
        """Whether it is `[…]`."""
        return isinstance(self.value, list)


class Item(msgspec.Struct):
    """One member of an object, or one element of a list."""

    key: str | int
    begin: int  # of the key, or of the element
    node: Node
    comma: int = -1  # where the comma behind it stands; -1 without one


def parse(text: str) -> Node:
    """The document. Raises NotJson."""
    reader = _Reader(text)
    node = reader.value(reader.skip(0), 0)
    if (at := reader.skip(node.end)) < len(text):
        raise NotJson("something stands behind the end of the document", text, at)
    return node


def find(node: Node, path: Path) -> Node | None:
    """What stands at `path`, else None. Of a key that is there twice the last counts, as everywhere."""
    for step in path:
        if node.is_list != isinstance(step, int):
            return None
        found = [item.node for item in node.items if item.key == step]
        if not found:
            return None
        node = found[-1]
    return node


def append(text: str, path: Path, value: Any) -> str:
    """`text` with `value` as the last element of the list at `path`, which is made where it is not there.

    Raises NotJson where something else than an object or the list stands on the way.
    """
    node = find(parse(text), path)
    if node is None:
        return put(text, path, [value])
    if not node.is_list:
        raise NotJson(f"{_spelled(path)} is no list", text, node.begin)
    return _put(text, node, None, value)


def put(text: str, path: Path, value: Any) -> str:
    """`text` with `value` at `path`, in the place of what stands there, or as a new member.

    Objects on the way are made. Raises NotJson where something else stands there.
    """
    node, depth = parse(text), 0
    while depth < len(path) and (below := find(node, path[depth : depth + 1])):
        node, depth = below, depth + 1
    if depth == len(path):
        return replace(text, path, value)
    if not node.is_object:
        raise NotJson(f"{_spelled(path[:depth]) or 'the document'} is no object", text, node.begin)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    return _put(text, node, str(path[depth]), value)


def replace(text: str, path: Path, value: Any) -> str:
    """`text` with `value` in the place of what stands at `path`. Raises NotJson when nothing does."""
    document = parse(text)
    node = find(document, path)
    if node is None:
        raise NotJson(f"{_spelled(path)} is not there", text, 0)
    style = _Style(text, document)
    inline = "\n" not in text[node.begin : node.end]
    new = _dumped(value, style, style.indent_at(node.begin), inline=inline and style.newline not in text)
    return text[: node.begin] + new + text[node.end :]


def remove(text: str, path: Path, *, keep: Collection[Path] = ()) -> str:
    """`text` without what stands at `path`, and without the containers that are empty then.

    keep   paths of containers that stay, empty as they were before.

    Raises NotJson when nothing stands there.
    """
    document = parse(text)
    if find(document, path) is None:
        raise NotJson(f"{_spelled(path)} is not there", text, 0)
    while len(path) > 1:
        parent = find(document, path[:-1])
        if parent is None or len(parent.items) > 1 or path[:-1] in keep or _has_remarks(text, parent):
            break
        path = path[:-1]
    parent = find(document, path[:-1])
    if parent is None:  # for mypy; the loop has just seen it
        raise NotJson(f"{_spelled(path)} is not there", text, 0)
    return _taken(text, parent, max(at for at, item in enumerate(parent.items) if item.key == path[-1]))


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in `value` with its path, outer ones first."""
    yield path, value
    below: Any = ()
    if isinstance(value, dict):
        below = value.items()
    elif isinstance(value, list):
        below = enumerate(value)
    for key, each in below:
        yield from walk(each, (*path, key))


def empty_containers(text: str) -> list[Path]:
    """Where the document holds `{}` or `[]`. Raises NotJson."""
    return [path for path, value in walk(parse(text).value) if value in ({}, [])]


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def skip(self, at: int) -> int:
        """Past blanks and comments."""
        text = self.text
        while at < len(text):
            if text[at] in _BLANK:
                at += 1
            elif found := _LINE_COMMENT.match(text, at) or _BLOCK_COMMENT.match(text, at):
                at = found.end()
            else:
                break
        return at

    def value(self, at: int, depth: int) -> Node:
        text = self.text
        if at >= len(text):
            raise NotJson("the text ends where a value should stand", text, len(text))
        if depth > DEEPEST:
            raise NotJson("nested too deeply", text, at)
        if text[at] == "{":
            return self._container(at, "}", depth, keyed=True)
        if text[at] == "[":
            return self._container(at, "]", depth, keyed=False)
        found = _STRING.match(text, at) if text[at] == '"' else _SCALAR.match(text, at)
        if not found:
            raise NotJson("no JSON value stands here", text, at)
        try:
            return Node(begin=at, end=found.end(), value=json.loads(found[0]))
        except ValueError:  # thousands of digits
            raise NotJson("no JSON value stands here", text, at) from None

    def _container(self, begin: int, closing: str, depth: int, *, keyed: bool) -> Node:
        text, items = self.text, list[Item]()
        at = self.skip(begin + 1)
        while text[at : at + 1] != closing:
            if items and items[-1].comma < 0:
                self._fail("a comma or the end of the object or list is missing", at)
            item = self._member(at, depth) if keyed else self._element(at, len(items), depth)
            items.append(item)
            at = self.skip(item.node.end)
            if text[at : at + 1] == ",":
                item.comma = at
                at = self.skip(at + 1)
        value: Any = {item.key: item.node.value for item in items} if keyed else [i.node.value for i in items]
        return Node(begin=begin, end=at + 1, value=value, items=items)

    def _element(self, at: int, position: int, depth: int) -> Item:
        return Item(key=position, begin=at, node=self.value(at, depth + 1))

    def _member(self, at: int, depth: int) -> Item:
        found = _STRING.match(self.text, at)
        if not found:
            self._fail("a key in double quotes is missing", at)
        colon = self.skip(found.end())
        if self.text[colon : colon + 1] != ":":
            self._fail("a colon is missing", colon)
        node = self.value(self.skip(colon + 1), depth + 1)
        return Item(key=json.loads(found[0]), begin=at, node=node)

    def _fail(self, what: str, at: int) -> NoReturn:
        raise NotJson(what, self.text, min(at, len(self.text)))


class _Style:
    """How a document is laid out, so that what is put in looks like the rest."""

    def __init__(self, text: str, document: Node) -> None:
        self.text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        first = next((item for item in document.items if "\n" in text[document.begin : item.begin]), None)
        self.unit = (self.indent_at(first.begin) if first else "") or "  "

    def indent_at(self, at: int) -> str:
        """The blanks that begin the line of `at`."""
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]


def _put(text: str, node: Node, key: str | None, value: Any) -> str:
    """`text` with one more item at the end of `node`."""
    style = _Style(text, parse(text))

    def item(indent: str, *, inline: bool) -> str:
        name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
        return name + _dumped(value, style, indent, inline=inline)

    if not node.items:
        return _put_first(text, node, item, style)
    last = node.items[-1]
    behind = last.comma + 1 if last.comma >= 0 else last.node.end
    spread = "\n" in text[node.begin : last.begin]
    indent = style.indent_at(node.items[0].begin)
    lead = style.newline + indent if spread else " "
    at = _end_of_remarks(text, behind) if spread else behind
    new = lead + item(indent, inline=not spread)
    if last.comma >= 0:
        return text[:at] + new + "," + text[at:]
    return text[: last.node.end] + "," + text[last.node.end : at] + new + text[at:]


def _put_first(text: str, node: Node, item: Callable[..., str], style: _Style) -> str:
    inner = text[node.begin + 1 : node.end - 1]
    remark = inner.rstrip(_BLANK)
    tail = inner[len(remark) :]
    at = node.begin + 1 + len(remark)
    on_one_line = "\n" not in text.strip() and len(text.strip()) > 2
    if on_one_line or (inner and "\n" not in tail):
        return (
            text[:at] + (" " if remark else "") + item(style.indent_at(node.begin), inline=True) + text[at:]
        )
    outer = style.indent_at(node.begin)
    indent = outer + style.unit
    end = "" if tail else style.newline + outer
    return text[:at] + style.newline + indent + item(indent, inline=False) + end + text[at:]


def _taken(text: str, node: Node, position: int) -> str:
    """`text` without one item of `node`: the reverse of `_put`."""
    item = node.items[position]
    before = node.items[position - 1] if position else None
    floor = before.comma + 1 if before else node.begin + 1
    begin = _end_of_blanks_before(text, item.begin, floor)
    end = item.comma + 1 if item.comma >= 0 else item.node.end
    if len(node.items) == 1:
        tail = text[end : node.end - 1]
        if begin == floor and "\n" in tail and not tail.strip(_BLANK):
            end = node.end - 1
        return text[:begin] + text[end:]
    if before and item.comma < 0:  # the comma before the last item goes with it
        return text[: before.comma] + text[before.comma + 1 : begin] + text[end:]
    return text[:begin] + text[end:]


def _has_remarks(text: str, node: Node) -> bool:
    """Whether comments stand between the items of `node`."""
    at, rest = node.begin + 1, ""
    for item in node.items:
        rest += text[at : item.begin]
        at = item.node.end
    return "/" in rest + text[at : node.end - 1]


def _end_of_remarks(text: str, at: int) -> int:
    """Behind the comments that stand on the same line."""
    end = at
    while True:
        while at < len(text) and text[at] in " \t":
            at += 1
        found = _LINE_COMMENT.match(text, at) or _BLOCK_COMMENT.match(text, at)
        if not found or "\n" in found[0]:
            return end
        at = end = found.end()


def _end_of_blanks_before(text: str, at: int, floor: int) -> int:
    while at > floor and text[at - 1] in _BLANK:
        at -= 1
    return at


def _dumped(value: Any, style: _Style, indent: str, *, inline: bool) -> str:
    if inline:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=style.unit).split("\n")
    return (style.newline + indent).join(lines)


def _spelled(path: Path) -> str:
    return ".".join(map(str, path))
