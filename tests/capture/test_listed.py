"""Many session files are not listed again because of one turn, and no turn is missed for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import antigravity
from builders.world import World
from capture.test_unchanged import CHANGES, HARMS, settle
from conversation_esaa.agents import claude_code, codex
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.capture import listed
from conversation_esaa.capture.cursors import Stat
from conversation_esaa.capture.listed import Asked, Found, Listing
from conversation_esaa.capture.unchanged import Witness

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AGENTS = ("claude-code", "codex", "grok")


@pytest.fixture(autouse=True)
def few_are_many() -> Iterator[None]:
    """Else every test would need fifty sessions."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listed, "WORTH_IT", 1)
        patched.setattr(listed, "MOST_CHANGED", 1)
        yield


@pytest.fixture
def settled(world: World) -> World:
    """Two agents with some sessions each, all of them captured long ago."""
    return filled(world)


def filled(world: World) -> World:
    (world.home / ".grok" / "sessions" / "%2Felsewhere" / "s").mkdir(parents=True)
    antigravity.Conversation().typed("Why?").answered("For tea.").save(world.home / ".gemini/antigravity-cli")
    for number in range(3):
        world.claude(f"claude-{number + 1}").user(f"Which port {number}?").assistant("8080.")
        world.codex(f"codex-{number + 1}").user(f"Is it open {number}?").assistant("Yes.")
    world.codex("codex-9", cwd=world.home).user("Elsewhere?").assistant("Yes.")
    world.grok().user("Since when?").assistant("Since Monday.")
    settle(world)
    world.sync(full=True)  # by a clock that is an hour on: nothing is racy any more
    assert kept(world)
    return world


def kept(world: World) -> dict[str, Path]:
    layout = world.workspace().layout
    return {name: layout.listed(name) for name in AGENTS if layout.listed(name).exists()}


def only_by_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lists anew fails."""

    def listing(*_: object) -> None:
        raise AssertionError

    for module in (claude_code, codex):
        monkeypatch.setattr(module, "session_files", listing)
        monkeypatch.setattr(module, "home", listing)


def test_a_new_turn_is_captured_without_a_new_listing(settled: World, monkeypatch):
    only_by_what_is_kept(monkeypatch)
    settled.codex("codex-2").user("And now?")
    settled.claude("claude-3").user("And then?")

    report = settled.sync()

    assert report.captured == 2
    by_agent = {agent.agent: agent for agent in report.agents}
    assert (by_agent["codex"].sessions, by_agent["codex"].read) == (4, 1)
    assert by_agent["claude-code"].found
    assert not any(agent.failed for agent in report.agents)


def test_it_goes_on_so_turn_after_turn(settled: World, monkeypatch):
    """What is kept stays as it is: a file that grew since is looked at, by its cursor."""
    only_by_what_is_kept(monkeypatch)
    for number in range(3):
        settled.codex("codex-1").user(f"More {number}?").assistant("Yes.")
        assert settled.sync(agents=["codex"]).captured == 2
        assert settled.sync(agents=["codex"]).captured == 0

    assert settled.sync(agents=["codex"]).agents[0].read == 0


def test_what_is_said_is_the_same_as_after_a_listing(settled: World):
    settled.codex("codex-2").user("And now?")
    by_what_is_kept = settled.run("sync", "--json").json
    settled.codex("codex-2").user("And now again?")
    for path in kept(settled).values():
        path.unlink()
    listed_anew = settled.run("sync", "--json").json

    assert by_what_is_kept["agents"] == listed_anew["agents"]


def test_nothing_new_is_found_and_noted_without_a_listing(settled: World, monkeypatch):
    """The record of that answer depends on the same things, whoever looked at them."""
    layout = settled.workspace().layout
    settled.run("sync")
    before = set(layout.unchanged.read_bytes().split(b"\0"))
    layout.unchanged.unlink()
    only_by_what_is_kept(monkeypatch)

    settled.run("sync")

    assert set(layout.unchanged.read_bytes().split(b"\0")) == before


@pytest.mark.parametrize("change", CHANGES)
def test_no_change_is_missed(settled: World, change: str):
    CHANGES[change](settled)

    settled.sync()

    missed = settled.sync(full=True)
    assert missed.captured == 0
    assert [agent for agent in missed.agents if agent.failed] == []


@settings(max_examples=15)
@given(names=st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=6))
def test_whatever_happens_nothing_is_missed(tmp_path_factory, names):
    """After any history of changes, each followed by a look or not."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(listed, "WORTH_IT", 1)
        patched.setattr(listed, "MOST_CHANGED", 1)
        world = filled(World(tmp_path_factory.mktemp("world")))
        for name in names:
            try:
                CHANGES[name](world)
            except OSError:  # what it would change is gone
                continue
            if len(name) % 2:
                world.sync()
        world.sync()

        assert world.sync(full=True).captured == 0


