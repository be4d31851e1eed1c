"""Secrets in what people and agents said: where they are, and the text without them.

Pure. Nothing is written unmasked but the log itself; everything that leaves it passes here (by the door
of `text.py`). The rules are data, see `masking_rules.py`; what they find and what they cannot find is
told in docs/reference/masking.md.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from conversation_esaa.masking_rules import Rule

_PASSES = 4
MARKER = "[REDACTED:"
"""What begins where a secret was; its kind and `]` follow."""
_AT_ONCE = 1 << 16  # characters
_BLOCKS = bytes(b" x"[not chr(byte).isspace()] for byte in range(0x80)) + b"x" * 0x80
"""Makes a blank of all white space and an `x` of all else."""


class Finding(msgspec.Struct, frozen=True):
    """A secret: characters `start` to `end` (exclusive) of the text."""

    kind: str
    start: int
    end: int


def mask(text: str) -> str:
    """`text` with `[REDACTED:kind]` where secrets were; the same object when there are none.

    Masking what was masked changes nothing. What a marker replaces can bring two parts together that
    are a secret only then, so a changed text is looked at again, at most four times in all.
    """
    # Nearly no text has one, and what `mask_all` does around the look costs more than the look.
    return mask_all((text,))[0] if _found((text,)) else text


def mask_all(texts: Sequence[str]) -> list[str]:
    """Each of `texts` as `mask` gives it, at a third of the cost where there are many.

    Memory: a few times _AT_ONCE characters, or the longest text.
    """
    masked = list(texts)
    for portion in _portions(texts):
        changing = list(portion)
        for _ in range(_PASSES):
            found = _found([masked[number] for number in changing])
            if not found:
                break
            changing = [changing[place] for place in found]
            for number, findings in zip(changing, found.values(), strict=True):
                masked[number] = _replaced(masked[number], _merged(findings))
    return masked


def find(text: str) -> list[Finding]:
    """The secrets of `text` in order, none overlapping another.

    The whole text is looked at, not line by line: a key in PEM form runs over many. Where two rules
    meet, the finding covers both and has the kind of the one that starts first, or else of the one that
    stands first in the rules. Time is linear in the length of `text`.
    """
    found = _found((text,))
    return _merged(found[0]) if found else []


def _portions(texts: Sequence[str]) -> Iterator[range]:
    """Numbers of neighbours that are looked at together: as many as stay in the processor's cache."""
    start = characters = 0
    for number, text in enumerate(texts):
        if characters and characters + len(text) > _AT_ONCE:
            yield range(start, number)
            start, characters = number, 0
        characters += len(text)
    yield range(start, len(texts))


def _found(texts: Sequence[str]) -> dict[int, list[Finding]]:
    """What each rule finds in each text, by the number of the text; those without are not in it.

    They are searched as one, a line feed between two: no literal has one in it, so none is found across
    a seam, and a pattern is matched within its own text alone.
    """
    rules = _rules()
    hay = b"\n".join(map(_plain, texts)).lower()
    blocks = hay.translate(_BLOCKS)
    lowered = hay.decode("ascii")
    likely: list[tuple[_Rule, str, bool]] = []
    if words := _long_words(lowered, blocks, rules.shortest_token):  # most sentences have none
        likely = [(rule, each, True) for rule in rules.tokens for each in rule.literals if each in words]
    there = {literal for literal in rules.phrase_literals if literal in lowered}
    if there:
        likely += [(rule, each, False) for rule in rules.phrases for each in rule.literals if each in there]
    found: dict[int, list[Finding]] = {}
    if likely:
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        for rule, literal, whole in likely:
            for number, finding in _matches(rule, literal, texts, lowered, starts, whole=whole):
                found.setdefault(number, []).append(finding)
    return found


def _plain(text: str) -> bytes:
    """`text` in ASCII, as many bytes as it has characters: what is beyond ASCII is a `?`.

    But for the two characters beyond it whose lower case is a letter of ASCII.
    """
    if not text.isascii():
        text = text.replace("\u0130", "I").replace("\u212a", "K")
    return text.encode("ascii", "replace")


def _long_words(lowered: str, blocks: bytes, shortest: int) -> str:
    """The words of so many characters, each on a line of its own: only they can be a token.

    Blanks beyond ASCII count as letters here, so a word may be two: that is one look too many.
    """
    words = []
    block = b"x" * shortest
    at = blocks.find(block)
    while at >= 0:
        end = blocks.find(b" ", at + shortest)
        end = end if end >= 0 else len(blocks)
        words.append(lowered[at:end])
        at = blocks.find(block, end)
    return "\n".join(words)


