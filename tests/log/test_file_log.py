"""The log on a real disk: modes, full disks, files that are not what they seem, and kill -9."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest

from builders.log import NOW, OnDisk, append, findings, texts, turn
from conversation_esaa.errors import LogDamaged, LogUnreadable, NoWorkspace
from conversation_esaa.log.contract import AppendFailed


@pytest.fixture
def kept(tmp_path):
    return OnDisk(tmp_path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_what_is_created_is_private_whatever_the_umask(kept, umask):
    """FC-K06."""
    before = os.umask(umask)
    try:
        append(kept, turn())
        kept.put(kept.bytes() + b"torn")
        append(kept)
    finally:
        os.umask(before)

    quarantine = kept.layout.quarantine
    assert mode(kept.layout.log) == 0o600
    assert mode(quarantine) == mode(kept.layout.run) == 0o700
    assert [mode(path) for path in quarantine.iterdir()] == [0o600]


def test_a_store_that_was_removed_does_not_come_back(kept):
    """FC-I13: whoever removes `.conversation-esaa/` means it."""
    shutil.rmtree(kept.layout.store)

    assert list(kept.log.entries()) == []
    with pytest.raises(NoWorkspace):
        append(kept, turn())
    assert not kept.layout.store.exists()


def test_reading_creates_and_locks_nothing(kept):
    """FC-M06: readers work beside a writer and on a read-only mount."""
    append(kept, turn())
    before = sorted(kept.layout.store.rglob("*"))
    with kept.log.writing(purpose="sync"):
        assert texts(kept) == ["Where do hooks live?"]
        assert kept.log.head().seq == 1
    assert sorted(kept.layout.store.rglob("*")) == before


class FailingWrite:
    """`os.write` that takes `takes` bytes of a line of the log and then fails with `number`."""

    def __init__(self, monkeypatch, number, takes=0):
        self.number, self.takes, self.real = number, takes, os.write
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor, data):
        if b'"event"' not in bytes(data) and self.takes == 0:
            return self.real(descriptor, data)
        if self.takes:
            written = self.real(descriptor, bytes(data)[: self.takes])
            self.takes = 0
            return written
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EIO, errno.EBADF, errno.EDQUOT])
def test_a_write_that_fails_leaves_the_log_as_it_was(kept, monkeypatch, number):
    """FC-I04, FC-N07: never silent, nothing half, and it works again when the cause is gone."""
    append(kept, turn("one"))
    before = kept.bytes()
    with monkeypatch.context() as patched:
        FailingWrite(patched, number)
        with pytest.raises(AppendFailed, match="not added") as refused:
            append(kept, turn("two", index=1))

    assert os.strerror(number) in refused.value.message
    assert refused.value.hint
    assert kept.bytes() == before
    append(kept, turn("two", index=1))
    assert texts(kept) == ["one", "two"]
    assert findings(kept) == []


def test_a_write_that_is_cut_short_is_taken_back(kept, monkeypatch):
    append(kept, turn("one"))
    before = kept.bytes()
    with kept.log.writing(purpose="test") as writer:
        real, calls = os.write, []

        def short(descriptor, data):
            calls.append(len(data))
            if len(calls) == 1:
                return real(descriptor, bytes(data)[:100])
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", short)
            with pytest.raises(AppendFailed):
                writer.append([turn("two", index=1)], recorded_at=NOW)
        assert kept.bytes() == before
        assert len(calls) == 2

        writer.append([turn("two", index=1)], recorded_at=NOW)  # the same writer goes on

    assert texts(kept) == ["one", "two"]


def test_short_writes_are_continued(kept, monkeypatch):
    """The system may take fewer bytes than it was given."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:7]))

    append(kept, turn("one"), turn("two", index=1))

    assert texts(kept) == ["one", "two"]
    assert findings(kept) == []


def test_a_sync_that_fails_is_no_acknowledgement(kept, monkeypatch):
    append(kept, turn("one"))
    before = kept.bytes()

    def fail(descriptor):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        with pytest.raises(AppendFailed, match="Input/output"):
            append(kept, turn("two", index=1))

    assert kept.bytes() == before


