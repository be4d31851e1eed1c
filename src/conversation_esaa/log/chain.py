"""The hash chain: what makes a changed, dropped, doubled or moved line visible. Pure; no I/O.

    hash(n)        = SHA-256( hash(n-1) ‖ leaf(n) )
    leaf           = canonical JSON of the line without its content keys, `salt` and `hash`
    content_digest = SHA-256( salt ‖ canonical JSON of the content keys that the line has )
    hash(before)   = SHA-256 of all bytes before the first chained line (v1.1 lines, or nothing)

The words are committed through the salted digest, so they and the salt can be purged later while every
hash stays as it is. An event without any content key has neither salt nor digest. Which keys are content is
declared per event; in a line they stand behind `salt`, so that an event with a name from a newer version
can be checked as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from conversation_esaa.canonical import NotCanonical, canonical, canonical_trusted
from conversation_esaa.digests import many, sha256
from conversation_esaa.events import VERSION, Entry, UnknownEvent, Unreadable, event_name
from conversation_esaa.log.codec import HASH_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from conversation_esaa.events import Recorded

SALT_BYTES = 16

_HASH_KEY = b',"hash":"'
_SALT_KEY = b'","salt":"'
_SALT_AFTER = len(_HASH_KEY) + 2 * HASH_BYTES  # bytes from where the hash's key begins to the salt's key
_SALT_VALUE_AFTER = _SALT_AFTER + len(_SALT_KEY)
_WORDS_AFTER = _SALT_VALUE_AFTER + 2 * SALT_BYTES + len(b'",')
_NEARBY = 16  # bytes by which the leaves of lines that follow each other mostly differ at most


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something about one line that a person should know."""

    kind: str  # one of KINDS
    line_no: int  # from 1
    offset: int  # bytes
    message: str  # what is wrong, never what the line says

    @property
    def is_damage(self) -> bool:
        """Whether the log is not as it was written. Otherwise the finding only informs."""
        return KINDS[self.kind]


KINDS = {
    "broken_hash": True,  # the line, or the order of lines, is not what was written
    "wrong_content": True,  # its words are not those that were written
    "seq_gap": True,  # lines are missing, doubled or moved
    "unreadable": True,  # no event of ours
    "unlinked": False,  # follows unreadable lines, so its link can't be checked
    "not_checked": False,  # of a newer version: its hash is taken as given
    "purged": False,  # its words were taken out; all else is as it was
}


def check(
    lines: Iterable[tuple[int, Entry | Unreadable]], *, genesis: Callable[[int], bytes]
) -> Iterator[Finding]:
    """What is wrong with a log, line by line, as a stream: `check(log.numbered(), genesis=log.prefix_digest)`.

    lines     (line number, line) from the log's first line on.
    genesis   the SHA-256 of that many first bytes; called once, at the first chained line.
    """
    checker = Checker(genesis)
    for line_no, item in lines:
        found = checker.see(line_no, item)
        if found:
            yield from found


