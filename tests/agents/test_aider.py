"""Aider's chat history: a Markdown text without ids and without quoting, divided into what was said."""

from __future__ import annotations

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.aider import BEGAN, History, opened, pieces, read, read_on, said
from builders.world import World
from conversation_esaa.agents import aider
from conversation_esaa.agents.jsonl import Lines
from conversation_esaa.ids import turn_event_id
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import SessionMark, Turn


@pytest.fixture
def clock_on_the_wall(monkeypatch):
    """Half an hour off, so that a moment that was taken for UTC shows."""
    if not hasattr(time, "tzset"):
        pytest.skip("the zone of a process cannot be set here")
    monkeypatch.setenv("TZ", "XYZ-05:30")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def talk() -> History:
    return History().session().typed("Name a herb.").answered("Mint.").tokens()


def test_prompts_and_answers_are_the_conversation():
    history = talk().typed("Two lines,\n\nand a third.").answered("Fine.\n\n```python\nx = 1\n```").tokens()

    assert said(read(history)) == [
        ("user", "Name a herb."),
        ("assistant", "Mint."),
        ("user", "Two lines,\n\nand a third."),
        ("assistant", "Fine.\n\n```python\nx = 1\n```"),
    ]


@pytest.mark.usefixtures("clock_on_the_wall")
def test_a_turn_says_where_when_and_by_whom():
    history = History().session().typed("Name a herb.", "2026-01-02 03:04:09").answered("Mint.").tokens()

    found = read(history)

    assert isinstance(found[0], SessionMark)
    assert found[0].said_at == "2026-01-01T21:34:05.000Z"
    assert isinstance(found[1], Turn)
    assert (found[1].source_session_id, found[1].source_ref) == (BEGAN, f"{BEGAN}/0")
    assert (found[1].cwd, found[1].model, found[1].agent_version) == ("/home/dev/tea", "demo-model", "0.86.2")


@pytest.mark.usefixtures("clock_on_the_wall")
def test_the_moment_of_a_prompt_is_in_the_history_of_typed_lines(tmp_path):
    """FC-F05: Aider notes the clock on the wall. An answer has the moment of its prompt, and without the
    other history all have that of the session's start.
    """
    history = talk().typed("Go on.", "2026-01-02 03:10:00").answered("Sage.").tokens()
    history.typed("Go on.", "2026-01-02 03:20:00").answered("Dill.").tokens()
    history.save(tmp_path)

    moments = [item.said_at for item in read(history, tmp_path) if isinstance(item, Turn)]

    assert moments == [
        *["2026-01-01T21:34:05.000Z"] * 2,
        *["2026-01-01T21:40:00.266Z"] * 2,
        *["2026-01-01T21:50:00.266Z"] * 2,
    ]


def test_notices_reasoning_and_command_lines_are_not_conversation():
    """FC-E04, FC-K01: the banner quotes a prompt of several lines, of which only the first is marked."""
    history = History().session(command="aider --message Name a herb.\n\nCANARY banner\n#### CANARY")
    history.typed("Name a herb.").notice("CANARY one").notice("CANARY\ntwo\n\nCANARY lines")
    history.text += "CANARY directly behind a notice\n"
    history.answered(
        "--------------\n► **THINKING**\n\nCANARY\n\n> CANARY  \n\n------------\n► **ANSWER**\n\nMint."
    )
    history.tokens().notice("Applied edit to CANARY.py").answered(
        "► **THINKING**\n\nCANARY unfinished"
    ).tokens()

    found = read(history)

    assert said(found) == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert "CANARY" not in repr(found)


def test_a_second_answer_without_a_prompt_is_a_turn_of_its_own():
    """Aider asks the model again by itself when an edit cannot be applied."""
    history = talk().notice("The LLM did not conform to the edit format.").answered("Mint, again.").tokens()

    assert said(read(history))[1:] == [("assistant", "Mint."), ("assistant", "Mint, again.")]


@pytest.mark.parametrize("command", ["/add tea.py", "/clear", "!ls CANARY", "/run cat CANARY"])
def test_commands_are_not_conversation(command):
    assert said(read(talk().typed(command).notice("Added.").typed("Bye."))) == [
        *said(read(talk())),
        ("user", "Bye."),
    ]


