"""OpenCode and Kilo: which messages are the conversation, and what is read of a database that changes."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

import pytest

from builders.opencode import BEGIN_MS, Session, Store, opened, read, text_part, texts
from builders.world import World
from conversation_esaa.agents import kilo, opencode
from conversation_esaa.agents.registry import running
from conversation_esaa.agents.storage import Kind
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROOT = "/home/dev/tea"
HANDOFF = f"{begin_line(3, 'ab' * 32)}\nCANARY <decisions> & tasks\n{end_line(3)}"


def talk() -> Session:
    return Session().typed("Name a herb.").answered("Mint.")


def turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


# --- What a message is


def test_prompts_and_answers_are_the_conversation():
    """FC-E04, FC-N05: no reasoning, no tools, nothing synthetic or ignored, no titles."""
    state = opened()
    found = turns(read(talk().records, state))

    assert texts(found) == ["Name a herb.", "Mint."]
    assert [turn.actor for turn in found] == [Actor.USER, Actor.ASSISTANT]
    assert state.unknown == {}


def test_a_turn_says_who_where_when_and_with_what():
    found = turns(read(talk().records))

    assert found[1] == Turn(
        source=opencode.NAME,
        source_session_id="ses_1",
        source_index=1,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref="msg_ses_1_0001",
        copy_keys=found[1].copy_keys,
        said_at="2026-01-02T03:04:07.000Z",
        cwd=ROOT,
        model="demo",
        agent_version="1.18.33",
    )


def test_a_compaction_is_a_mark_and_its_summary_no_turn():
    found = read(talk().compacted(auto=True).records)

    marks = [item for item in found if isinstance(item, SessionMark)]
    assert [(mark.kind, mark.trigger) for mark in marks] == [
        (MarkKind.STARTED, ""),
        (MarkKind.COMPACTED, "auto"),
    ]
    assert texts(found) == ["Name a herb.", "Mint."]


def test_texts_of_one_message_are_one_turn():
    session = Session().message(
        {"role": "assistant", "finish": "stop"}, text_part("Mint."), text_part("Or sage.")
    )

    assert texts(read(session.records)) == ["Mint.\n\nOr sage."]


def test_what_nobody_knows_is_counted_and_not_read():
    """FC-N14."""
    state = opened()
    session = talk().message({"role": "oracle"}, text_part("CANARY"))
    session.message({"role": "user"}, {"type": "hologram", "text": "CANARY"}, {"text": "CANARY"})

    assert texts(read([*session.records, {"x": "CANARY"}], state)) == ["Name a herb.", "Mint."]
    assert state.unknown == {
        "role/oracle": 1,
        "part/hologram": 1,
        "a part that is no JSON object with a type": 1,
        "a row of no known kind": 1,
    }


def test_kilo_is_an_agent_of_its_own():
    """It sets the mark of what it was forked from, too."""
    found = list(kilo.read(talk().records, opened()))

    assert {item.source for item in found} == {kilo.NAME}
    assert running({"OPENCODE": "1", "KILO": "1"}) == kilo.NAME
    assert running({"OPENCODE": "1"}) == opencode.NAME


# --- Which sessions


@pytest.fixture
def world(tmp_path: Path) -> World:
    found = World(tmp_path)
    found.workspace()
    return found


@pytest.fixture
def home(world: World) -> Path:
    return world.home / ".local" / "share" / "opencode"


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    found = Store(home)
    yield found
    found.close()


def ours(world: World, session_id: str = "ses_1", **more: str) -> Session:
    return Session(session_id, str(world.project), **more)


def said(world: World) -> list[str]:
    return [text for _, text in world.said()]


def test_sessions_are_narrowed_to_the_workspace_and_sub_agents_left_out(home: Path, store: Store):
    """FC-N05, FC-G11."""
    for number, cwd in enumerate([ROOT, f"{ROOT}/leaves", f"{ROOT}2", "/home/dev", "/elsewhere"]):
        store.save(Session(f"ses_{number}", cwd).typed("x"))
    store.save(Session("ses_child", ROOT, parent="ses_0").typed("CANARY"))

    found = list(opencode.session_files(home, [ROOT]))

    assert [file.session_id for file in found] == ["ses_0", "ses_1", "ses_3"]
    assert len({file.key for file in found}) == 3


def test_databases_of_other_channels_are_read_and_other_files_are_not(home: Path, store: Store):
    store.save(Session("ses_1", ROOT))
    for name in ("opencode-beta.db", "notes.db", "opencode.db.bak"):
        other = Store(home, name)
        other.save(Session(f"ses_{name}", ROOT))
        other.close()

    assert [file.session_id for file in opencode.session_files(home, [ROOT])] == [
        "ses_opencode-beta.db",
        "ses_1",
    ]


def test_the_environment_can_name_the_database(world: World, tmp_path: Path):
    """FC-G07."""
    elsewhere = Store(tmp_path / "elsewhere", "mine.db")
    world.environ = {"OPENCODE_DB": str(elsewhere.path)}
    elsewhere.save(ours(world).typed("one"))

    report = world.sync()
    elsewhere.close()

    assert said(world) == ["one"]
    assert world.agent("opencode", report).found


def test_an_empty_file_is_a_database_to_be(home: Path):
    """FC-A04."""
    home.mkdir(parents=True)
    (home / "opencode.db").touch()

    assert list(opencode.session_files(home, [ROOT])) == []


# --- A database that changes


def test_only_what_came_later_is_read(world: World, store: Store):
    """FC-I14, FC-F06: also when neither the session's moment nor the database, but only its WAL, has changed."""
    session = ours(world).typed("one").answered("two")
    store.save(session)
    first = world.sync()
    before = store.path.read_bytes()
    store.save(session.typed("three").answered("four"), updated_ms=session.messages[1]["made_ms"])

    second, third = world.sync(), world.sync()

    assert store.path.read_bytes() == before
    reports = [world.agent("opencode", report) for report in (first, second, third)]
    assert [report.read for report in reports] == [1, 1, 0]
    assert [report.captured for report in reports] == [3, 2, 0]
    assert reports[1].known == 0
    assert said(world) == ["one", "two", "three", "four"]