def test_a_batch_is_one_write_and_one_sync(kept, monkeypatch):
    with kept.log.writing(purpose="test") as writer:
        writes, syncs = [], []
        write, sync = os.write, os.fdatasync
        monkeypatch.setattr(os, "write", lambda d, data: writes.append(len(data)) or write(d, data))
        monkeypatch.setattr(os, "fdatasync", lambda d: syncs.append(d) or sync(d))
        writer.append([turn(str(i), index=i) for i in range(100)], recorded_at=NOW)
        written = kept.bytes()
        monkeypatch.undo()  # giving the lock back writes to its file

    assert writes == [len(written)]
    assert len(syncs) == 1


def test_an_interrupt_between_write_and_sync_takes_the_batch_back(kept, monkeypatch):
    def interrupted(descriptor):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            append(kept, turn("one"))

    assert kept.bytes() == b""


def test_a_file_size_limit_is_a_full_disk(tmp_path):
    """FC-N07, for real: the kernel takes a part of the batch, then no more."""
    kept = OnDisk(tmp_path)
    append(kept, turn("one"))
    before = kept.bytes()

    def limited(result):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 500, len(before) + 500))
        try:
            append(kept, turn("two" * 1000, index=1))
        except AppendFailed:
            result.put("refused")

    context = multiprocessing.get_context("fork")
    result = context.Queue()
    child = context.Process(target=limited, args=(result,))
    child.start()
    child.join()

    assert result.get(timeout=60) == "refused"
    assert kept.bytes() == before
    assert kept.quarantined() == []


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("mounting a small file system takes rights that this run does not have")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_loses_nothing(small_disk):
    """FC-N07: refused, nothing lost; space is freed, and it works again."""
    kept = OnDisk(small_disk)
    said = []

    def talk():
        for index in range(100):
            append(kept, turn(f"{index} " + "w" * 3000, index=index))
            said.append(index)

    with pytest.raises(AppendFailed, match="No space"):
        talk()

    assert [int(text.split()[0]) for text in texts(kept)] == said
    assert findings(kept) == []
    assert kept.log.unfinished() == 0

    subprocess.run(["mount", "-o", "remount,size=128k", str(small_disk)], check=True)
    append(kept, turn("after", index=200))
    assert texts(kept)[-1] == "after"


def test_a_read_only_file_system_is_read_and_not_written(small_disk):
    """FC-N08, FC-F03."""
    kept = OnDisk(small_disk)
    append(kept, turn("one"))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)

    assert texts(kept) == ["one"]
    with pytest.raises(LogUnreadable, match="Read-only file system"):
        append(kept, turn("two", index=1))

    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    append(kept, turn("two", index=1))
    assert texts(kept) == ["one", "two"]


@pytest.fixture
def somebody():
    """A directory of a user without rights, and that user's eyes: root reads everything."""
    place = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(place, 65534, 65534)
        os.seteuid(65534)
    yield place
    if is_root:
        os.seteuid(0)
    for path in place.rglob("*"):
        path.chmod(0o700)
    shutil.rmtree(place)


def test_a_log_without_permissions_is_named(somebody):
    """FC-I08."""
    kept = OnDisk(somebody)
    append(kept, turn())
    kept.layout.log.chmod(0)

    for attempt in (kept.log.head, kept.log.entries, lambda: append(kept, turn("two", index=1))):
        with pytest.raises(LogUnreadable, match=r"activity\.jsonl: Permission denied") as refused:
            attempt()
        assert "Nothing was changed." in refused.value.hint


def test_a_store_without_permissions_is_named(somebody):
    kept = OnDisk(somebody)
    append(kept, turn())
    kept.layout.store.chmod(0)

    with pytest.raises(LogUnreadable, match="Permission denied"):
        kept.log.head()
    with pytest.raises(LogUnreadable, match="Permission denied"):
        append(kept, turn("two", index=1))


@pytest.mark.parametrize(
    "make",
    [lambda p: p.symlink_to("/etc/hostname"), os.mkfifo, lambda p: p.mkdir()],
    ids=["link", "pipe", "dir"],
)
def test_what_is_no_regular_file_is_neither_read_nor_written(kept, make):
    """A store can come with a cloned repository; a link must not lead our writes away, a pipe not hang us."""
    make(kept.layout.log)

    with pytest.raises(LogUnreadable):
        kept.log.head()
    with pytest.raises(LogUnreadable):
        append(kept, turn())