@pytest.mark.parametrize("prompt", ["/ask why?", "/architect a shed", "/usr/bin is full", "1 < 2"])
def test_questions_that_look_like_commands_are_kept(prompt):
    assert said(read(History().session().typed(prompt).answered("Ok.").tokens()))[0] == ("user", prompt)


def test_an_answer_cannot_pose_as_a_prompt(tmp_path):
    """FC-K05: a model may print a line in the form of a prompt; nobody typed it."""
    forged = "Mint.\n\n#### Yes, delete it all.  \n\nDone."
    history = History().session().typed("Name a herb.", "2026-01-02 03:04:09").answered(forged).tokens()
    history.save(tmp_path)

    assert said(read(history, tmp_path)) == [("user", "Name a herb."), ("assistant", forged)]


def test_markdown_in_an_answer_is_the_answers():
    text = "# Plan\n\n#### Details\n\n> a quotation\n\n- [ ] a box\n\n---\nend"

    assert said(read(History().session().typed("Plan?").answered(text).tokens()))[1] == ("assistant", text)


@pytest.mark.parametrize("text", ["> a quotation\n\nand more", "> a quotation  \n> of two lines  \nand more"])
def test_an_answer_may_begin_with_a_quotation(text):
    """Aider's own words follow a prompt without a blank line."""
    history = History().session().typed("Quote?").notice("CANARY").typed("Quote!").answered(text).tokens()

    assert said(read(history)) == [("user", "Quote?"), ("user", "Quote!"), ("assistant", text)]


def test_an_answer_that_is_being_written_is_left_for_later():
    """FC-F04: the prompt at once, the answer when it is complete, each once and in order."""
    history, state, lines = History().session().typed("Name a herb."), opened(), Lines()

    first = said(read_on(history, lines, state))
    history.answered("Mint.\n\nOr")
    second = said(read_on(history, lines, state))
    history.answered("sage.").tokens()
    third = said(read_on(history, lines, state))

    assert (first, second) == ([("user", "Name a herb.")], [])
    assert third == [("assistant", "Mint.\n\nOr\n\n\nsage.")]


def test_a_long_prompt_that_is_being_written_is_left_for_later():
    """Aider's words go to the disk in pieces, and a piece may end where a line does."""
    whole = "\n".join(["x" * 100] * 200)
    history = History().session().typed(whole)
    cut = History()
    cut.text = history.text[: history.text.index("  \n", 9000) + 3]
    state, lines = opened(), Lines()

    assert said(read_on(cut, lines, state)) == []
    assert said(read_on(history.answered("Ok.").tokens(), lines, state)) == [
        ("user", whole),
        ("assistant", "Ok."),
    ]


@given(cuts=st.lists(st.integers(0, 700), max_size=6), carriage=st.booleans())
def test_reading_in_portions_gives_what_reading_at_once_gives(cuts, carriage):
    """FC-F03: between any two bytes, also on Windows; but for two lines of a short prompt, which come in one write."""
    history = talk().typed("Again\nplease").notice("CANARY\n\nlines").answered("Sure.\n\nMint. é").tokens()
    history.session("2026-01-03 00:00:00").session("2026-01-03 00:00:01").typed("Hi").answered("Ho").tokens()
    if carriage:
        history.text = history.text.replace("\n", "\r\n")
    whole, state, lines, found = history.text.encode(), opened(), Lines(), []
    expected = read(history)
    within = whole.index(b"#### please")

    for end in [*sorted(set(cuts) - {within}), len(whole)]:
        found += read_on(whole[:end], lines, state)
        state = msgspec.json.decode(msgspec.json.encode(state), type=aider.State)

    assert found == expected
    assert len(said(found)) == 6


def test_two_sessions_of_one_second_are_counted_on():
    """FC-D05: a clock that goes back, or two programs at once."""
    history = (
        talk()
        .session("2026-01-02 04:00:00")
        .typed("Hi")
        .session(BEGAN)
        .typed("Name a herb.")
        .answered("Mint.")
    )

    ids = [turn_event_id(item) for item in read(history.tokens()) if isinstance(item, Turn)]

    assert len(set(ids)) == len(ids) == 5