def _matches(
    rule: _Rule, literal: str, texts: Sequence[str], lowered: str, starts: Sequence[int], *, whole: bool
) -> Iterator[tuple[int, Finding]]:
    """What one rule finds at one of its literals, and in which text.

    lowered  all texts as one; each begins at one of `starts`.
    whole    what the rule's pattern matched is one word, so that nothing else of its kind begins inside it,
             also when it turns out to be a placeholder. This keeps unbounded repeats linear.
    """
    at = lowered.find(literal)
    while at >= 0:
        next_at = at + 1
        number = bisect_right(starts, at) - 1
        start = starts[number]
        text, place = texts[number], at - start
        match = rule.match(text, place) if rule.look(text, place) else None
        if match:
            finding = _finding(rule, match)
            if finding:
                yield number, finding
            if finding or whole:
                next_at = max(next_at, start + match.end())
        at = lowered.find(literal, next_at)


def _finding(rule: _Rule, match: re.Match[str]) -> Finding | None:
    group = next((name for name in rule.groups if match[name] is not None), 0)
    value = match[group].rstrip(".") if group == "bare" else match[group]  # a dot there ends the sentence
    if value.startswith(MARKER) or not rule.check(value, match):
        return None
    kind = _kind_of_name(match["word"]) if rule.kind == "assigned" else rule.kind
    start = match.start(group)
    return Finding(kind, start, start + len(value))


def _is_assigned_secret(value: str, match: re.Match[str]) -> bool:
    """Whether what is given to a name like `password` or `api_key` is the secret itself.

    In quotes a password of four characters is enough; a token or key must look like one. Without quotes
    it may be a variable, a call or a word of a sentence, so it must have a digit or something else that
    no variable has, unless it is set as a file of environment variables does: `DB_PASSWORD=…`.
    """
    word, separator = match["word"], match["separator"]
    chosen_by_people = word[0] in "pPsS"  # pass…, pwd, secret
    encoded = _looks_encoded(value)
    mixed = _has_digit(value) and _has_letter(value)
    if match["quote"] is not None:
        if any(character.isspace() for character in value):
            likely = word.lower() == "passphrase"
        elif chosen_by_people:
            likely = len(value) >= 4
        else:
            likely = (len(value) >= 8 and mixed) or (len(value) >= 20 and encoded)
        return likely and not _rules().no_value(value)
    if match.string[match.end() : match.end() + 1] in {"(", "[", "{"}:
        return False  # a call, or the beginning of something bigger
    if chosen_by_people:
        likely = (
            (len(value) >= 6 and _has_digit(value))
            or (len(value) >= 4 and mixed and word[0] in "pP")
            or (len(value) >= 6 and _has_letter(value) and _SYMBOL.search(value) is not None)
            or (len(value) >= 4 and separator == "=" and word.isupper())
        )
    else:
        shortest = 20 if separator in {"is", "was", "to"} else 8 if separator == "=" else 12
        likely = (len(value) >= shortest and mixed) or (len(value) >= 24 and encoded)
    return likely and not _rules().name(value) and not _rules().no_value(value)


def _kind_of_name(word: str) -> str:
    lowered = word.lower()
    if lowered.startswith(("pass", "pwd")):
        return "password"
    return {"key": "api-key", "_auth": "authorization", "credentials": "credential"}.get(lowered, lowered)


_SYMBOL = lazy(r"[!@#$%^*?+~](?!$)")
_DIGIT = lazy("[0-9]")
_LETTER = lazy("[A-Za-z]")


def _has_digit(value: str) -> bool:
    return _DIGIT.search(value) is not None


def _has_letter(value: str) -> bool:
    return _LETTER.search(value) is not None


def _looks_encoded(value: str) -> bool:
    """Has a digit or a `=`, or small and large letters mixed, as base64 has and a word has not."""
    return (
        _has_digit(value)
        or value.endswith("=")
        or not (value.islower() or value.isupper() or value.istitle())
    )


def _is_given(value: str, _match: re.Match[str]) -> bool:
    return not _rules().placeholder(value)


def _is_mixed(value: str, match: re.Match[str]) -> bool:
    return _has_digit(value) and _has_letter(value) and _is_given(value, match)


def _is_encoded(value: str, _match: re.Match[str]) -> bool:
    return _looks_encoded(value) and not _rules().no_value(value)


def _is_credential(value: str, match: re.Match[str]) -> bool:
    return _is_mixed(value, match) and not _rules().no_value(value)


def _is_base64(value: str, _match: re.Match[str]) -> bool:
    return value.endswith("=") or (_has_digit(value) and not (value.islower() or value.isupper()))


def _is_in_url(value: str, _match: re.Match[str]) -> bool:
    return not _rules().no_url_value(value)


def _is_option_value(value: str, match: re.Match[str]) -> bool:
    return _has_digit(value) and _is_assigned_secret(value, match)