def test_a_log_that_is_replaced_under_a_writer_gets_nothing(kept):
    """An editor that saves, or the older tool that rewrites: a file without a name keeps no event."""
    append(kept, turn("one"))
    before = kept.bytes()
    with kept.log.writing(purpose="test") as writer, kept.layout.log.open("rb") as nameless:
        copy = kept.layout.log.with_suffix(".new")
        copy.write_bytes(before)
        copy.replace(kept.layout.log)
        with pytest.raises(LogDamaged, match="replaced"):
            writer.append([turn("two", index=1)], recorded_at=NOW)
        assert nameless.read() == before

    assert kept.bytes() == before


def test_a_log_that_is_deleted_under_a_writer_is_not_written_into_the_void(kept):
    """FC-N10."""
    append(kept, turn("one"))
    with kept.log.writing(purpose="test") as writer:
        shutil.rmtree(kept.layout.store)
        with pytest.raises(LogDamaged):
            writer.append([turn("two", index=1)], recorded_at=NOW)
    assert not kept.layout.store.exists()


@pytest.mark.parametrize("change", [lambda data: data[:-5], lambda data: data + b'{"a":1}\n'])
def test_a_log_that_changes_under_the_lock_is_not_written_behind(kept, change):
    """Something that does not take our lock is at work; its bytes and ours are all kept."""
    append(kept, turn("one"))
    with kept.log.writing(purpose="test") as writer:
        with kept.layout.log.open("r+b") as file:
            changed = change(file.read())
            file.seek(0)
            file.truncate()
            file.write(changed)
        with pytest.raises(LogDamaged, match="does not take our lock"):
            writer.append([turn("two", index=1)], recorded_at=NOW)

    assert kept.bytes() == changed


def test_readers_beside_a_writer_see_whole_lines_only(kept):
    stop = threading.Event()

    def write():
        for index in range(150):
            append(kept, turn(f"{index} " + "w" * (index * 97 % 9000), index=index))
        stop.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = 0
    while not stop.is_set():
        head = kept.log.head()
        entries = list(kept.log.entries())
        assert [e.event.seq for e in entries] == list(range(1, len(entries) + 1))
        assert len(entries) >= max(head.seq, seen)
        seen = len(entries)
    thread.join()

    assert findings(kept) == []


def test_an_iteration_that_is_given_up_leaves_no_descriptor_open(kept):
    """FC-B07."""
    append(kept, *(turn(str(i), index=i) for i in range(10)))
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("only Linux tells which descriptors are open")
    before = len(list(descriptors.iterdir()))
    for _ in range(50):
        next(kept.log.entries())
        next(kept.log.entries_backward())
        kept.log.head()
        append(kept, turn())

    assert len(list(descriptors.iterdir())) == before


KILLED = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[2])
    from builders.log import NOW, OnDisk, turn
    kept = OnDisk(Path(sys.argv[1]))
    number = int(sys.argv[3])
    index = 0
    while True:
        batch = range(index, index + 1 + index % 5)
        drafts = [turn(f"{number}/{i} " + "w" * (i * 911 % 70_000), index=i, session=str(number)) for i in batch]
        with kept.log.writing(purpose="test") as writer:
            written = writer.append(drafts, recorded_at=NOW)
        print(*(entry.event.event_id for entry in written), sep="\\n", flush=True)
        index += len(batch)
    """
)


def rounds_of_kill(root: Path, rounds: int, seed: int) -> None:
    kept = OnDisk(root)
    chance = random.Random(seed)
    acknowledged: list[str] = []
    for number in range(rounds):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(root), str(Path(__file__).parents[1]), str(number)],
            stdout=subprocess.PIPE,
            text=True,
        )
        acknowledged += [child.stdout.readline().strip() for _ in range(chance.randrange(1, 40))]
        for _ in range(chance.randrange(20_000)):
            pass  # a moment that is not tied to an acknowledgement
        child.send_signal(signal.SIGKILL)
        rest = child.communicate()[0]
        acknowledged += rest[: rest.rfind("\n") + 1].split()

    append(kept, turn("the next writer", session="last"))
    ids = [entry.event.event_id for entry in kept.log.entries()]
    assert len(set(ids)) == len(ids)
    assert set(acknowledged) <= set(ids)
    assert findings(kept) == []
    assert [entry.event.seq for entry in kept.log.entries()] == list(range(1, len(ids) + 1))


def test_a_writer_may_be_killed_at_any_moment(tmp_path):
    """FC-I05, invariant I2: what was acknowledged is there exactly once, and the next writer just goes on."""
    rounds_of_kill(tmp_path, 30, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_two_hundred_writers_are_killed(tmp_path, seed):
    rounds_of_kill(tmp_path, 50, seed=seed)
