"""Nothing new, told without capture: what it depended on, and that nothing of it may change unseen."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import antigravity, copilot_cli, droid, kimi, pi
from builders.world import World
from conversation_esaa.capture import unchanged
from conversation_esaa.capture.unchanged import Witness
from conversation_esaa.cli import nothing_new

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HOUR = 3600


@pytest.fixture
def settled(world: World) -> World:
    """Agents were used here, everything was captured, and that was long ago."""
    world.claude().user("Which port does the tea server use?").assistant("8080.")
    world.codex().user("Is it open?").assistant("Yes.")
    world.grok().user("Since when?").assistant("Since Monday.")
    home = world.home / ".gemini" / "antigravity-cli"
    antigravity.Conversation().typed("Why?").answered("For tea.").save(home)
    antigravity.typed_in(home, antigravity.TEA, str(world.project))
    (world.home / ".grok" / "sessions" / "%2Felsewhere" / "s").mkdir(parents=True)
    (world.home / ".claude" / "projects" / "-elsewhere").mkdir()
    kimi.Session(cwd=below(world)).typed("Hi").save(world.home / ".kimi", listed=False)
    settle(world)
    return world


def settle(world: World) -> None:
    """Capture what there is, and find nothing new after that."""
    world.workspace()
    world.time = datetime.fromtimestamp(time.time() + HOUR, UTC)  # every file is old by this clock
    world.run("sync")
    world.run("sync")


def told(world: World, *, as_json: bool = False) -> str:
    """What is said without looking further; "" when that must be found out."""
    out = io.StringIO()
    return out.getvalue() if nothing_new.told(world.machine(), out, as_json=as_json) else ""


def found_out(world: World, *words: str) -> str:
    """What the command says when nothing was written down."""
    world.workspace().layout.unchanged.unlink(missing_ok=True)
    return world.run("sync", *words).out


def same_size(path: Path) -> None:
    """Other bytes, as many of them."""
    path.write_bytes(path.read_bytes().replace(b"8080", b"9090"))


def below(world: World) -> str:
    return str(world.project / "below")


def claude_file(world: World) -> Path:
    return world.claude().path


CHANGES: dict[str, Callable[[World], object]] = {
    "a session grows": lambda world: world.claude().user("And now?"),
    "a session is rewritten with as many bytes": lambda world: same_size(claude_file(world)),
    "a session is deleted": lambda world: world.codex().path.unlink(),
    "a session is replaced by a copy": lambda world: replaced(claude_file(world)),
    "a new session": lambda world: world.claude("claude-2").user("Hello"),
    "a new project folder": lambda world: world.claude("claude-3", cwd=world.project / "below").user("Hello"),
    "a folder that was listed in vain is filled": lambda world: world.claude(
        "claude-4", cwd=world.project.parent
    ).user("Hello"),
    "a new day folder": lambda world: (world.home / ".codex/sessions/2026/03/02").mkdir(),
    "archived sessions appear": lambda world: (world.home / ".codex/archived_sessions").mkdir(),
    "a new session of Grok": lambda world: world.grok("grok-2").user("Hello"),
    "Grok starts a sub-agent": lambda world: (world.grok().path.parent / "subagents").mkdir(),
    "a folder of Grok says where it is": lambda world: (
        world.home / ".grok/sessions/%2Felsewhere/.cwd"
    ).write_text(str(world.project)),
    "a prompt of Antigravity": lambda world: antigravity.typed_in(
        world.home / ".gemini/antigravity-cli", "other", str(world.project)
    ),
    "Antigravity's project appears": lambda world: (world.home / ".gemini/antigravity-cli/brain/new").mkdir(),
    "pi is used": lambda world: pi.Session(cwd=str(world.project)).typed("Hi").save(world.home / ".pi/agent"),
    "Copilot is used": lambda world: copilot_cli.Session().typed("Hi").save(world.home / ".copilot"),
    "droid is used": lambda world: droid.Session(cwd=str(world.project)).save(world.home / ".factory"),
    "Kimi's table names a directory": lambda world: kimi.Session(cwd=below(world)).save(world.home / ".kimi"),
    "a home goes": lambda world: (world.home / ".grok").rename(world.home / ".grok-old"),
    "a variable names another home": lambda world: world.environ.update(CODEX_HOME=str(world.home / "other")),
    "a variable is set to nothing": lambda world: world.environ.update(GROK_HOME=""),
    "the settings are edited": lambda world: world.add_roots("/elsewhere"),
    "the log grows by another process": lambda world: world.workspace().curate("goal", goal_of(world)),
    "the log goes back": lambda world: shortened(world.workspace().layout.log),
    "a read model is deleted": lambda world: world.workspace().layout.read_model("handoff.md").unlink(),
    "a read model is edited": lambda world: appended(world.workspace().layout.read_model("tasks.json")),
    "the index is deleted": lambda world: world.workspace().layout.index.unlink(),
    "the cursors are deleted": lambda world: world.workspace().layout.sync_state.unlink(),
}


def goal_of(_world: World) -> Callable[..., list[object]]:
    from conversation_esaa.events import GoalSet

    return lambda _state: [GoalSet(actor="user", goal="Tea")]


def appended(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


def shortened(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))


def replaced(path: Path) -> None:
    """The same bytes, the same size, the same time of change: only the file is another."""
    found = path.stat()
    copy = path.with_name("copy.tmp")
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
    copy.replace(path)


def test_what_is_said_again_is_what_the_long_way_says(settled: World) -> None:
    """The short way is a short cut, not another command: text and JSON are the same to the byte."""
    text, document = told(settled), told(settled, as_json=True)

    assert "nothing new" in text
    assert (text, document) == (found_out(settled), found_out(settled, "--json"))


@pytest.mark.parametrize("words", [("sync",), ("watch", "--once"), ("sync", "--json"), ("--json", "sync")])
def test_a_plain_sync_and_watch_once_say_it_again(settled: World, words, monkeypatch) -> None:
    """These are called again and again by hooks, timers and watchers."""
    from conversation_esaa.cli import call

    monkeypatch.setattr(call, "carry_out", lambda *_, **__: 99)

    ran = settled.run(*words)

    assert ran.code == 0
    assert ran.out == told(settled, as_json="--json" in words)


@pytest.mark.parametrize(
    "words", [("sync", "--full"), ("sync", "--agent", "codex"), ("watch", "--status"), ("sync", "--help")]
)
def test_whoever_asks_for_more_gets_it(settled: World, words, monkeypatch) -> None:
    """An option means something, so it is not answered from what was found without it."""
    from conversation_esaa.cli import call

    monkeypatch.setattr(call, "carry_out", lambda *_, **__: 99)

    assert settled.run(*words).code == 99


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_goes_unseen(settled: World, change: str) -> None:
    """The whole value of capture: whatever may bring something new is looked at."""
    assert told(settled)

    CHANGES[change](settled)

    assert not told(settled)


def test_a_home_that_appears_is_seen(world: World) -> None:
    """An agent is installed, or used for the first time."""
    world.claude().user("Which port?").assistant("8080.")
    settle(world)
    assert "not found" in told(world)

    world.codex().user("Hello")

    assert not told(world)
    assert world.sync().captured == 2


@settings(max_examples=12)
@given(names=st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=4))
def test_whatever_happens_the_short_way_says_what_the_long_way_would(tmp_path_factory, names) -> None:
    """After any history of changes, each followed by a look or not."""
    world = World(tmp_path_factory.mktemp("world"))
    world.claude().user("Which port?").assistant("8080.")
    world.grok().user("Since when?").assistant("Since Monday.")
    world.codex().user("Is it open?")
    (world.home / ".grok/sessions/%2Felsewhere").mkdir()
    settle(world)
    for name in names:
        try:
            CHANGES[name](world)
        except OSError:  # what it would change is gone
            continue
        if len(name) % 2:
            world.run("sync")
            world.run("sync")
        if said := told(world):
            assert said == found_out(world)


def test_a_link_that_leads_elsewhere_is_seen(world: World, tmp_path) -> None:
    """The folder that has the link does not change when what it leads to does."""
    world.claude().user("Which port?").assistant("8080.")
    folder = claude_file(world).parent
    elsewhere = tmp_path / "moved" / folder.name
    elsewhere.parent.mkdir()
    folder.rename(elsewhere)
    folder.symlink_to(elsewhere)
    settle(world)
    assert told(world)

    elsewhere.rename(tmp_path / "gone")

    assert not told(world)


def test_a_file_that_changed_a_moment_ago_is_not_trusted(world: World) -> None:
    """It may change again within the same tick of the clock, with the same size: no stat would tell."""
    world.claude().user("Which port?").assistant("8080.")
    settle(world)
    world.workspace().layout.unchanged.unlink()
    world.time = datetime.fromtimestamp(claude_file(world).stat().st_mtime + 1, UTC)

    world.run("sync")

    assert not told(world)
    assert not world.workspace().layout.unchanged.exists()


def test_a_run_in_which_something_failed_is_not_written_down(world: World, monkeypatch) -> None:
    """What could not be read is told each time, and tried each time."""
    from conversation_esaa.agents import grok

    def broken(*_: object) -> None:
        raise ValueError

    world.claude().user("Which port?").assistant("8080.")
    (world.home / ".grok").mkdir()
    with monkeypatch.context() as patched:
        patched.setattr(grok, "session_files", broken)
        settle(world)
        assert "could not be looked at" in world.run("sync").out
        assert not told(world)

    settle(world)

    assert told(world)


def test_a_workspace_at_another_path_is_looked_at(settled: World) -> None:
    """Moved or copied with all its files, it is another place, and its log has to say so."""
    other = settled.project.with_name("moved")
    settled.project.rename(other)
    settled.project = other

    assert not told(settled)
    assert settled.sync().captured == 0


HARMS: dict[str, Callable[[bytes], bytes]] = {
    "torn": lambda data: data[: len(data) // 2],
    "NULs, as a crash leaves them": lambda data: b"\0" * len(data),
    "of another format": lambda data: data.replace(b"/1\0", b"/2\0", 1),
    "without an end": lambda data: data.replace(b"\0end", b"\0"),
    "empty": lambda _data: b"",
    "with two ends": lambda data: data + b"\0end",
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_a_damaged_record_is_none(settled: World, harm) -> None:
    """A cache can only cost time, whatever a power cut left of it."""
    record = settled.workspace().layout.unchanged
    record.write_bytes(harm(record.read_bytes()))

    assert not told(settled)


def test_another_version_of_the_program_looks_for_itself(settled: World, monkeypatch) -> None:
    """It may read what the earlier one passed over."""
    monkeypatch.setattr(nothing_new, "__version__", "9.9.9")

    assert not told(settled)


def test_reading_catches_up_by_the_same_record(settled: World, monkeypatch) -> None:
    """A handoff of an idle project pays for no discovery."""
    from conversation_esaa import opened

    monkeypatch.setattr(opened, "sync", None)  # would fail if it were called

    ran = settled.run("handoff", "--json")

    assert ran.json["freshness"]["caught_up"] is True
    settled.claude().user("And now?")
    assert settled.run("handoff", "--json").code == 1


def test_a_folder_below_finds_the_same_workspace(settled: World) -> None:
    """Commands run anywhere in the project."""
    below = settled.project / "src" / "deep"
    below.mkdir(parents=True)
    out = io.StringIO()

    assert nothing_new.told(settled.machine(below), out, as_json=False)
    assert out.getvalue() == told(settled)


def test_what_is_in_the_way_of_a_store_is_not_passed_over(settled: World) -> None:
    """A file of that name nearer than the store is refused aloud, by the long way."""
    below = settled.project / "below"
    below.mkdir()
    (below / ".conversation-esaa").write_text("")

    assert not nothing_new.told(settled.machine(below), io.StringIO(), as_json=False)


def test_nothing_is_imported_for_it(settled: World) -> None:
    """`import msgspec` alone costs more than the whole answer may."""
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "conversation_esaa", "sync"],
        cwd=settled.project,
        env=settled.process_environ(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}

    assert ran.stdout == told(settled)
    assert {name for name in loaded if name.startswith("conversation_esaa")} == {
        "conversation_esaa",
        "conversation_esaa.capture",
        "conversation_esaa.capture.unchanged",
        "conversation_esaa.cli",
        "conversation_esaa.cli.main",
        "conversation_esaa.cli.nothing_new",
    }
    assert not loaded & {"msgspec", "re", "typing", "enum", "pathlib", "json", "argparse"}


def test_ten_thousand_files_are_compared_one_by_one(tmp_path) -> None:
    """However many there are, the one that changed is found."""
    files = [tmp_path / f"{number}.jsonl" for number in range(10_000)]
    for file in files:
        file.touch()
    began_ns = time.time_ns() + HOUR * 10**9
    witness = Witness(began_ns=began_ns)
    for file in files:
        witness.content(str(file))
    kept = witness.record(("text", "{}"), root="/r", home="/h", version="1")
    assert kept
    record = tmp_path / "record"
    record.write_bytes(kept)
    same = {"root": "/r", "home": "/h", "version": "1", "environ": {}}
    assert unchanged.answers(str(record), **same) == ("text", "{}")

    files[5_000].write_text("x")

    assert not unchanged.holds(str(record), **same)


@given(st.text(), st.text())
def test_what_cannot_be_written_down_is_not(text, other) -> None:
    """A name with a NUL or half a character in it is no name of a file: such a run is looked at each time."""
    witness = Witness(began_ns=0)
    witness.variable(other.replace("\0", "") or "x", text)
    witness.kind(text)

    kept = witness.record(("", ""), root="/r", home="/h", version="1")

    assert kept is None or b"\0" not in text.encode("utf-8", "surrogateescape")


@pytest.mark.skipif(not hasattr(os, "chown"), reason="files of this system have no such owner")
def test_a_file_whose_owner_is_set_by_reading_it_is_known_by_what_is_written(tmp_path: Path):
    """SQLite does so with a WAL when root reads. What is written to it still counts."""
    path, record = tmp_path / "wal", tmp_path / "record"
    path.write_bytes(b"x")
    long_after_ns = path.stat().st_mtime_ns + 10 * unchanged.RACY_NS
    given = {"root": "/r", "home": "/h", "version": "1"}

    def note() -> None:
        witness = unchanged.Witness(began_ns=long_after_ns)
        witness.written(str(path))
        record.write_bytes(witness.record(("", ""), **given) or b"")

    note()
    os.chown(path, os.getuid(), os.getgid())
    looked_at = unchanged.holds(str(record), **given, environ={})
    path.write_bytes(b"xy")

    assert looked_at
    assert not unchanged.holds(str(record), **given, environ={})
