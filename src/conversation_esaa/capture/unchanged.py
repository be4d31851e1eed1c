"""Nothing new, told by a few looks at the disk: `run/unchanged`, a cache that can only cost time.

A run that found nothing new writes down what that depended on: settings, log, cursors, read models, every
session file and every directory that was listed, what was not there, and the environment that was asked.
While all of it is as it was, so is the answer. Whoever compares pays for no import: here stand `os` alone, and
neither a clock nor a decoder.

A record is bytes between NULs: format, version, root, home, the answers, then a kind and a name, and a value,
for each thing that was looked at, and an end, so that half a file is none.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # `typing` costs milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_FORMAT = b"conversation-esaa unchanged/1"
_END = b"end"
RACY_NS = 2_000_000_000
"""A file that changed so shortly before it was looked at may change again within the same tick of its file
system's clock, and its times would not tell. Two seconds is the coarsest clock there is."""

# The first byte of a name: what is compared.
_CONTENT, _WRITTEN, _KIND, _REAL, _VARIABLE = b"c", b"w", b"k", b"r", b"v"
_KIND_OF_MODE = 0o170000


class Witness:
    """Takes down what a run depends on, each thing as it was when it was first asked for.

    began_ns   the time before the first look, in nanoseconds since 1970.
    """

    def __init__(self, *, began_ns: int) -> None:
        self.trusted = True  # nothing changed too shortly before, and everything can be written down
        self._began_ns = began_ns
        self._seen: dict[bytes, bytes] = {}
        self._files: list[tuple[Sequence[bytes], Sequence[bytes]]] = []  # of `take_over_content`

    def apart(self) -> Witness:
        """One for a part of the run, to be included when that is over."""
        return Witness(began_ns=self._began_ns)

    def include(self, part: Witness) -> None:
        """What a part of the run depended on, the whole depends on."""
        self.trusted = self.trusted and part.trusted
        self.take_over(part.pairs())

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        """What was taken down: a kind and a name, and a value."""
        yield from self._seen.items()
        for names, values in self._files:
            for name, value in zip(names, values, strict=True):
                if value:
                    yield _CONTENT + name, value

    def take_over(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        """What another took down, and was compared just now."""
        for key, value in pairs:
            self._seen.setdefault(key, value)

    def take_over_content(self, names: Sequence[bytes], values: Sequence[bytes]) -> None:
        """As `take_over`, of files: paths, and what `contents_now` gave for each; b"" leaves one out.

        They are thousands, and few runs end with a record: nothing is done with them before.
        """
        self._files.append((names, values))

    def is_racy(self, *times_ns: int) -> bool:
        """Whether a file that changed at these times may change again, and they would not tell."""
        return max(times_ns) >= self._began_ns - RACY_NS

    def content(self, path: str) -> None:
        """What is in a file or directory."""
        name = self._bytes(path)
        if _CONTENT + name not in self._seen:
            self._take(name, _stat(name))

    def written(self, path: str) -> None:
        """As `content`, for what changes its owner by being looked at: the time of that does not count."""
        name = self._bytes(path)
        if _WRITTEN + name not in self._seen:
            found = _stat(name)
            if found is not None and self.is_racy(found.st_mtime_ns):
                self.trusted = False
            self._seen[_WRITTEN + name] = _written(found)

    def stat(self, path: str, found: os.stat_result) -> None:
        """As `content`, for a file that was looked at already."""
        self._take(self._bytes(path), found)

    def kind(self, path: str) -> None:
        """What is at a path: a file, a directory, nothing; and which one."""
        name = self._bytes(path)
        if _KIND + name not in self._seen:
            self._seen[_KIND + name] = _kind(_stat(name))

    def real(self, path: str) -> None:
        """Where links lead."""
        name = self._bytes(path)
        self._seen.setdefault(_REAL + name, _real(name))

    def variable(self, name: str, value: str | None) -> None:
        """A variable of the environment; None when it is not set."""
        self._seen.setdefault(_VARIABLE + self._bytes(name), _variable(value))

    def record(self, answers: tuple[str, str], *, root: str, home: str, version: str) -> bytes | None:
        """What to keep, for `answers` to be given again; None when nothing should be."""
        fields = [_FORMAT, version.encode(), self._bytes(root), self._bytes(home)]
        fields += (answer.encode("utf-8", "backslashreplace") for answer in answers)
        for item in self.pairs():
            fields += item
        record = b"\0".join((*fields, _END))
        return record if self.trusted and record.count(b"\0") == len(fields) else None

    def _bytes(self, text: str) -> bytes:
        try:
            return os.fsencode(text)
        except ValueError:  # half a character: no name of a file
            self.trusted = False
            return b""

    def _take(self, name: bytes, found: os.stat_result | None) -> None:
        if found is not None and self.is_racy(found.st_mtime_ns, found.st_ctime_ns):
            self.trusted = False
        self._seen[_CONTENT + name] = _content(found)


def holds(record: str, *, root: str, home: str, version: str, environ: Mapping[str, str]) -> bool:
    """Whether everything is as the file `record` says. Costs a stat for each thing. Raises nothing."""
    return answers(record, root=root, home=home, version=version, environ=environ) is not None


def answers(
    record: str, *, root: str, home: str, version: str, environ: Mapping[str, str]
) -> tuple[str, str] | None:
    """The answers, as text and as JSON, that were kept in the file `record`, when everything is as it was.

    Else None. Either is "" when whoever made the record had nothing to print. Raises nothing.
    """
    try:
        with open(record, "rb") as file:
            fields = file.read().split(b"\0")
        head = [_FORMAT, version.encode(), os.fsencode(root), os.fsencode(home)]
        if fields[:4] != head or fields[-1] != _END or len(fields) % 2 == 0:
            return None
        for key, value in _pairs(fields):
            if not is_same(key, value, environ):
                return None
        return fields[4].decode(), fields[5].decode()
    except (OSError, ValueError):
        return None


def is_same(key: bytes, value: bytes, environ: Mapping[str, str]) -> bool:
    """Whether a thing is as a witness took it down."""
    what, name = key[:1], key[1:]
    if what == _CONTENT:
        return _content(_stat(name)) == value
    if what == _WRITTEN:
        return _written(_stat(name)) == value
    if what == _KIND:
        return _kind(_stat(name)) == value
    if what == _REAL:
        return _real(name) == value
    return _variable(environ.get(os.fsdecode(name))) == value


def contents_now(names: Iterable[bytes]) -> list[bytes]:
    """Of each file, what tells that its content may have changed; b"" where there is none."""
    found = []
    for name in names:  # there are thousands: no call that could be spared
        try:
            stat = os.stat(name)  # noqa: PTH116
        except (OSError, ValueError):
            found.append(b"")
        else:
            found.append(content(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino))
    return found


def content(size: int, mtime_ns: int, ctime_ns: int, inode: int) -> bytes:
    """The same, of a file whose stat says this."""
    return b"%d %d %d %d" % (size, mtime_ns, ctime_ns, inode)


def _pairs(fields: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    return zip(fields[6:-1:2], fields[7:-1:2], strict=True)


def _stat(path: bytes) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - `pathlib` would be dearer than all of this
    except (OSError, ValueError):  # not there, or behind a door that is closed to us
        return None


def _real(path: bytes) -> bytes:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return b""


def _content(found: os.stat_result | None) -> bytes:
    if found is None:
        return b""
    return content(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _written(found: os.stat_result | None) -> bytes:
    return b"" if found is None else b"%d %d %d" % (found.st_size, found.st_mtime_ns, found.st_ino)


def _kind(found: os.stat_result | None) -> bytes:
    return b"" if found is None else b"%o %d %d" % (found.st_mode & _KIND_OF_MODE, found.st_ino, found.st_dev)


def _variable(value: str | None) -> bytes:
    return b"" if value is None else b"=" + os.fsencode(value)