CHECKS: dict[str, Callable[[str, re.Match[str]], bool]] = {
    "": lambda _value, _match: True,
    "given": _is_given,  # no placeholder
    "mixed": _is_mixed,  # has letters and digits, and is no placeholder
    "credential": _is_credential,  # and no reference either
    "encoded": _is_encoded,  # no plain word, no placeholder, no reference
    "base64": _is_base64,
    "url": _is_in_url,  # a password like `password` counts here
    "assigned": _is_assigned_secret,
    "option": _is_option_value,
}


_NAME = (
    "abcdefghijklmnopqrstuvwxyzſı0123456789_-"  # two letters that count as an s and an i, whatever the case
)
_BEHIND_A_NAME = "\\\"'`] \t"
_SEPARATORS = (":", "=", "is", "was", "to")
_NEAR = 100  # characters; a pattern gets less far to what is looked for here


def _near(text: str, at: int) -> str:
    return text[at : at + _NEAR].replace("\u0130", "I").lower()


def _is_assigned_to(text: str, at: int) -> bool:
    return _near(text, at).lstrip(_NAME).lstrip(_BEHIND_A_NAME).startswith(_SEPARATORS)


def _is_option_for_a_secret(text: str, at: int) -> bool:
    near = _near(text, at)
    return any(word in near for word in ("pass", "pwd", "secret", "token", "key", "cred", "_auth", "ſ"))


LOOKS: dict[str, Callable[[str, int], bool]] = {
    "": lambda _text, _at: True,
    "assigned": _is_assigned_to,
    "option": _is_option_for_a_secret,
}


def _merged(found: list[Finding]) -> list[Finding]:
    found.sort(key=lambda finding: finding.start)  # stable: rules that know more stand first
    merged = found[:1]
    for finding in found[1:]:
        last = merged[-1]
        if finding.start >= last.end:
            merged.append(finding)
        elif finding.end > last.end:
            merged[-1] = msgspec.structs.replace(last, end=finding.end)
    return merged


def _replaced(text: str, findings: list[Finding]) -> str:
    def parts() -> Iterator[str]:
        at = 0
        for finding in findings:
            yield text[at : finding.start]
            yield f"{MARKER}{finding.kind}]"
            at = finding.end
        yield text[at:]

    return "".join(parts())


class _Rule(msgspec.Struct, frozen=True):
    kind: str
    literals: tuple[str, ...]
    look: Callable[[str, int], bool]
    match: Callable[[str, int], re.Match[str] | None]
    groups: tuple[str, ...]  # those that may hold the secret
    check: Callable[[str, re.Match[str]], bool]


class _Rules(msgspec.Struct, frozen=True, kw_only=True):
    tokens: tuple[_Rule, ...]
    phrases: tuple[_Rule, ...]
    phrase_literals: tuple[str, ...]
    shortest_token: int
    placeholder: Callable[[str], object]
    no_value: Callable[[str], object]
    name: Callable[[str], object]
    no_url_value: Callable[[str], object]


@cache
def _rules() -> _Rules:
    """The rules, made when the first text comes, each pattern when a literal of its rule was found."""
    from conversation_esaa import masking_rules as data

    return _Rules(
        tokens=tuple(map(_ready, data.TOKENS)),
        phrases=tuple(map(_ready, data.PHRASES)),
        phrase_literals=tuple(dict.fromkeys(x for rule in data.PHRASES for x in rule.literals)),
        shortest_token=data.SHORTEST_TOKEN,
        placeholder=_any_of(data.PLACEHOLDERS, data.PLACEHOLDER_PARTS),
        no_value=_any_of(data.PLACEHOLDERS + data.REFERENCES, data.PLACEHOLDER_PARTS + data.REFERENCE_PARTS),
        name=_any_of(data.NAMES, ()),
        no_url_value=_any_of(data.PLACEHOLDERS[:1] + data.REFERENCES[:4], data.REFERENCE_PARTS),
    )


def _ready(rule: Rule) -> _Rule:
    groups = tuple(name for name in ("secret", "bare") if f"(?P<{name}>" in rule.pattern)
    pattern = lazy(rule.pattern)
    match = lambda text, at: pattern.match(text, at)  # noqa: E731, PLW0108 - a bound method would compile it
    return _Rule(rule.kind, rule.literals, LOOKS[rule.look], match, groups, CHECKS[rule.check])


def _any_of(wholes: tuple[str, ...], parts: tuple[str, ...]) -> Callable[[str], object]:
    """Whether a value is one of `wholes` or has one of `parts` in it."""
    whole = lazy("|".join(f"(?:{pattern})" for pattern in wholes))
    part = lazy("|".join(f"(?:{pattern})" for pattern in parts) or "(?!)")
    return lambda value: part.search(value) or whole.fullmatch(value)