def test_a_session_that_is_gone_is_forgotten(settled: World):
    path = settled.codex("codex-2").path
    path.unlink()
    settled.sync()

    assert str(path) not in settled.workspace().layout.sync_state.read_text()


@pytest.mark.parametrize(
    "harm",
    [
        *HARMS.values(),
        lambda data: data.replace(b'"version":"', b'"version":"0'),
        lambda data: data.replace(b'{"asked"', b'{"Asked"'),
    ],
)
def test_a_damaged_record_costs_a_listing_alone(settled: World, harm):
    for path in kept(settled).values():
        path.write_bytes(harm(path.read_bytes()))
    settled.codex("codex-2").user("And now?")
    damaged = {name: path.read_bytes() for name, path in kept(settled).items()}

    assert settled.sync().captured == 1
    assert settled.sync(full=True).captured == 0
    assert all(path.read_bytes() != damaged[name] for name, path in kept(settled).items())


ASKED = Asked(agent="codex", version="1", user_home="/home/a", roots=("/home/a/tea",))
FOUND = Found(home="/home/a/.codex", found=True, moved=False, unlisted={"compressed": 2})


def written(path: Path, session: Path, *, seconds_later: float) -> Witness:
    """A record of one session file, as a run would have made it so long after that changed."""
    stat = Stat.of(session.stat())
    witness = Witness(began_ns=stat.mtime_ns + int(seconds_later * 1e9))
    file = SessionFile(path=session, session_id="s", cwd="/home/a/tea")
    path.write_bytes(listed.record(ASKED, FOUND, [file], {file.key: stat}, witness) or b"")
    return witness


def recalled(directory: Path, witness: Witness, asked: Asked = ASKED) -> Listing | None:
    """Where every session file has a cursor."""
    known = list(map(str, directory.iterdir()))
    return listed.recall(directory / "record", asked, known, environ={}, witness=witness)


@pytest.mark.parametrize(("seconds_later", "looked_at"), [(1, True), (3, False)])
def test_a_file_that_changed_a_moment_ago_is_looked_at_again(tmp_path, seconds_later, looked_at):
    """It may change again within the same tick of the clock, with the same size: no stat would tell."""
    session = tmp_path / "s.jsonl"
    session.write_text("{}\n")
    witness = written(tmp_path / "record", session, seconds_later=seconds_later)

    listing = recalled(tmp_path, witness)

    assert listing is not None
    assert (listing.found, listing.paths) == (FOUND, [str(session)])
    expected = [SessionFile(path=session, session_id="s", cwd="/home/a/tea")]
    assert listing.to_look_at == (expected if looked_at else [])
    without_cursors = listed.recall(tmp_path / "record", ASKED, (), environ={}, witness=witness)
    assert without_cursors is not None
    assert without_cursors.to_look_at == expected


@pytest.mark.parametrize("field", ["agent", "version", "user_home", "roots"])
def test_it_answers_no_other_question(tmp_path, field):
    session = tmp_path / "s.jsonl"
    session.touch()
    witness = written(tmp_path / "record", session, seconds_later=9)
    other = msgspec.structs.replace(ASKED, **{field: ("/",) if field == "roots" else "other"})

    assert recalled(tmp_path, witness)
    assert recalled(tmp_path, witness, other) is None


def test_where_much_has_changed_it_is_time_for_a_listing(tmp_path, monkeypatch):
    session = tmp_path / "s.jsonl"
    session.touch()
    witness = written(tmp_path / "record", session, seconds_later=9)
    session.write_text("{}\n")
    assert recalled(tmp_path, witness)

    monkeypatch.setattr(listed, "MOST_CHANGED", 0.1)

    assert recalled(tmp_path, witness) is None


def test_what_only_some_roots_would_admit_is_looked_at_when_they_change(settled: World):
    """With other roots, what was refused may belong here."""
    settled.add_roots(str(settled.home))

    assert settled.sync().captured > 0


def test_few_sessions_and_those_in_databases_are_not_worth_it(world: World, monkeypatch):
    monkeypatch.setattr(listed, "WORTH_IT", 2)
    world.codex().user("Is it open?")
    settle(world)
    world.sync(full=True)

    assert not kept(world)