class Checker:
    """The state between two lines of a check, to be fed with every line in order.

    previous, seq   of the line before the first one fed, when the check begins within a chain.
    """

    def __init__(
        self, genesis: Callable[[int], bytes], *, previous: bytes | None = None, seq: int = 0
    ) -> None:
        self.previous = previous  # hash of the last chained line; None before the first one
        self.seq = seq
        self.chained = 0  # lines whose hash and words were recomputed or that only informed
        self._genesis = genesis
        self._unreadable = False  # since the last chained line

    def see(self, line_no: int, item: Entry | Unreadable) -> list[Finding]:
        """The findings about the next line; mostly none."""
        if isinstance(item, Unreadable):
            self._unreadable = True
            return [_finding("unreadable", line_no, item.offset, item.reason)]
        event = item.event
        if event.v < VERSION:
            return []
        previous = self._genesis(item.offset) if self.previous is None else self.previous
        expected = line_no if self.previous is None else self.seq + 1
        linked, content = examine(item.line, event, previous)
        found = []
        if not linked or not content or event.seq != expected:
            found = self._findings(line_no, item, linked=linked, content=content, expected=expected)
        self.previous, self.seq = bytes.fromhex(event.hash), event.seq
        self.chained += 1
        self._unreadable = False
        return found

    def see_written(self, lines: Sequence[bytes], events: Sequence[Recorded]) -> bool:
        """Take in a run of lines with words at once.

        lines    as `written.runs` gives them.
        events   of this version, each as its line says.

        False when there is anything to say of one of them, or when that can't be told so cheaply: then none
        is taken in, and `see` says more.
        """
        if self.previous is None or not are_sealed(lines, events, self.previous):
            return False
        if [event.seq for event in events] != [*range(self.seq + 1, self.seq + 1 + len(events))]:
            return False
        self.previous, self.seq = bytes.fromhex(events[-1].hash), events[-1].seq
        self.chained += len(events)
        self._unreadable = False
        return True

    def _findings(
        self, line_no: int, item: Entry, *, linked: bool | None, content: bool | None, expected: int
    ) -> list[Finding]:
        event, found = item.event, []

        def tell(kind: str, message: str) -> None:
            found.append(_finding(kind, line_no, item.offset, message))

        if linked is None:
            tell("not_checked", f"an event of format version {event.v}; its hash is taken as given")
        if linked is False and self._unreadable and event.seq > expected:
            tell("unlinked", f"follows lines that cannot be read (seq {expected} to {event.seq - 1})")
        elif linked is False and self.previous is None:
            tell("broken_hash", "does not continue the bytes before it, or was changed")
        elif linked is False:
            tell("broken_hash", f"does not continue seq {self.seq}, or was changed")
        if event.seq != expected and not (self._unreadable and event.seq > expected):
            tell("seq_gap", f"has seq {event.seq} where {expected} should be")
        if content is None and linked is not None:
            tell("purged", f"the words of this {event_name(event)} event were purged")
        elif content is False:
            tell(
                "wrong_content",
                f"the words of this {event_name(event)} event are not those that were written",
            )
        return found


def examine(line: bytes, event: Recorded, previous: bytes) -> tuple[bool | None, bool | None]:
    """Whether a chained line continues `previous`, and whether its words are those that were written.

    Each None where that cannot be told: a newer version may hash by other rules; words may be purged.
    """
    at = line.find(_HASH_KEY)  # as `seal` wrote it, both preimages can be cut out of the line
    if at > 0 and sha256(previous + line[:at] + b"}").hexdigest() == event.hash:
        if len(line) == at + _SALT_AFTER + 2:
            return True, None if event.content_digest else True
        if line[at + _SALT_AFTER : at + _SALT_VALUE_AFTER] == _SALT_KEY:
            words_at = at + _WORDS_AFTER
            if (
                _words_digest(line[at + _SALT_VALUE_AFTER : words_at - 2], b"{" + line[words_at:])
                == event.content_digest
            ):
                return True, True
    if event.v > VERSION:
        return None, None
    return _examine_patiently(line, event, previous)


def are_sealed(lines: Sequence[bytes], events: Sequence[Recorded], previous: bytes) -> bool:
    """Whether lines with words continue `previous` and each other.

    lines   with their line feeds, each byte for byte as the writer spells its event: so its parts can be cut
            out at their places.

    False also where it takes a closer look to tell. Done column by column: most of what a check costs beyond
    its two digests are the steps between them.
    """
    from binascii import unhexlify  # a library of its own, for checking alone

    salts = [event.salt for event in events]
    together = "".join(salts)
    if {*map(len, salts)} != {2 * SALT_BYTES} or together.lower() != together:
        return False
    try:
        salt_bytes = unhexlify(together)
    except ValueError:  # no hex digits
        return False
    nearby = lines[0].find(_HASH_KEY) - _NEARBY
    ends = [line.find(_HASH_KEY, nearby) for line in lines]
    if min(ends) < 0:
        ends = [line.find(_HASH_KEY) for line in lines]
    fresh = many()().copy  # cheaper than a new one, for which OpenSSL looks up the algorithm
    link, links, words = previous, [], []
    for line, end, salt_at in zip(lines, ends, range(0, len(salt_bytes), SALT_BYTES), strict=True):
        leaf = fresh()
        leaf.update(link)
        leaf.update(line[:end])
        leaf.update(b"}")
        link = leaf.digest()
        links.append(link)
        content = fresh()
        content.update(
            b"".join((salt_bytes[salt_at : salt_at + SALT_BYTES], b"{", line[end + _WORDS_AFTER : -1]))
        )
        words.append(content.hexdigest())
    return [*map(bytes.hex, links)] == [event.hash for event in events] and words == [
        event.content_digest for event in events
    ]