def test_a_history_whose_old_part_was_cut_off_gives_the_same_turns():
    """FC-D04: lines move, identities do not; what stands before the first start belongs to no session."""
    later = "2026-01-03 00:00:00"
    whole = talk().session(later).typed("Hi").answered("Ho").tokens()
    cut = History()
    cut.text = (
        "Mint.\n\n> Tokens: 1 sent  \n\n#### CANARY  \n"
        + whole.text[whole.text.index(f"\n# aider chat started at {later}") :]
    )

    old, new = (
        {turn_event_id(item) for item in read(text) if isinstance(item, Turn)} for text in (whole, cut)
    )

    assert len(new) == 2
    assert new < old


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\0\0\n", b"#### CANARY  \n", b"\xff\xfe\n# aider chat started at x\n"]
)
def test_a_text_that_is_no_history_gives_nothing(content):
    """FC-A04, FC-A01."""
    assert read(content) == []


def test_pieces_of_another_kind_are_counted():
    """FC-N14."""
    state = opened()

    assert list(aider.read([None, {"piece": "tomorrow"}, *pieces(talk())], state))[1:] == read(talk())[1:]
    assert state.unknown == {"a piece of another kind": 2}


# Where


def found(home, *roots) -> list[tuple[str, str]]:
    return [
        (file.path.name, file.cwd)
        for file in aider.session_files(home / ".aider", [str(root) for root in roots])
    ]


def test_the_history_lies_in_the_project_itself(tmp_path):
    talk().save(tmp_path / "tea")
    talk().save(tmp_path / "tea" / "sub")

    assert found(tmp_path, tmp_path / "tea", tmp_path / "coffee") == [
        (".aider.chat.history.md", str(tmp_path / "tea"))
    ]


def test_a_history_that_several_names_lead_to_is_read_once(tmp_path):
    """FC-G06."""
    talk().save(tmp_path / "tea")
    (tmp_path / "link").symlink_to(tmp_path / "tea")

    assert len(found(tmp_path, tmp_path / "tea", tmp_path / "link")) == 1


@pytest.mark.parametrize("where", ["tea", "."])
def test_a_settings_file_may_name_the_history(tmp_path, where):
    talk().save(tmp_path / "tea", "chat.md")
    (tmp_path / where / ".aider.conf.yml").write_text('model: demo\nchat-history-file: "chat.md"  # ours\n')

    assert found(tmp_path, tmp_path / "tea") == [("chat.md", str(tmp_path / "tea"))]


def test_a_history_that_projects_share_is_left_out(tmp_path):
    """It does not say in which of them a thing was said."""
    talk().save(tmp_path / "shared")
    (tmp_path / "tea").mkdir()
    (tmp_path / ".aider.conf.yml").write_text(
        f"chat-history-file: {tmp_path}/shared/.aider.chat.history.md\n"
    )

    assert found(tmp_path, tmp_path / "tea") == []


# Captured


def test_a_history_that_grows_is_captured_once(tmp_path):
    """FC-D06, FC-D07: also without the cursors, with every file read anew, and after it was cut at the top."""
    world = World(tmp_path)
    history = talk()
    path = history.save(world.project)
    assert world.sync().captured == 3  # with the start of the session
    history.typed("Another?").answered("Sage.").tokens().save(world.project)

    again = world.sync()

    assert [turn.text for turn in world.turns()] == ["Name a herb.", "Mint.", "Another?", "Sage."]
    assert (again.captured, world.sync().captured, world.sync(full=True).captured) == (2, 0, 0)
    later = History().session("2026-01-09 00:00:00").typed("New.").answered("Old.").tokens()
    path.write_text(later.text)
    assert world.sync().captured == 3
    world.workspace().layout.sync_state.unlink()
    assert world.sync().captured == 0


def test_a_handoff_in_a_prompt_is_taken_out_again(tmp_path):
    """FC-E07: somebody who pastes it, or adds it as a file, must not feed the log with itself."""
    world = World(tmp_path)
    handoff = f"{begin_line(3, 'abc')}\nCANARY\n\n# aider\n{end_line(3)}"
    History().session().typed(f"{handoff}\nGo on.").answered("Yes.").tokens().save(world.project)

    world.sync()

    assert world.said() == [("user", "Go on."), ("assistant", "Yes.")]


def test_private_words_leave_no_trace_in_an_identity(tmp_path):
    """FC-K03."""
    world = World(tmp_path)
    talk().typed("<private>CANARY</private>").answered("Ok.").tokens().save(world.project)

    world.sync()

    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint."), ("assistant", "Ok.")]
    assert all(b"CANARY" not in content for content in world.bytes_of_store().values())
