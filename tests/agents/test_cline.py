"""Cline's sessions: whole documents, in which what a person typed stands in an envelope."""

from __future__ import annotations

import json

import pytest

from builders.cline import TEA, Session, index, opened, read, said
from builders.world import World
from conversation_esaa.agents import cline
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import SessionMark, Turn

ROOT = "/home/dev/tea"


def talk(session_id: str = TEA, cwd: str = ROOT) -> Session:
    return Session(session_id, cwd).typed("Name a herb.").answered("Let me look.").tool().answered("Mint.")


def test_prompts_and_answers_are_the_conversation():
    """FC-E04: reasoning, tool calls and their results, the system prompt are not."""
    state = opened()

    found = read(talk().document, state)

    assert said(found) == [("user", "Name a herb."), ("assistant", "Let me look."), ("assistant", "Mint.")]
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


def test_a_turn_says_where_when_and_by_whom(tmp_path):
    path = talk().save(tmp_path)

    found = read(talk().document, cline.open_session(SessionFile(path=path, session_id=TEA)))

    assert isinstance(found[0], SessionMark)
    assert found[0].said_at == "2026-01-02T03:04:04.000Z"
    assert found[2] == Turn(
        source=cline.NAME,
        source_session_id=TEA,
        source_index=1,
        actor="assistant",  # type: ignore[arg-type]  # equal to Actor.ASSISTANT
        text="Let me look.",
        source_ref=f"{TEA}/msg_1",
        message_ref="msg_1",
        said_at="2026-01-02T03:04:06.000Z",
        cwd=ROOT,
        git_branch="main",
        model="demo-model",
        agent_version="3.0.65",
    )


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ("Is 1 < 2?", "{}"),
        ("What does </user_input> mean?", "{}"),
        ('<user_input mode="act">quoted</user_input>', "{}"),
        ("Hi", "<mode_notice>CANARY</mode_notice>\n{}\n<file_content path='x'>CANARY</file_content>"),
    ],
)
def test_of_a_users_text_only_the_envelope_is_somebodys(text, around):
    """FC-E02: it is not escaped, so it goes from the first opening to the last closing."""
    assert said(read(Session().typed(text, around).document)) == [("user", text)]


def test_text_outside_of_an_envelope_is_counted_and_not_read():
    """What a hook adds, or a program, is nobody's prompt."""
    state = opened()

    assert read(Session().message("user", {"type": "text", "text": "CANARY"}).document, state) == []
    assert state.unknown == {"text of the user without a user_input": 1}


def test_blocks_of_one_message_are_turns_of_their_own():
    refs = [
        item.source_ref
        for item in read(Session().answered("One.", "Two.").typed("x").document)
        if isinstance(item, Turn)
    ]

    assert refs == [f"{TEA}/msg_0", f"{TEA}/msg_0#2", f"{TEA}/msg_1"]


def test_the_last_answer_of_a_running_session_counts_when_it_is_measured():
    """FC-F04: a message may be rewritten while it grows; its measures come last."""
    growing = Session().typed("Name a herb.").answered("Mi", metrics=None)

    assert said(read(growing.document)) == [("user", "Name a herb.")]
    assert len(said(read(growing.typed("More?").document))) == 3
    ended = opened()
    ended.ended = True
    assert len(said(read(Session().answered("Mi", metrics=None).document, ended))) == 1


def test_a_sub_agents_session_gives_nothing(tmp_path):
    """FC-E03."""
    session = talk()
    session.described["parent_session_id"] = "1"
    path = session.save(tmp_path)

    assert read(session.document, cline.open_session(SessionFile(path=path, session_id=TEA))) == []
    assert read({**talk().document, "agent": "teammate"}) == []


def test_odd_documents_hide_nothing_and_are_counted():
    """FC-N14."""
    session = talk()
    session.messages[0:0] = [
        None,
        {"role": "user"},
        {"role": "user", "content": [None, {"type": "tomorrow"}]},
    ]
    state = opened()

    assert len(said(read(session.document, state))) == 3
    assert read({"messages": None}, state) == read(None, state) == []
    assert sum(state.unknown.values()) == 6