def test_news_of_one_session_are_not_taken_for_news_of_its_neighbours(world: World, store: Store):
    first, second = ours(world, "ses_1").typed("one"), ours(world, "ses_2").typed("two")
    store.save(first).save(second)
    world.sync()
    store.save(second.answered("three"))

    report = world.sync()

    assert world.agent("opencode", report).read == 1
    assert world.workspace().status().agents is not None
    survey = next(agent for agent in world.workspace().status().agents if agent.agent == "opencode")
    assert (survey.sessions, survey.with_news) == (2, 0)


def test_a_message_is_read_when_it_is_settled(world: World, store: Store):
    """Rows are changed in place: a prompt before its text is there, an answer that grows, a prompt behind it."""
    session = ours(world).message({"role": "user"})
    heard: list[list[str]] = []

    def look() -> None:
        before = said(world)
        store.save(session)
        world.sync()
        heard.append(said(world)[len(before) :])

    look()
    session.messages[0]["parts"].append(text_part("one"))
    look()
    session.answering("tw")
    session.typed("three")
    look()
    session.messages[1]["parts"][0]["text"] = "two"
    session.messages[1]["message"]["finish"] = "stop"
    session.messages[1]["parts"].append({"type": "step-finish"})
    look()

    assert heard == [[], ["one"], [], ["two", "three"]]


def test_an_answer_that_was_never_finished_holds_nothing_back_for_ever(world: World, store: Store):
    """Its agent died; the next answer shows it."""
    session = ours(world).typed("one").answering("half of tw").typed("three")
    store.save(session)
    world.sync()
    before = said(world)
    store.save(session.answered("four"))
    world.sync()

    assert before == ["one"]
    assert said(world) == ["one", "half of tw", "three", "four"]


def test_a_session_of_several_pages_is_read_whole_and_in_order(world: World, store: Store):
    session = ours(world)
    for number in range(130):
        session.typed(f"q{number}").answered(f"a{number}")
    store.save(session)

    world.sync()

    assert said(world) == [text for number in range(130) for text in (f"q{number}", f"a{number}")]


def test_a_fork_adds_only_what_is_new(world: World, store: Store):
    """FC-D01: its copies have ids of their own; the moment they were made is the original's."""
    session = ours(world).typed("one").answered("two")
    fork = session.forked("ses_0")
    store.save(session).save(fork.typed("three"))

    report = world.sync()

    assert said(world) == ["one", "two", "three"]
    assert world.agent("opencode", report).known == 2
    assert [turn.source_session_id for turn in world.turns()] == ["ses_1", "ses_1", "ses_0"]


