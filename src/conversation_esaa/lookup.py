"""Looking events up without reading the log: what can be asked for, and that it may not be possible."""

import msgspec

from conversation_esaa.events import Head


class IndexUnusable(Exception):
    """The index cannot be had, or does not say what the log says: whatever was asked is to be done without it.

    No error for a user: nothing is lost, and the next command that writes builds it anew.
    """


class Keys(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of one look-up. Empty means: not asked for."""

    without_kinds: tuple[str, ...] = ()  # event names that are left out
    agents: tuple[str, ...] = ()  # who spoke, was spoken to, or whose log it is from
    actor: str = ""
    session: str = ""  # a native session id, or a prefix of one
    branch: str = ""  # of git
    since: str = ""  # RFC 3339 UTC, inclusive
    until: str = ""  # exclusive
    ids: frozenset[str] | None = None  # these events …
    kinds: tuple[str, ...] = ()  # … or events of these names


class FileStat(msgspec.Struct, frozen=True):
    """What a stat tells of a file that was written in one step: another one, when it was written since."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """The read models as they were written last."""

    head: Head  # the position they name; its size is not kept
    basis: str  # names all that those are made from which change seldom
    stats: dict[str, FileStat]  # by name; of those that are known to be as they were written
