"""Fault cases F: timing, watermarks and clocks, from end to end."""

from __future__ import annotations

import errno
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from builders.world import World


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


@pytest.mark.parametrize("what", ["write", "fdatasync"])
def test_cursors_move_only_when_the_events_are_on_the_disk(world: World, monkeypatch, what):
    """FC-F03: an append that fails loses nothing; the next run captures it all."""
    world.claude().user("one").assistant("two")
    world.workspace()
    real = getattr(os, what)

    def failing(descriptor, *rest):
        if os.path.samestat(os.fstat(descriptor), world.workspace().layout.log.stat()):
            raise OSError(errno.EROFS, "Read-only file system")
        return real(descriptor, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(os, what, failing)
        failed = world.run("sync")
    assert failed.code == 1
    assert "Read-only file system" in failed.err
    assert len(failed.err.splitlines()) == 2
    assert not world.workspace().layout.sync_state.exists()

    mended = world.run("sync")

    assert mended.code == 0
    assert texts(world) == ["one", "two"]


def test_an_answer_that_comes_later_is_added_alone(world: World):
    """FC-F04: also when it is being written while somebody looks."""
    claude = world.claude().user("one")
    world.sync()
    answer = json.dumps(claude._answer([{"type": "text", "text": "two"}])).encode()
    claude.write_bytes(answer[:90])
    torn = world.sync()
    claude.write_bytes(answer[90:] + b"\n")
    whole = world.sync()

    assert (torn.captured, whole.captured) == (0, 1)
    assert not torn.partial
    assert texts(world) == ["one", "two"]


MOMENTS = {
    "2026-03-01T10:00:00": "2026-03-01T10:00:00.000Z",
    "2026-03-01T10:00:01Z": "2026-03-01T10:00:01.000Z",
    "2026-03-01T12:00:02+02:00": "2026-03-01T10:00:02.000Z",
    "2026-03-01T10:00:03.123456789Z": "2026-03-01T10:00:03.123Z",
    "2026-12-31T23:59:60Z": None,  # a leap second: some moment, and no crash
}


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kathmandu"])
def test_moments_mean_the_same_in_any_zone(world: World, zone):
    """FC-F05, FC-N13: a time without a zone is UTC; the machine's own zone is asked nowhere."""
    claude = world.claude()
    for moment in MOMENTS:
        claude.user(moment, timestamp=moment)
    world.workspace()

    ran = world.wait(world.process("sync", TZ=zone))

    assert ran.code == 0
    found = {turn.text: turn.ts for turn in world.turns()}
    assert found.keys() == MOMENTS.keys()
    assert all(found[moment] == meant for moment, meant in MOMENTS.items() if meant)


def test_a_file_that_grew_within_one_tick_of_the_clock_is_read_on(world: World):
    """FC-F06: the time says nothing new, the size does."""
    claude = world.claude().user("one")
    stat = claude.path.stat()
    world.sync()

    claude.assistant("two")
    os.utime(claude.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    world.sync()

    assert texts(world) == ["one", "two"]


def test_a_clock_that_goes_back_skips_and_repeats_nothing(world: World):
    """FC-N13: order is the position in the log, and moments are only told."""
    claude = world.claude().user("one")
    world.sync()
    world.time = datetime(2025, 1, 1, tzinfo=UTC)
    claude.assistant("two")
    world.sync()
    claude.user("three")
    world.sync()

    assert texts(world) == ["one", "two", "three"]
    assert [entry.event.seq for entry in world.entries()] == list(range(1, len(world.entries()) + 1))
    assert world.run("verify", "--deep").code == 0


def test_a_session_without_any_time_is_captured_and_says_so(world: World):
    """The moment of capture stands in, flagged."""
    claude = world.claude()
    claude.user("one", timestamp=None)

    world.sync()

    assert texts(world) == ["one"]
    assert "time_of_capture" in world.turns()[0].flags
    assert world.turns()[0].ts


def test_a_read_error_in_the_middle_keeps_what_was_read_and_tries_again(world: World, monkeypatch):
    """FC-B03, FC-I12: named with path and cause, exit code 3, and no count is doubled by the second try."""
    claude = world.claude().user("one").assistant("two")
    other = world.home / "other"
    claude.user("CANARY elsewhere", cwd=str(other)).assistant("three")
    world.codex().user("four")
    world.workspace()
    real_open = Path.open

    class Failing:
        def __init__(self, file):
            self._file, self._lines = file, 0

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self._file.close()

        def __iter__(self):
            return self

        def __next__(self):
            self._lines += 1
            if self._lines > 3:
                raise OSError(errno.EIO, "Input/output error")
            return next(self._file)

        def __getattr__(self, name):
            return getattr(self._file, name)

    def opened(path, *args, **options):
        file = real_open(path, *args, **options)
        return Failing(file) if path == claude.path else file

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", opened)
        failed = world.run("sync", "--json")
    partial = set(texts(world))
    mended = world.sync()

    assert failed.code == 3
    assert failed.json["partial"] is True
    problem = failed.json["agents"][0]["problems"][0]
    assert (problem["path"], problem["problem"]) == (str(claude.path), "Input/output error")
    assert partial == {"one", "two", "four"}
    assert not mended.partial
    assert sorted(texts(world)) == ["four", "one", "three", "two"]
    assert world.agent("claude-code", mended).refused_cwds == {str(other): 1}
    survey = world.workspace().status().agents[0]
    assert survey.refused == {str(other): 1}
