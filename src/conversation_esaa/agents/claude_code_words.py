"""Claude Code: which words of a text block are the person's, and which the harness put there.

An envelope is an element of a kind that only the harness writes. What it means and how we know:
docs/reference/agents/claude-code.md.
"""

from __future__ import annotations

import re

from conversation_esaa.patterns import lazy


def said_by_person(text: str) -> str:
    """What a person wrote of one text block: all of it, verbatim; "" when it is the harness's.

    Gone is a block that is nothing but envelopes, or a notice of the harness. From a prompt with the
    harness's own blocks before or after it, those blocks are taken off with the white space between;
    blocks in the middle, and in a code fence that is open where they begin, are quotations and stay.
    Costs a look at both ends; a pass over the text when one of them may be an envelope.
    """
    body = text.strip()
    if not body or _is_notice(body):
        return ""
    if body[0] != "<" and body[-1] != ">":
        return text
    kept = _without_envelopes(body)
    if kept == body:
        return text
    return "" if _is_notice(kept) else kept


HARNESS = frozenset({"system-reminder", "persisted-output"})  # the harness puts them beside typed words
# fmt: off
ENVELOPES = HARNESS | {
    "bash-input", "bash-stderr", "bash-stdout", "command-args", "command-message", "command-name",
    "ide_opened_file", "ide_selection", "local-command-caveat", "local-command-stderr",
    "local-command-stdout",
}
# fmt: on
NOTIFICATION = "<task-notification>"  # in some versions a line of text follows its end
_TAG = lazy(f"<(/?)({'|'.join(sorted(ENVELOPES))})(?:\\s[^<>]*)?>")
_OUTPUT = lazy(r"<(bash|command|local-command)-[a-z]+>")
_OUTPUT_END = lazy(r"</(bash|command|local-command)-[a-z]+>")
_INTERRUPTED = lazy(r"\[Request interrupted by user[^\]\n]*\]")
_FENCE = lazy(r"^[ \t]{0,3}(?:```|~~~)", re.MULTILINE)


def _is_notice(body: str) -> bool:
    if body.startswith("["):
        return bool(_INTERRUPTED.fullmatch(body))
    return body.startswith("Stop hook feedback:\n")


def _without_envelopes(body: str) -> str:
    opening, closing = _OUTPUT.match(body), _OUTPUT_END.fullmatch(body, max(0, body.rfind("</")))
    if opening and closing and opening[1] == closing[1]:
        return ""  # what a command printed may hold anything, its own tags included
    elements = _elements(body)
    begin = _after_leading(body, elements, ENVELOPES)
    if begin == len(body) or body.startswith(NOTIFICATION, begin):
        return ""
    open_still = _TAG.match(body, begin)
    if open_still and not open_still[1] and body.endswith(f"</{open_still[2]}>"):
        return ""  # an envelope that quotes its own tag and holds all the rest
    begin = _after_leading(body, elements, HARNESS)
    end = _before_trailing(body, elements, begin)
    if end < len(body) and len(_FENCE.findall(body, begin, end)) % 2:
        end = len(body)
    return body[begin:end].strip()


def _elements(body: str) -> list[tuple[int, int, str]]:
    """Where each closed element begins and ends, with its tag's name; nested ones too. One pass."""
    begun: dict[str, list[int]] = {}
    elements = []
    for tag in _TAG.finditer(body):
        stack = begun.setdefault(tag[2], [])
        if not tag[1]:
            stack.append(tag.start())
        elif stack:
            elements.append((stack.pop(), tag.end(), tag[2]))
    return elements


def _after_leading(body: str, elements: list[tuple[int, int, str]], kinds: frozenset[str]) -> int:
    """Where the text behind the elements of `kinds` at the beginning of `body` begins."""
    begin = 0
    for first, last, kind in sorted(elements):
        if first < begin:
            continue  # nested
        if kind not in kinds or body[begin:first].strip():
            break
        begin = last
    return len(body) - len(body[begin:].lstrip())


def _before_trailing(body: str, elements: list[tuple[int, int, str]], begin: int) -> int:
    """Where the text before the harness's elements at the end of `body`, none before `begin`, ends."""
    end = len(body)
    for first, last, kind in sorted(elements, key=lambda element: -element[1]):
        if last > end:
            continue  # nested
        if kind not in HARNESS or first < begin or body[last:end].strip():
            break
        end = first
    return end