def continues(line: bytes, event: Recorded, previous: bytes) -> bool:
    """Whether a whole line may be kept as the next one: not shown to be other than it was written."""
    linked, content = examine(line, event, previous)
    return linked is not False and content is not False


def leaf(fields: dict[str, Any], content_keys: AbstractSet[str]) -> bytes:
    """What the hash commits to of a line with these keys. Raises NotCanonical."""
    left_out = {*content_keys, "salt", "hash"}
    return canonical({key: value for key, value in fields.items() if key not in left_out})


def content_digest(fields: dict[str, Any], content_keys: AbstractSet[str]) -> str:
    """The digest of the words of a line with these keys; "" without a proper salt. Raises NotCanonical."""
    words = {key: fields[key] for key in content_keys if key in fields}
    return _words_digest(str(fields.get("salt")).encode("utf-8", "replace"), canonical(words))


def seal(
    fields: dict[str, Any], content_keys: AbstractSet[str], *, salt: bytes, previous: bytes
) -> tuple[bytes, bytes]:
    """The line of an event (without line feed) and its hash.

    fields     all keys of the event but salt, content_digest and hash; consumed.
    previous   the 32 bytes of the hash before.

    The line is the leaf's members in canonical order, then hash, salt, and the content's members in
    canonical order: whoever checks it can cut both preimages out of the line as they are.
    Raises UnicodeEncodeError for a lone surrogate.
    """
    content = {key: fields.pop(key) for key in content_keys if key in fields}
    words = canonical_trusted(content) if content else b""
    if words:
        fields["content_digest"] = digest_of_words(words, salt)
    return linked(canonical_trusted(fields), words, salt=salt, previous=previous)


def digest_of_words(words: bytes, salt: bytes) -> str:
    """What a leaf says of its words, given as their canonical JSON."""
    return sha256(salt + words).hexdigest()


def linked(leaf: bytes, words: bytes, *, salt: bytes, previous: bytes) -> tuple[bytes, bytes]:
    """As `seal`, of both parts as canonical JSON objects; `words` is b"" where there are none."""
    link = sha256(previous + leaf)
    start = leaf[:-1]
    if words:
        return b'%b,"hash":"%b","salt":"%b",%b' % (
            start,
            link.hexdigest().encode(),
            salt.hex().encode(),
            words[1:],
        ), link.digest()
    return b'%b,"hash":"%b"}' % (start, link.hexdigest().encode()), link.digest()


def _examine_patiently(line: bytes, event: Recorded, previous: bytes) -> tuple[bool, bool | None]:
    """Recompute both from the line's keys, for a line that something spelled anew (CRLF, spaces, order)."""
    fields = _strictly(line)
    if fields is None:
        return False, False
    content_keys = _content_keys(event, fields)
    try:
        linked = sha256(previous + leaf(fields, content_keys)).hexdigest() == event.hash
    except NotCanonical:
        return False, False
    has_words = not content_keys.isdisjoint(fields)
    if not has_words and not event.salt:
        return linked, None if event.content_digest else True
    try:
        return linked, content_digest(fields, content_keys) == (event.content_digest or None)
    except NotCanonical:
        return linked, False


def _content_keys(event: Recorded, fields: dict[str, Any]) -> AbstractSet[str]:
    """Of an event that this version does not know: the keys behind `salt`, where its writer put the words."""
    if not isinstance(event, UnknownEvent):
        return event.CONTENT
    keys = list(fields)
    return set(keys[keys.index("salt") + 1 :]) if "salt" in fields else set()


def _strictly(line: bytes) -> dict[str, Any] | None:
    """The line's object as any JSON reader takes it; None when two readers may take two different ones."""
    import json

    try:
        fields = json.loads(line.decode("utf-8-sig"), object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key that is there twice")
    return fields


def _words_digest(salt: bytes, words: bytes) -> str:
    from binascii import unhexlify

    if len(salt) != 2 * SALT_BYTES or salt.lower() != salt:  # capitals are another spelling, and not ours
        return ""
    try:
        return sha256(unhexlify(salt) + words).hexdigest()
    except ValueError:
        return ""


def _finding(kind: str, line_no: int, offset: int, message: str) -> Finding:
    return Finding(kind=kind, line_no=line_no, offset=offset, message=message)
