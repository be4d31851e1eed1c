"""The conversation's words on their way out: masked, visible, and unable to pose as anything of ours.

Text from a conversation is data. Whoever puts it into a read model or an answer takes one of these doors:

    quote     a block of its own           inline    a part of one line of Markdown
    masked    a value in JSON              terminal  a person's screen (not masked: it is their own text)

All are pure, take any string (lone surrogates too) and give text that can be encoded as UTF-8. No class
of the running Python's Unicode tables decides anything, so that equal text gives equal bytes anywhere.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from conversation_esaa.canonical import without_surrogates
from conversation_esaa.masking import mask, mask_all
from conversation_esaa.patterns import lazy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SUMMARY_CHARACTERS = 200

_SLACK = 4_096
"""How far behind a limit a secret that begins before it may need to be looked at."""


def summary(text: str) -> str:
    """The first 200 characters, each run of whitespace one blank; no ellipsis. Costs one pass at most."""
    shown = text[:SUMMARY_CHARACTERS]
    if shown.isprintable() and "  " not in shown and shown[:1] != " " != shown[-1:]:
        return shown  # most texts: no other white space is printable
    beginning = " ".join(text[: 2 * SUMMARY_CHARACTERS].split())
    if len(beginning) < SUMMARY_CHARACTERS < len(text):  # a long text with much white space
        words = text.split(None, SUMMARY_CHARACTERS)  # so many words are more characters than that
        beginning = " ".join(words)
    return beginning[:SUMMARY_CHARACTERS]


def masked(text: str) -> str:
    """`text` with `[REDACTED:kind]` where secrets were, and otherwise as it was said."""
    return _again_masked(text) if len(text) <= _SHORT else mask(text)


def masked_all(texts: Sequence[str]) -> list[str]:
    """`masked` of each, cheaper than one by one: the same door, for many."""
    return mask_all(texts)


def excerpt(text: str, limit: int) -> str:
    """`text`, or its beginning and ` [… N characters left out]`, N counting what is not shown.

    limit   characters (code points) of the beginning, at least 1. The cut does not go through what a
            reader sees as one character, unless that alone is longer than the limit.
    """
    return _cut(text, limit, beyond=0)


def quote(text: str, *, limit: int | None = None) -> str:
    """A fenced block that holds `text` and cannot be left from inside; ends with a line feed.

    Secrets are masked, controls and invisible characters are shown (`␛`, `⟨U+202E⟩`), marks that a model
    or one of our readers could take for structure (`<system-reminder>`, `<|im_start|>`, `Human:` at the
    start of a line, our own markers) get other brackets, and the fence is longer than any inside.
    Everything else stays verbatim, blank lines and trailing spaces too.

    limit   characters of the text after masking, see `excerpt`; None for all of it.
    """
    window, beyond = _window(text, limit)
    shown = _without_structure(_visible(mask(window)))
    if limit is not None:
        shown = _cut(shown, limit, beyond=beyond)
    longest = max(map(len, _BACKTICKS.findall(shown)), default=0)
    fence = "`" * max(3, longest + 1)
    end = "" if not shown or shown.endswith("\n") else "\n"
    return f"{fence}text\n{shown}{end}{fence}\n"


def inline(text: str, *, limit: int | None = None) -> str:
    """One line of Markdown that shows `text` and does nothing else; "" for blank text.

    As `quote`, and each run of whitespace is one blank, and what could begin a link, an image, a heading,
    a list, a table cell, HTML, emphasis, code or an address that turns into a link is escaped.

    limit   characters before escaping, `…` included when something was cut; None for all of it.
    """
    if limit is None:
        window, beyond = text, 0
    else:  # blanks fold, so a window in characters of the text may end early: it is cut there then
        window, beyond = _window(text, 4 * limit)
    shown, is_plain = _again_on_a_line(window) if len(window) <= _SHORT else _on_a_line(window)
    if limit is not None and (beyond or len(shown) > limit):
        shown = shown[: _boundary(shown, limit - 1)].rstrip() + "…"
    return shown if is_plain else _escaped(shown)


def terminal(text: str) -> str:
    """`text` for a person's screen: no control, no direction override, nothing invisible takes effect.

    TAB and LF survive, CR LF becomes LF. Secrets are shown: callers for whom that is wrong mask first.
    """
    return _visible(text)


def tokens(text: str) -> int:
    """How many tokens a model may count for `text`, rather too many than too few; needs no tokenizer.

    Each byte of its UTF-8 has a weight, see `_WEIGHTS`; the sum is rounded up. So tokens(a + b) <=
    tokens(a) + tokens(b): parts that fit a budget one by one fit it together. Measured on chat, code,
    Markdown and JSON against two tokenizers it is 10 to 40 % above the count; it falls short only on
    long runs of base64 or capitals. Say "estimated", never "guaranteed".
    """
    return -(-sum(text.encode("utf-8", "surrogatepass").translate(_WEIGHTS)) // 24)


def strip_private(text: str) -> tuple[str, bool]:
    """`text` without `<private>…</private>` and what is inside, and whether something was taken out.

    Any case, attributes allowed, nested; a tag that is never closed goes to the end of the text. Tags in
    a code fence count too: what was meant to stay private must not depend on how Markdown is read. What
    remains is joined as it is; tags that only arise by joining count as well.
    """
    if not _has_private(text):
        return text, False
    removed = False
    for _ in range(_PRIVATE_PASSES):
        remaining = _outside_private(text, last=False)
        if remaining == text:
            return text, removed
        text, removed = remaining, True
    return _outside_private(text, last=True), True


def _on_a_line(text: str) -> tuple[str, bool]:
    """`text` masked, visible and folded, and whether there is nothing in it that Markdown could take for its own."""
    shown = mask(text)
    if _PLAIN.fullmatch(shown):
        return shown, True
    return _without_structure(" ".join(_visible(shown, keep="").split())), False


# The same ids, titles and sentences stand in several read models, and in one of them in several sizes.
_SHORT = 400  # characters of what is remembered
_again_masked = lru_cache(maxsize=1024)(mask)
_again_on_a_line = lru_cache(maxsize=1024)(_on_a_line)


# Private parts

_PRIVATE_PASSES = 4
_PRIVATE = lazy(r"<[ \t\n]{0,8}(/?)[ \t\n]{0,8}private(?:[\s/][^<>]{0,200})?>", re.IGNORECASE | re.ASCII)


def _has_private(text: str) -> bool:
    return "<" in text and _PRIVATE.search(text) is not None


def _outside_private(text: str, *, last: bool) -> str:
    """One pass. `last`: the first tag begins what is private to the end, whatever closes it."""
    kept: list[str] = []
    depth = at = 0
    for tag in _PRIVATE.finditer(text):
        closing = bool(tag[1])
        if depth == 0:
            if closing:
                continue  # closes nothing: a word like any other
            kept.append(text[at : tag.start()])
            if last:
                return "".join(kept)
        depth += -1 if closing else 1
        if depth == 0:
            at = tag.end()
    if depth == 0:
        kept.append(text[at:])
    return "".join(kept)


# What cannot be seen is shown

_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without TAB and LF, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff0-\ufffb\ufffe\uffff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_TO_SHOW = lazy(f"[{_INVISIBLE}]")
_PICTURES = {**{code: chr(0x2400 + code) for code in range(0x20)}, 0x7F: "␡"}
_JOINERS = "\u200c\u200d"
_SELECTORS = "\ufe0e\ufe0f"


def _visible(text: str, *, keep: str = "\t\n") -> str:
    """`text` with controls as pictures (ESC is `␛`) and what is invisible by number (`⟨U+200B⟩`).

    Kept are the characters of `keep`, CR LF as LF, and what scripts and emoji need: one joiner between two
    characters beyond ASCII, one presentation selector behind a character that can be seen.
    """
    text = without_surrogates(text).replace("\r\n", "\n")
    if keep != "\t\n":
        text = text.replace("\t", " ").replace("\n", " ").replace("\r", " ")
    if text.isascii() and text.replace("\t", "").replace("\n", "").isprintable():
        return text  # most texts, and the pattern takes long to compile
    return _TO_SHOW.sub(_shown, text)


def _shown(found: re.Match[str]) -> str:
    character, text = found[0], found.string
    before, after = text[max(found.start() - 1, 0) : found.start()], text[found.end() : found.end() + 1]
    if character in _JOINERS and _joins(before) and _joins(after):
        return character
    if character in _SELECTORS and before and before > " " and not _TO_SHOW.match(before):
        return character
    code = ord(character)
    return _PICTURES.get(code) or f"⟨U+{code:04X}⟩"


def _joins(character: str) -> bool:
    return character > "\x7f" and (character in _SELECTORS or not _TO_SHOW.match(character))


# What could pose as structure gets other brackets

_TAGS = (
    "system|developer|user|assistant|human|ai|model|tool|function|context|conversation|transcript|handoff|quote|"
    "instructions?|environment_context|permissions|persisted-output|task-notification|local-command|command-name|"
    "command-message|command-args|hook_context|user-prompt-submit-hook|user_query|user_instructions|thinking|"
    "reasoning|analysis|invoke|parameter|antml|result|results|document|documents|search_results|important|"
    "critical|memory|skill|start_of_turn|end_of_turn|bos|eos|begin_of_text|sys|policy|rules|prompt|output|turn_aborted"
)
_TAG_NAMES = tuple(_TAGS.replace("s?", "").split("|"))
_TAG = lazy(
    r"<(?!(?<=[A-Za-z0-9_]<)(?-i:[A-Z][a-z]{0,20})>)"  # the type in `List<User>`
    rf"(\s{{0,8}}/?\s{{0,8}}(?:{_TAGS})(?:[-_:.][A-Za-z0-9_:.-]{{0,64}})?(?=[\s/>]|$)[^<>\n]{{0,120}})(>?)",
    re.IGNORECASE | re.ASCII,
)
_SPECIAL_TOKEN = lazy(r"<(?=[|｜])|(?<=[|｜])>|<(?=<\s{0,4}/?SYS)|(?<=SYS>)>", re.IGNORECASE | re.ASCII)
_INST = lazy(
    r"\[(\s{0,4}/?\s{0,4}(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS))\]",
    re.IGNORECASE | re.ASCII,
)
_ROLES = "Human|User|Assistant|System|Developer|AI|Model|Tool|Function|H|A"
_ROLE_NAMES = frozenset(_ROLES.lower().split("|"))
_ROLE = lazy(
    rf"^([ \t>#*_-]{{0,12}})({_ROLES})(?=[*_ \t]{{0,4}}[:：])",
    re.IGNORECASE | re.ASCII | re.MULTILINE,
)
_OURS = lazy(r"\[(?=\s{0,4}/?\s{0,4}(?:end |begin )?conversation-esaa)", re.IGNORECASE | re.ASCII)


def _without_structure(text: str) -> str:
    if any(mark in text for mark in ("<|", "|>", "<｜", "｜>", "<<", ">>")):
        text = _SPECIAL_TOKEN.sub(lambda found: "‹" if found[0] == "<" else "›", text)
    if _may_have_a_tag(text):
        text = _TAG.sub(lambda found: f"‹{found[1]}{'›' if found[2] else ''}", text)
    if "[" in text:
        text = _OURS.sub("‹", _INST.sub(r"‹\1›", text))
    if _may_have_a_role(text):
        text = _ROLE.sub(r"\1‹\2›", text)
    return text


def _may_have_a_role(text: str) -> bool:
    """Whether a line begins with nothing but the name of one who speaks, or with that and a colon."""
    beginnings = (line[:40].replace("：", ":").partition(":")[0] for line in text.split("\n"))
    return any(beginning.strip(" \t>#*_-").lower() in _ROLE_NAMES for beginning in beginnings)


def _may_have_a_tag(text: str) -> bool:
    """Whether one of our tags begins anywhere: the pattern is the longest there is to compile."""
    return any(
        begun[:80].lstrip(" \t\n\r\f\v/").lower().startswith(_TAG_NAMES) for begun in text.split("<")[1:]
    )


# Markdown

_PLAIN = lazy(r"(?!.*(?:  |[Ww]{3}\.))[A-Za-z](?:[A-Za-z0-9 ,.;()'-]*[A-Za-z0-9.)])?")
"""Sentences with nothing in them for any of what stands above and below: most titles, most beginnings."""
_BACKTICKS = lazy("`+")
_MARKUP = lazy(
    r"(\[REDACTED:[a-z0-9-]{1,24}\](?![(\[:]))|[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|[<>]"
    r"|&(?=[#A-Za-z])|!(?=\[)|^[#+=-]|^([0-9]{1,9})(?=[.)])"
)
_ANYWHERE, _AT_THE_BEGINNING = frozenset(r"[\`*]|~$_<>&!"), frozenset("#+=-0123456789")  # or it finds nothing
_ADDRESS = lazy(r":(?=//)|(?<!:)/(?=/[^\s/])|(?i:(?<=www))\.|(?i:(?<=mailto)|(?<=xmpp)):")
_MAIL = lazy(r"(?<=[A-Za-z0-9._+-])@(?=[A-Za-z0-9_-]{1,63}\.[A-Za-z0-9_-])")
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def _escaped(line: str) -> str:
    def escape(found: re.Match[str]) -> str:
        if found[1]:  # our own marker; it cannot begin a link
            return found[1]
        if found[2]:  # a number that would begin an ordered list
            return f"{found[2]}\\"
        return _ENTITIES.get(found[0]) or f"\\{found[0]}"

    if "@" in line:
        line = _MAIL.sub("＠", line)  # GitHub makes a link of an address with `\@` too
    if line[:1] in _AT_THE_BEGINNING or not _ANYWHERE.isdisjoint(line):
        line = _MARKUP.sub(escape, line)
    if ":" in line or "//" in line or "www." in line.lower():
        line = _ADDRESS.sub(lambda found: f"\\{found[0]}", line)
    return line


# Cutting


def _window(text: str, limit: int | None) -> tuple[str, int]:
    """As much of `text` as can matter for its first `limit` characters, and how many are behind it."""
    if limit is None or len(text) <= limit + _SLACK:
        return text, 0
    return text[: limit + _SLACK], len(text) - limit - _SLACK


def _cut(text: str, limit: int, *, beyond: int) -> str:
    if len(text) <= limit and not beyond:
        return text
    at = _boundary(text, limit)
    head = text[: at if at < limit or text[at - 1 : at].isspace() else _boundary(text, limit - 1)]
    blank = "" if not head or head[-1].isspace() else " "
    return f"{head}{blank}[… {len(text) - len(head) + beyond} characters left out]"


def _boundary(text: str, limit: int) -> int:
    """The last place at or before `limit` where a reader sees one character end and another begin.

    `limit` itself when there is none: a character longer than that is cut, not left out whole.
    """
    if limit >= len(text):
        return len(text)
    limit = max(limit, 0)
    at = limit
    while at > 0 and not _is_boundary(text, at):
        at -= 1
    return at or limit


def _is_boundary(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if after < "\u0300":
        return not (before == "\r" and after == "\n")
    if before == "\u200d" or after in _JOINERS or _LEADS.match(before):
        return False
    if _is_flag_letter(before) and _is_flag_letter(after):
        start = at
        while start > 0 and _is_flag_letter(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 0
    return not _extends()(after)


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


# Thai and Lao vowels that are written before their consonant; viramas that join two consonants.
_LEADS = lazy("[\u0e40-\u0e44\u0ec0-\u0ec4\u094d\u09cd\u0a4d\u0acd\u0b4d\u0c4d\u0ccd\u0d4d]")


@cache
def _extends() -> Callable[[str], bool]:
    """Whether a character belongs to the one before it.

    Read from the Unicode 3.2 tables, which every Python carries unchanged, and the blocks of combining
    marks that came later: two versions of Python must cut at the same place.
    """
    import unicodedata

    category = unicodedata.ucd_3_2_0.category
    later = re.compile(
        "[\u0e33\u0eb3\u1160-\u11ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
        "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef]"
    ).match
    return lambda character: later(character) is not None or category(character)[0] == "M"


_WEIGHTS = b"".join(  # in 24ths of a token, a byte for each byte there is
    bytes([weight]) * count
    for count, weight in (
        *((32, 18), (1, 2), (15, 18)),  # controls, the blank, punctuation
        *((10, 16), (7, 18)),  # digits, punctuation
        *((26, 12), (6, 18), (26, 7), (5, 18)),  # capitals and small letters, punctuation behind each
        (64, 8),  # all but the first byte of a character
        (32, 14),  # first bytes: Latin with accents, Greek, Cyrillic, Hebrew, Arabic
        (2, 34),  # Indian and South-East Asian scripts
        (14, 12),  # Chinese, Japanese, Korean, symbols
        (16, 32),  # emoji and rare characters
    )
)
