"""Fault cases N: formats and environments, from end to end."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversation_esaa.capture.cursors import Stat

if TYPE_CHECKING:
    from builders.world import World


def another_record_of_the_same_length(path: Path) -> bytes:
    changed = path.read_bytes().replace(b"question one", b"question two")
    return re.sub(rb'"uuid": "[0-9a-f]{8}', b'"uuid": "00000000', changed)


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_found(world: World):
    """FC-N12: the time a change was made can't be set back, so even a forged time is found out."""
    claude = world.claude().user("question one")
    world.sync()
    stat = claude.path.stat()
    claude.path.write_bytes(another_record_of_the_same_length(claude.path))
    os.utime(claude.path, ns=(stat.st_atime_ns, stat.st_mtime_ns))

    world.sync()

    assert texts(world) == ["question one", "question two"]


def test_a_change_that_no_stat_shows_is_found_by_a_full_look(world: World, monkeypatch):
    """FC-N12: a file system without change times, an inode used again. `sync --full` reads everything."""
    monkeypatch.setattr(Stat, "of", classmethod(lambda cls, result: cls(result.st_size, 0, 0, 0)))
    claude = world.claude().user("question one")
    world.sync()
    claude.path.write_bytes(another_record_of_the_same_length(claude.path))

    unnoticed = world.sync()
    noticed = world.run("sync", "--full")

    assert unnoticed.captured == 0
    assert noticed.code == 0
    assert texts(world) == ["question one", "question two"]


def test_a_run_with_nothing_new_opens_no_session_file(world: World, monkeypatch):
    """FC-N11: five thousand sessions cost a stat each. Counted here, not timed."""
    for number in range(30):
        world.codex(f"c{number}", cwd=world.project if number < 3 else "/srv/other").user(f"turn {number}")
    world.sync()
    opened: list[Path] = []
    real = Path.open

    def counting(path, *args, **options):
        opened.append(path)
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "open", counting)
    report = world.sync()

    assert report.captured == 0
    assert [path for path in opened if path.is_relative_to(world.home / ".codex")] == []


def test_a_prompt_of_a_megabyte_and_a_half_is_kept_whole(world: World):
    """FC-N06: read models show its beginning, an answer stays within its budget."""
    pasted = "2026-03-01 tea is served, row by row; " * 40_000
    world.claude().user(pasted)

    world.sync()

    assert texts(world) == [pasted.strip()] or texts(world) == [pasted]
    assert len(world.run("context", "--budget", "500").out) < 4_000
    assert sum(len(data) for name, data in world.bytes_of_store().items() if name.endswith(".md")) < 40_000


def test_a_text_beyond_the_limit_is_cut_once_with_its_size_told(world: World):
    """FC-B05, FC-N06: another limit later makes no second turn of it, not even for an agent without ids."""
    config = world.workspace().layout.config
    config.write_text(config.read_text().replace("max_text_characters = 2000000", "max_text_characters = 50"))
    world.claude("before").user("before")
    legacy = world.codex("legacy")
    legacy.record("session_meta", legacy.meta(history_mode="legacy", cli_version="0.50.0"))
    legacy.record("event_msg", {"type": "user_message", "message": "x" * 1_000})
    world.claude("after").user("after")

    world.sync()
    config.write_text(config.read_text().replace("max_text_characters = 50", "max_text_characters = 70"))
    again = world.sync(full=True)

    assert again.captured == 0
    assert sorted(texts(world)) == ["after", "before", f"{'x' * 50}\n[… 950 characters left out at capture]"]
    assert "cut" in next(turn for turn in world.turns() if turn.text.startswith("x")).flags