def test_what_the_agent_reverts_stays_said(world: World, store: Store):
    """It deletes the rows when the next prompt is sent; a deleted session is no error either."""
    session = ours(world).typed("one").answered("two").typed("three")
    store.save(session)
    world.sync()
    store.connection.execute("DELETE FROM message WHERE id = ?", (session.messages[2]["id"],))
    store.connection.execute("DELETE FROM part WHERE message_id = ?", (session.messages[2]["id"],))
    session.messages[2] = {}
    session.typed("four").messages.pop(2)
    store.save(session)
    world.sync()
    for table in ("session", "message", "part"):
        store.connection.execute(f"DELETE FROM {table}")

    report = world.sync()

    assert not report.partial
    assert said(world) == ["one", "two", "three", "four"]
    assert "ses_1" not in (world.store / "sync-state.json").read_text()


def test_a_row_that_is_no_json_hides_only_itself(world: World, store: Store):
    """FC-A05, FC-N15, FC-C01."""
    store.save(ours(world).typed("one").answered("two").typed("done \ud83d"))
    store.connection.execute('UPDATE part SET data = \'{"type": "te\' WHERE data LIKE \'%"one"%\'')

    report = world.sync()

    assert said(world) == ["two", "done \ufffd"]
    assert world.agent("opencode", report).unknown == {"a part that is no JSON object with a type": 1}
    assert not report.partial


def test_a_database_of_unknown_tables_is_named_and_hides_no_other(world: World, home: Path, store: Store):
    """FC-E09, FC-I12."""
    store.save(ours(world).typed("one"))
    strange = sqlite3.connect(home / "opencode-next.db")
    strange.execute("CREATE TABLE conversation (x)")
    strange.close()

    report = world.sync()

    assert said(world) == ["one"]
    assert report.partial
    [problem] = world.agent("opencode", report).problems
    assert problem.path == str(home / "opencode-next.db")
    assert problem.problem == "the database has not the tables that are known of this agent"


def test_an_older_version_with_fewer_columns_is_read(world: World, home: Path):
    """New columns appear often; whoever has not updated lacks them."""
    home.mkdir(parents=True)
    old = sqlite3.connect(home / "opencode.db")
    old.executescript(
        """
        CREATE TABLE session (id text, directory text);
        CREATE TABLE message (id text, session_id text, time_created integer, data text);
        CREATE TABLE part (id text, message_id text, session_id text, data text);
        """
    )
    old.execute("INSERT INTO session VALUES ('ses_1', ?)", (str(world.project),))
    old.execute("INSERT INTO message VALUES ('msg_1', 'ses_1', ?, '{\"role\": \"user\"}')", (BEGIN_MS,))
    old.execute(
        "INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{\"type\": \"text\", \"text\": \"one\"}')"
    )
    old.commit()
    old.close()

    world.sync()

    assert said(world) == ["one"]


@pytest.mark.parametrize("when", ["at the first look", "later"])
def test_a_locked_database_is_told_of_and_read_by_the_next_run(world: World, home: Path, monkeypatch, when):
    """FC-I11: in rollback mode a writer shuts readers out; nothing is lost, and nothing is read twice."""
    monkeypatch.setattr("conversation_esaa.agents.sqlite.BUSY_S", 0.01)
    store = Store(home)
    store.connection.execute("PRAGMA journal_mode=delete")
    session = ours(world).typed("one")
    store.save(session)
    if when == "later":
        world.sync()
        store.save(session.answered("two"))
    store.connection.execute("BEGIN EXCLUSIVE")

    locked = world.run("sync", "--json")
    store.connection.execute("COMMIT")
    report = world.sync()
    store.close()

    assert locked.code == 3
    problems = [problem for agent in locked.json["agents"] for problem in agent["problems"]]
    assert [problem["path"] for problem in problems] == [str(store.path)]
    assert "locked by another process" in problems[0]["problem"]
    assert said(world) == (["one"] if when == "at the first look" else ["one", "two"])
    assert world.agent("opencode", report).known == 0
    assert world.run("sync").code == 0


