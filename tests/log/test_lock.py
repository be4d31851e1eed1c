"""The lock: one writer, whoever dies, and a message for whoever waits."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest

from builders.log import NOW, OnDisk, append, findings, turn
from conversation_esaa.errors import LockTimeout, LogUnreadable
from conversation_esaa.log import lock

HOLDER = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from conversation_esaa.log.lock import held
    with held(Path(sys.argv[1]), purpose="sync", wait_s=10):
        print("held", flush=True)
        sys.stdin.read()
    """
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "write.lock"


@pytest.fixture
def other(path):
    """Another process that holds the lock until its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_whoever_waits_is_told_for_whom(path, other):
    with pytest.raises(LockTimeout) as refused, lock.held(path, purpose="decide", wait_s=0):
        pytest.fail("two writers at once")

    assert f"pid {other.pid} on " in refused.value.message
    assert "(sync, since 20" in refused.value.message
    assert refused.value.exit_code == 5


def test_the_wait_is_bounded(path, other):
    """FC-I11: retries with jitter, then an answer."""
    with pytest.raises(LockTimeout, match=r"0\.05 s"), lock.held(path, purpose="decide", wait_s=0.05):
        pytest.fail("two writers at once")


def test_a_writer_that_waits_gets_the_lock_when_its_holder_is_done(path, other):
    other.stdin.close()
    other.stdin = None  # nothing is left to flush when it is cleaned up

    with lock.held(path, purpose="decide", wait_s=30):
        pass


@pytest.mark.parametrize("length", [10, 1_000, 100_000])
def test_the_words_of_a_holder_that_was_killed_do_not_stay(path, length):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b'{"pid":1,"purpose":"' + b"x" * length)

    with lock.held(path, purpose="sync", wait_s=0):
        told = json.loads(path.read_bytes())

    assert told["purpose"] == "sync"
    assert path.read_bytes().strip() == b""
    assert path.stat().st_size < 5_000


def test_a_holder_that_is_killed_holds_nothing(path, other):
    """FC-I05: no stale lock, nothing to judge, nothing to clean up."""
    other.send_signal(signal.SIGKILL)
    other.wait()

    with lock.held(path, purpose="decide", wait_s=30):
        pass


def test_the_file_stays_and_says_nothing_when_nobody_holds_it(path):
    with lock.held(path, purpose="decide", wait_s=0):
        told = json.loads(path.read_bytes())
        assert (told["pid"], told["purpose"]) == (os.getpid(), "decide")
        inode = path.stat().st_ino

    assert path.read_bytes().strip() == b""
    assert path.stat().st_ino == inode


def test_a_lock_file_that_is_removed_while_somebody_waits_locks_nobody_out(path, monkeypatch):
    """Everything but the log and the settings may be deleted at any time."""
    with lock.held(path, purpose="a", wait_s=0):
        pass
    real = lock._try
    removed = []

    def removed_in_between(descriptor, where):
        if not removed:
            path.unlink()
            removed.append(True)
        return real(descriptor, where)

    monkeypatch.setattr(lock, "_try", removed_in_between)
    with (
        lock.held(path, purpose="b", wait_s=0),
        pytest.raises(LockTimeout),
        lock.held(path, purpose="c", wait_s=0),
    ):
        pytest.fail("the lock of a removed file was taken for the lock")


@pytest.mark.parametrize("words", [b"", b"{}", b"nonsense", b"[]", b'{"pid":1}', b"\xff\xfe", b"[" * 4000])
def test_what_the_lock_file_says_decides_nothing(path, words):
    path.parent.mkdir()
    path.write_bytes(words)

    assert lock.holder(path) == "another process"
    with lock.held(path, purpose="a", wait_s=0):
        pass


def test_the_holders_words_cannot_reach_a_terminal_as_commands(path):
    path.parent.mkdir()
    path.write_text(json.dumps({"pid": "\x1b[2J", "host": "h\n", "since": "s" * 500, "purpose": "\u202e"}))

    told = lock.holder(path)

    assert told.isprintable()
    assert len(told) < 200


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_a_file_system_without_locks_is_refused(path, monkeypatch, number):
    """A silent no-op would let two writers mix their events."""
    import fcntl

    def refuse(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)

    with pytest.raises(lock.LockUnsupported, match="cannot lock"), lock.held(path, purpose="a", wait_s=1):
        pytest.fail("locked without a lock")


def test_another_error_of_the_lock_is_not_taken_for_a_holder(path, monkeypatch):
    import fcntl

    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(fcntl, "flock", fail)

    with pytest.raises(LogUnreadable, match="Input/output"), lock.held(path, purpose="a", wait_s=1):
        pytest.fail("locked without a lock")


def test_a_link_in_the_place_of_the_lock_is_not_followed(path, tmp_path):
    """A store that came with a cloned repository must not make us write elsewhere."""
    target = tmp_path / "authorized_keys"
    target.write_bytes(b"mine")
    path.parent.mkdir()
    path.symlink_to(target)

    with pytest.raises(LogUnreadable, match="not a regular file"), lock.held(path, purpose="a", wait_s=0):
        pytest.fail("followed a link")
    assert target.read_bytes() == b"mine"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_the_lock_is_private_whatever_the_umask(path, umask):
    """FC-K06."""
    before = os.umask(umask)
    try:
        with lock.held(path, purpose="a", wait_s=0):
            pass
    finally:
        os.umask(before)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def _append_some(root, name, count, sizes):
    kept = OnDisk(root)
    for index in range(count):
        text = f"{name}:{index} " + "x" * sizes[index % len(sizes)]
        with kept.log.writing(purpose="test", wait_s=120) as writer:
            writer.append([turn(text, index=index, session=name)], recorded_at=NOW)


@pytest.mark.parametrize(
    ("processes", "count", "sizes"),
    [(2, 300, [100]), (8, 200, [1, 1000, 4096, 20_000, 65_536])],
    ids=["FC-I01", "FC-I02"],
)
def test_processes_append_one_after_the_other(tmp_path, processes, count, sizes):
    """FC-I01, FC-I02: valid lines, a gap-free sequence, one chain, each writer's events in its order."""
    context = multiprocessing.get_context("fork")
    names = [f"p{number}" for number in range(processes)]
    children = [context.Process(target=_append_some, args=(tmp_path, name, count, sizes)) for name in names]
    for child in children:
        child.start()
    for child in children:
        child.join()

    kept = OnDisk(tmp_path)
    assert [child.exitcode for child in children] == [0] * processes
    entries = list(kept.log.entries())
    assert [entry.event.seq for entry in entries] == list(range(1, processes * count + 1))
    assert findings(kept) == []
    for name in names:
        said = [e.event.text.split()[0] for e in entries if e.event.source_session_id == name]
        assert said == [f"{name}:{index}" for index in range(count)]


def test_the_head_is_read_anew_after_the_lock_was_taken(tmp_path):
    """Two logs of one file: what one appended is what the other goes on from."""
    one, two = OnDisk(tmp_path), OnDisk(tmp_path)
    append(one, turn("a"))
    append(two, turn("b", index=1))
    [entry] = append(one, turn("c", index=2))

    assert entry.event.seq == 3