@pytest.mark.parametrize("where", ["append", "read model", "cursors"])
def test_a_disk_that_fills_up_at_any_point_loses_and_doubles_nothing(world: World, monkeypatch, where):
    """FC-N07: exit code 1 and one clear line; afterwards everything is there once, and every page is whole."""
    claude = world.claude().user("one")
    world.sync()
    claude.assistant("two")
    real = os.write
    real_replace = os.replace

    def write(descriptor, data):
        if os.path.samestat(os.fstat(descriptor), world.workspace().layout.log.stat()):
            real(descriptor, bytes(data)[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return real(descriptor, data)

    def replace(source, target):
        name = Path(target).name
        if name == ("state.md" if where == "read model" else "sync-state.json"):
            raise OSError(28, "No space left on device")
        real_replace(source, target)

    before = world.bytes_of_store()
    with monkeypatch.context() as patched:
        if where == "append":
            patched.setattr(os, "write", write)
        else:
            patched.setattr(os, "replace", replace)
        failed = world.run("sync")
    damaged = world.bytes_of_store()
    mended = world.run("sync")

    assert failed.code == 1
    assert "No space left on device" in failed.err
    assert damaged["state.md"] == before["state.md"]
    assert not [name for name in damaged if name.endswith(".tmp")]
    assert mended.code == 0
    assert texts(world) == ["one", "two"]
    assert world.run("project", "--check").code == 0
    assert world.run("verify", "--deep").code == 0


READERS = (["context"], ["handoff"], ["status"], ["stats"], ["show", "last"], ["verify"])


def test_readers_work_where_nothing_can_be_written(world: World, monkeypatch):
    """FC-N08: a read-only mount refuses every file opened for writing. Root is not bound by modes, so it is
    played by the calls that such a mount fails.
    """
    claude = world.claude().user("one")
    world.sync()
    claude.assistant("two")
    real = os.open

    def read_only(path, flags, *rest, **options):
        if flags & (os.O_WRONLY | os.O_RDWR) and str(path).startswith(str(world.store)):
            raise OSError(30, "Read-only file system", str(path))
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", read_only)
    before = world.bytes_of_store()
    for words in READERS:
        ran = world.run(*words)
        assert ran.code in (0, 3), (words, ran.err)
        assert "Traceback" not in ran.err
    assert "Read-only file system" in world.run("context").out + world.run("context").err
    for words in (["sync"], ["decide", "x"], ["project"]):
        ran = world.run(*words)
        assert ran.code in (0, 1), words
        assert len(ran.err.splitlines()) <= 2
    assert world.run("decide", "x").code == 1
    assert world.bytes_of_store() == before


@pytest.mark.parametrize("home", [None, "", "/nonexistent"])
def test_a_missing_home_is_no_agent_and_no_error(world: World, home):
    """FC-N08: a service account, a container."""
    world.workspace()
    environ = world.process_environ()
    if home is None:
        environ.pop("HOME")
    else:
        environ["HOME"] = home
    # Without HOME the password database names one; agents' homes are therefore named elsewhere.
    environ |= dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GROK_HOME"), "/nonexistent")
    world.process_environ = lambda: environ  # type: ignore[method-assign]

    ran = world.wait(world.process("sync"))

    assert ran.code == 0
    assert "Traceback" not in ran.err


def test_a_read_only_home_is_only_read(world: World, monkeypatch):
    """FC-N08: we never write there, so nothing changes."""
    world.claude().user("one")
    for path in [world.home, *world.home.rglob("*")]:
        path.chmod(0o500 if path.is_dir() else 0o400)

    world.sync()

    assert texts(world) == ["one"]


@pytest.mark.parametrize("became", ["deleted", "renamed", "a file"])
def test_a_project_that_is_gone_is_said_plainly(world: World, tmp_path, became):
    """FC-N10: nothing is made anew behind its owner's back."""
    world.claude().user("one")
    world.sync()
    if became == "renamed":
        world.project.rename(tmp_path / "renamed")
    else:
        shutil.rmtree(world.project)
    if became == "a file":
        world.project.write_text("no directory")

    ran = world.run("sync", "--workspace", str(world.project), present=tmp_path)

    assert ran.code == 4
    assert "Traceback" not in ran.err
    if became != "a file":
        assert not world.project.exists()
    else:
        assert world.project.read_text() == "no directory"


def test_two_agents_that_finish_in_the_same_second_share_one_chain(world: World):
    """FC-N09: both captured once, in an order that stays."""
    moment = "2026-03-01T10:00:00.000Z"
    world.claude().user("one", timestamp=moment)
    codex = world.codex()
    codex.record("session_meta", codex.meta())
    world.codex("codex-1")
    codex.user("two")
    world.workspace()

    both = [world.process("sync", "--agent", name) for name in ("claude-code", "codex")]
    assert [world.wait(process).code for process in both] == [0, 0]
    order = texts(world)
    world.sync(full=True)

    assert sorted(order) == ["one", "two"]
    assert texts(world) == order
    assert world.run("verify", "--deep").code == 0


def test_values_of_the_wrong_kind_are_passed_over_and_counted(world: World):
    """FC-N14: null where text should be, a string where an object should be, a type from tomorrow."""
    claude = world.claude().user("one")
    for broken in (
        {"cwd": None},
        {"message": "text"},
        {"message": None},
        {"message": {"role": "user", "content": None}},
        {"timestamp": 7},
        {"sessionId": ["x"]},
        {"version": {"a": 1}},
    ):
        claude.write({**claude.record("user", message={"role": "user", "content": "odd"}), **broken})
    claude.write(claude.record("invented_tomorrow", message={"role": "user", "content": "CANARY"}))
    claude.assistant("two")
    world.workspace()

    ran = world.run("sync", "--json")

    assert ran.code == 0
    assert [text for text in texts(world) if text != "odd"] == ["one", "two"]
    assert ran.json["agents"][0]["unknown"]["invented_tomorrow"] == 1
    assert b"CANARY" not in world.workspace().layout.log.read_bytes()


HOSTILE_LINES = [
    b"[" * 10_000 + b"]" * 10_000,
    b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    b'{"type":"user","n":1e400}',
    b'{"type":"user","n":' + b"9" * 400 + b"}",
    b'{"type":"assistant","type":"user","message":{"content":null}}',
    b'"just text"',
    b"\xff\xfe\x00",
]


def test_hostile_lines_are_passed_over_and_named(world: World):
    """FC-N15: nesting, numbers and keys that no agent writes; turns around them are kept."""
    claude = world.claude().user("one")
    for line in HOSTILE_LINES:
        claude.write_bytes(line + b"\n")
    claude.assistant("two")
    world.workspace()

    ran = world.run("sync")

    assert ran.code == 0
    assert texts(world) == ["one", "two"]


KEYS = [
    "type",
    "message",
    "role",
    "content",
    "text",
    "uuid",
    "cwd",
    "sessionId",
    "timestamp",
    "payload",
    "params",
]
KEYS += [
    "update",
    "sessionUpdate",
    "_meta",
    "eventId",
    "item",
    "id",
    "operation",
    "version",
    "isSidechain",
    "source",
]
WORDS = [
    "user",
    "assistant",
    "text",
    "session_meta",
    "event_msg",
    "item_completed",
    "UserMessage",
    "queue-operation",
]
WORDS += [
    "response_item",
    "agent_message_chunk",
    "user_message_chunk",
    "enqueue",
    "turn_context",
    "\ud800",
    "\0",
    "",
]
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)
RECORDS = st.dictionaries(st.sampled_from(KEYS), ANY_JSON, max_size=8) | ANY_JSON


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(records=st.lists(RECORDS, max_size=8), raw=st.binary(max_size=40))
def test_no_session_file_whatever_it_holds_stops_a_run(world: World, records, raw):
    """Vendors change their logs without notice; the worst outcome is a turn that was not read."""
    content = b"".join(json.dumps(record).encode() + b"\n" for record in records) + raw
    for session in (world.claude("odd"), world.codex("odd"), world.grok("odd")):
        session.path.write_bytes(content)
        if session.path.name == "updates.jsonl":
            described = {"info": {"id": "odd", "cwd": str(world.project)}}
            (session.path.parent / "summary.json").write_text(json.dumps(described))

    report = world.sync()
    before = world.workspace().layout.log.read_bytes()
    world.sync(full=True)

    assert not report.partial, [agent.problems for agent in report.agents]
    assert world.workspace().layout.log.read_bytes() == before