@pytest.mark.parametrize("agent_is", ["at work", "gone"])
def test_nothing_is_left_beside_the_database_and_nothing_new_is_told_quickly(
    world: World, home: Path, store: Store, agent_is
):
    """FC-I14, FC-N11: the answer without a look is given as long as neither database nor WAL has changed."""
    session = ours(world).typed("one")
    store.save(session)
    if agent_is == "gone":
        store.close()
    before = sorted(path.name for path in home.iterdir())
    world.time = world.time.replace(year=2099)  # long after the files were written
    world.run("sync")
    world.run("sync")
    noted = (world.store / "run" / "unchanged").exists()

    again = world.run("sync")
    assert noted
    assert again.code == 0
    assert sorted(path.name for path in home.iterdir()) == before

    store = Store(home) if agent_is == "gone" else store
    store.save(session.answered("two"))
    world.run("sync")
    store.close()
    assert said(world) == ["one", "two"]


def test_our_handoff_never_becomes_a_turn_however_it_comes_back(world: World, store: Store):
    """FC-E07: as a part that says it is synthetic, escaped in a prompt, or alone."""
    session = ours(world).typed("one", {"type": "text", "text": HANDOFF, "synthetic": True})
    session.typed(f"two\n\n{HANDOFF.replace('<', '&lt;').replace('&', '&amp;')}").typed(
        "three", text_part(HANDOFF)
    )
    store.save(session.typed(HANDOFF))

    world.sync()

    assert said(world) == ["one", "two", "three"]
    assert b"CANARY" not in world.workspace().layout.log.read_bytes()


# --- The older tree


def test_the_older_tree_gives_the_same_turns(world: World, home: Path):
    session = ours(world).typed("one").answered("two").compacted().typed("three")
    session.save_as_tree(home)
    ours(world, "ses_child", parent="ses_1").typed("CANARY").save_as_tree(home)

    report = world.sync()

    assert said(world) == ["one", "two", "three"]
    assert not report.partial
    assert [file.kind for file in opencode.session_files(home, [str(world.project)])] == [Kind.TREE]


def test_a_tree_that_grows_adds_what_is_new_and_is_else_not_read(world: World, home: Path):
    session = ours(world).typed("one")
    session.save_as_tree(home)
    world.sync()
    message = session.answered("two").messages[-1]
    folder = home / "storage" / "message" / "ses_1"
    (folder / f"{message['id']}.json").write_text(json.dumps({"id": message["id"], **message["message"]}))
    part = home / "storage" / "part" / message["id"]
    part.mkdir()
    (part / "prt_0.json").write_text(json.dumps(text_part("two")))

    second, third = world.sync(), world.sync()

    assert said(world) == ["one", "two"]
    assert [world.agent("opencode", report).read for report in (second, third)] == [1, 0]


@pytest.mark.parametrize("content", ["", '{"id": "prt_0", "type": "text", "te'])
def test_a_bad_part_is_named_and_hides_only_itself(world: World, home: Path, content):
    """FC-A05."""
    session = ours(world).typed("one").answered("two")
    path = session.save_as_tree(home)
    bad = home / "storage" / "part" / session.messages[0]["id"] / "prt_000.json"
    bad.write_text(content)
    ours(world, "ses_2").typed("three").save_as_tree(home)

    report = world.sync()

    assert sorted(said(world)) == ["three", "two"]
    assert not report.partial
    [problem] = world.agent("opencode", report).problems
    assert problem.path == str(path)
    assert problem.problem == f"{bad.parent.name}/prt_000.json: {'not JSON' if content else 'empty'}"


def test_tree_and_database_are_one_store(world: World, home: Path, store: Store):
    """FC-L04: an update moved the sessions, and left the files where they were."""
    session = ours(world).typed("one").answered("two")
    session.save_as_tree(home)
    ours(world, "ses_old").typed("only in the tree").save_as_tree(home)
    store.save(session.typed("three"))

    report = world.sync()

    assert sorted(said(world)) == ["one", "only in the tree", "three", "two"]
    assert len({turn.event_id for turn in world.turns()}) == 4
    assert not report.partial


def test_a_session_of_kilo_is_captured_as_kilos(world: World):
    store = Store(world.home / ".local" / "share" / "kilo", "kilo.db")
    store.save(ours(world).typed("one"))

    world.sync()
    store.close()

    assert [(turn.source, turn.text) for turn in world.turns()] == [("kilo", "one")]
