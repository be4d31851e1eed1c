"""`verify` changes nothing: no byte, no time, no lock."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from builders.damages import DAMAGES

if TYPE_CHECKING:
    from builders.harmed import Harmed

_WRITES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "os.chmod", "os.utime", "os.link")
_watching: list[
    list[tuple[str, object]]
] = []  # an audit hook stays for ever; it listens only while one is here


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if not _watching:
        return
    _watched = _watching[-1]
    if event in _WRITES or event.startswith(("fcntl.flock", "fcntl.lockf")):
        _watched.append((event, arguments))
    elif (
        event == "open"
        and isinstance(arguments[2], int)
        and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    ):
        _watched.append((event, arguments[0]))


sys.addaudithook(_watch)


@contextmanager
def watched_for_writes():
    """Everything that Python asks the system to change, and every lock."""
    _watching.append([])
    try:
        yield _watching[-1]
    finally:
        _watching.pop()


def test_the_watch_for_writes_sees_a_write(harmed: Harmed):
    with watched_for_writes() as writes:
        harmed.workspace.set_goal("Ship it")

    assert {event for event, _ in writes} >= {"open", "os.rename", "fcntl.flock"}


@pytest.mark.parametrize("code", [None, "log.torn_tail", "log.missing", "read_model.stale", "config.missing"])
def test_verify_takes_no_lock_and_opens_nothing_for_writing(harmed: Harmed, code: str | None):
    """So it works on a read-only mount, while another process writes, and never hides its own evidence."""
    if code:
        DAMAGES[code][0](harmed)
    before, content = harmed.stats_of_store(), harmed.world.bytes_of_store()

    with watched_for_writes() as writes:
        harmed.world.run("verify", "--deep")

    assert writes == []
    assert harmed.stats_of_store() == before
    assert harmed.world.bytes_of_store() == content


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes where it has no right to")
def test_verify_works_where_it_has_no_right_to_write(harmed: Harmed):
    for path in [*harmed.store.rglob("*"), harmed.store]:
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        assert harmed.verify(deep=True).findings == []
    finally:
        for path in [harmed.store, *harmed.store.rglob("*")]:
            path.chmod(0o700 if path.is_dir() else 0o600)