# Where


def found(home, *roots: str) -> list[tuple[str, str]]:
    return [(file.session_id, file.cwd) for file in cline.session_files(home, roots or (ROOT,))]


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "data" / "sessions"
    for number, cwd in enumerate((ROOT, f"{ROOT}/sub", "/home/dev/tea-2", "")):
        talk(str(number), cwd).save(home)
    return home


def test_sessions_are_narrowed_by_their_descriptions(home):
    assert found(home) == [("0", ROOT), ("1", f"{ROOT}/sub"), ("3", "")]


def test_the_index_is_asked_before_the_descriptions(home):
    """FC-N11: thousands of sessions cost one query."""
    path = index(home, ("0", ROOT, 0), ("1", ROOT, 1), ("2", "/elsewhere", 0), ("gone", ROOT, 0))
    for described in home.glob("[012]/?.json"):
        described.write_text("CANARY")

    assert found(home) == [("0", ROOT), ("3", "")]
    assert {file.name for file in path.parent.iterdir()} == {"sessions.db"}


@pytest.mark.parametrize("content", [b"", b"no database" * 100])
def test_a_broken_index_only_costs_time(home, content):
    index(home).write_bytes(content)

    assert [name for name, _ in found(home)] == ["0", "1", "3"]


def test_variables_move_the_store_at_three_levels(tmp_path):
    """FC-G07."""
    at = {"CLINE_DIR": "/a", "CLINE_DATA_DIR": "/b", "CLINE_SESSION_DATA_DIR": "/c"}
    paths = []
    while at:
        paths.append(cline.home(at, tmp_path).as_posix())
        at.popitem()

    assert paths == ["/c", "/b/sessions", "/a/data/sessions"]


# Captured


def test_a_session_that_is_rewritten_is_captured_once(tmp_path):
    """FC-D04, FC-D06, FC-D07: half-written, grown, edited, without cursors."""
    world = World(tmp_path)
    home = world.home / ".cline" / "data" / "sessions"
    session = talk(cwd=str(world.project))
    path = session.save(home)
    assert world.sync().captured == 4

    path.write_bytes(path.read_bytes()[:300])
    torn = world.sync()
    session.typed("Another?").answered("Sage.").save(home)
    again = world.sync()
    world.workspace().layout.sync_state.unlink()

    assert (torn.captured, again.captured, world.sync().captured, world.sync(full=True).captured) == (
        0,
        2,
        0,
        0,
    )
    assert [text for _, text in world.said()] == [
        "Name a herb.",
        "Let me look.",
        "Mint.",
        "Another?",
        "Sage.",
    ]
    assert all(b"CANARY" not in content for content in world.bytes_of_store().values())


def test_the_end_of_a_session_brings_its_last_answer(tmp_path):
    """The description says so, and the messages need not change for it."""
    world = World(tmp_path)
    home = world.home / ".cline" / "data" / "sessions"
    session = Session(cwd=str(world.project)).typed("Name a herb.").answered("Mint", metrics=None)
    session.described = {"ended_at": None}
    session.save(home)
    assert world.sync().captured == 2

    path = home / TEA / f"{TEA}.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "ended_at": "2026-01-02T04:00:00Z"}))

    assert world.sync().captured == 1


def test_a_handoff_in_a_prompt_is_taken_out_again(tmp_path):
    """FC-E07."""
    world = World(tmp_path)
    handoff = f"{begin_line(3, 'abc')}\nCANARY\n{end_line(3)}"
    session = Session(cwd=str(world.project)).typed(f"{handoff}\n\nGo on.").typed(handoff).answered("Yes.")
    session.save(world.home / ".cline" / "data" / "sessions")

    world.sync()

    assert world.said() == [("user", "Go on."), ("assistant", "Yes.")]
