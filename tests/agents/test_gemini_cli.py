"""Gemini CLI: which lines of a journal are the conversation, and whose it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from builders.gemini_cli import TEA, Session, hashed, opened, read, texts
from builders.world import World
from conversation_esaa.agents import gemini_cli
from conversation_esaa.agents.storage import Kind
from conversation_esaa.ids import turn_event_id
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import Actor, MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

ROOT = "/home/dev/tea"
HANDOFF = f"{begin_line(3, 'ab' * 32)}\nCANARY <decisions> & tasks\n{end_line(3)}"


def talk() -> Session:
    return Session().typed("Name a herb.").tool_call("Let me look.").answered("Mint.")


def turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def marks(items: list[Turn | SessionMark]) -> list[SessionMark]:
    return [item for item in items if isinstance(item, SessionMark)]


def test_prompts_and_answers_are_the_conversation():
    """FC-E01, FC-E04: no tool's answer, no reasoning, no opening context; a step with a tool keeps its words."""
    state = opened()
    found = turns(read(talk().records, state))

    assert texts(found) == ["Name a herb.", "Let me look.", "Mint."]
    assert [turn.actor for turn in found] == [Actor.USER, Actor.ASSISTANT, Actor.ASSISTANT]
    assert state.unknown == {}


def test_a_turn_says_who_where_when_and_with_what():
    found = turns(read(talk().records))

    assert found[2] == Turn(
        source=gemini_cli.NAME,
        source_session_id=TEA,
        source_index=2,
        actor=Actor.ASSISTANT,
        text="Mint.",
        source_ref=f"{TEA}/m-4",
        said_at="2026-01-02T03:00:05.500Z",
        cwd=ROOT,
        model="demo",
    )


def test_the_session_starts_when_its_header_says():
    [mark] = marks(read(talk().records))

    assert (mark.kind, mark.said_at, mark.cwd) == (MarkKind.STARTED, "2026-01-02T03:00:01.500Z", ROOT)


def test_a_message_that_is_stated_again_is_one_turn():
    """Calls and token counts arrive later, in a second line of the same id."""
    session = Session().typed("Name a herb.")
    session.records += [session.records[-2]] * 2

    assert texts(read(session.records)) == ["Name a herb."]


def test_an_answer_whose_text_arrives_later_is_read_then():
    session = Session().typed("Name a herb.").answered("")
    session.records.append({**session.history[-1], "content": "Mint."})

    assert texts(read(session.records)) == ["Name a herb.", "Mint."]


def test_a_resume_repeats_nothing_and_keeps_the_first_moment():
    """The checkpoint has every message once more, at the time of the resume, with reasoning among its parts."""
    found = turns(read(talk().resumed().typed("Another?").answered("Sage.").records))

    assert texts(found) == ["Name a herb.", "Let me look.", "Mint.", "Another?", "Sage."]
    assert found[0].said_at == "2026-01-02T03:00:02.500Z"


def test_a_long_session_that_is_resumed_repeats_nothing():
    """More messages than are remembered: the newest ones tell where the checkpoint goes on."""
    session = Session()
    for number in range(150):
        session.typed(f"Question {number}?").answered(f"Answer {number}.")

    found = turns(read(session.resumed().typed("Another?").records))

    assert len(found) == 301


def test_a_checkpoint_with_news_adds_only_those():
    session = talk()
    message = {"id": "m-new", "timestamp": session.now(), "type": "user", "content": [{"text": "Another?"}]}
    session.set(messages=[*session.history, message])

    assert texts(read(session.records)) == ["Name a herb.", "Let me look.", "Mint.", "Another?"]


def test_a_journal_that_begins_with_a_whole_history_has_it():
    """As one does that took over a document of an older version."""
    session = talk()
    journal = [session.records[0], {"$set": {"messages": session.history}}]

    assert texts(read(journal)) == ["Name a herb.", "Let me look.", "Mint."]


def test_a_compression_is_a_mark_and_its_summary_no_turn():
    found = read(talk().compressed().typed("Another?").records)

    assert texts(found) == ["Name a herb.", "Let me look.", "Mint.", "Another?"]
    assert [mark.kind for mark in marks(found)] == [MarkKind.STARTED, MarkKind.COMPACTED]


def test_what_was_said_before_a_step_back_was_said():
    session = talk()
    session.records.append({"$rewindTo": "m-1"})
    session.typed("Name a spice.")

    assert texts(read(session.records)) == ["Name a herb.", "Let me look.", "Mint.", "Name a spice."]


def test_a_sub_agents_session_gives_nothing():
    session = Session()
    session.records[0]["kind"] = "subagent"

    assert read(session.typed("CANARY").answered("CANARY").records) == []


def test_notes_of_the_program_are_not_conversation():
    session = talk().message("info", "CANARY").message("warning", "CANARY").message("error", "CANARY")
    session.typed("System: Please continue.")

    assert texts(read(session.records)) == ["Name a herb.", "Let me look.", "Mint."]


def test_what_a_file_reference_brought_in_is_not_what_was_typed():
    """With `displayContent` the agent says so itself; older versions only mark where it begins."""
    parts = [
        {"text": "Explain @a.txt"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "CANARY"},
    ]
    shown = Session().message("user", parts, displayContent=[{"text": "Explain @a.txt"}])
    older = Session().message("user", parts)

    assert texts(read(shown.records)) == texts(read(older.records)) == ["Explain @a.txt"]


@pytest.mark.parametrize("context", ["<memory>CANARY</memory>", HANDOFF])
def test_context_that_hooks_put_into_a_prompt_is_not_what_was_typed(context):
    """FC-E07: it comes escaped, before the prompt and as a part of its own."""
    session = Session().injected("Name a herb.", context).injected("", context)

    assert texts(read(session.records)) == ["Name a herb."]


def test_a_prompt_about_hook_context_is_kept():
    """FC-E02: quoted further on, or never closed, it is somebody's words."""
    quoting = ["What is <hook_context>x</hook_context>?", "<hook_context> is a tag, is it?"]
    session = Session().typed(quoting[0]).typed(quoting[1])

    assert texts(read(session.records)) == quoting


def test_our_handoff_never_becomes_a_turn_however_it_comes_back(tmp_path: Path):
    """FC-E07: in hook context, escaped in a plain prompt, or alone: nothing of it is in the log."""
    world = World(tmp_path)
    session = Session(cwd=str(world.project)).injected("one", HANDOFF)
    session.typed(f"two\n\n{HANDOFF.replace('<', '&lt;').replace('&', '&amp;')}").typed(HANDOFF)
    session.save(world.home / ".gemini")

    world.sync()

    assert world.said() == [("user", "one"), ("user", "two")]
    assert b"CANARY" not in world.workspace().layout.log.read_bytes()


# --- Which files, and whose


def found(home: Path, *roots: str) -> list[tuple[str, str, Kind]]:
    files = gemini_cli.session_files(home, roots)
    return [(file.path.name, file.cwd, file.kind) for file in files]


def test_the_folder_says_whose_sessions_it_holds(tmp_path: Path):
    """The name is a slug that other directories share; the file `.project_root` in it is the path."""
    Session(cwd=ROOT).save(tmp_path, "tea", "session-a")
    Session(cwd="/home/dev/other/tea").save(tmp_path, "tea-1", "session-b")

    assert found(tmp_path, ROOT) == [("session-a.jsonl", ROOT, Kind.JSONL)]
    assert found(tmp_path, "/home/dev") == [
        ("session-a.jsonl", ROOT, Kind.JSONL),
        ("session-b.jsonl", "/home/dev/other/tea", Kind.JSONL),
    ]


def test_a_folder_without_that_file_is_in_the_list_of_projects(tmp_path: Path):
    Session(cwd=ROOT).save(tmp_path, "tea", "session-a")
    (tmp_path / "tmp" / "tea" / ".project_root").unlink()

    assert found(tmp_path, ROOT) == []
    assert gemini_cli.unlisted(tmp_path) == {"sessions of unknown workspace": 1}

    (tmp_path / "projects.json").write_text(json.dumps({"projects": {ROOT: "tea"}}))
    assert found(tmp_path, ROOT) == [("session-a.jsonl", ROOT, Kind.JSONL)]
    assert gemini_cli.unlisted(tmp_path) == {}


def test_an_older_folder_is_known_by_its_hash(tmp_path: Path):
    Session(cwd=ROOT).save_as_document(tmp_path, hashed(ROOT), "session-a")

    assert found(tmp_path, ROOT) == [("session-a.json", ROOT, Kind.DOCUMENT)]
    assert found(tmp_path, "/home/dev/coffee") == []


def test_sessions_of_sub_agents_and_strange_files_are_left_out_and_the_latter_counted(tmp_path: Path):
    """FC-D09."""
    Session(cwd=ROOT).save(tmp_path, "tea", "session-a")
    chats = tmp_path / "tmp" / "tea" / "chats"
    (chats / TEA).mkdir()
    (chats / TEA / "session-x.jsonl").write_text("{}\n")
    for name in ("session-b.jsonl.unreadable-1", "session-c.sqlite", "notes.txt"):
        (chats / name).write_text("CANARY")

    assert [name for name, _, _ in found(tmp_path, ROOT)] == ["session-a.jsonl"]
    assert gemini_cli.unlisted(tmp_path) == {"session files that are neither .jsonl nor .json": 2}


def test_links_and_loops_lead_to_each_session_once(tmp_path: Path):
    """FC-G06."""
    path = Session(cwd=ROOT).save(tmp_path, "tea", "session-a")
    (path.parent / "session-link.jsonl").symlink_to(path)
    (path.parent / "session-loop.jsonl").symlink_to("session-loop.jsonl")
    (tmp_path / "tmp" / "linked").symlink_to(tmp_path / "tmp" / "tea")

    assert len(found(tmp_path, ROOT)) == 1


# --- Through capture


def test_a_document_and_a_journal_side_by_side_are_both_read(tmp_path: Path):
    """FC-D09; and FC-D01: a journal that took over its document's history adds what is new."""
    world = World(tmp_path)
    home, cwd = world.home / ".gemini", str(world.project)
    Session("s-a", cwd).typed("one").answered("two").save_as_document(home, name="session-a")
    taken_over = Session("s-b", cwd).typed("three")
    taken_over.save_as_document(home, name="session-b")
    taken_over.resumed().typed("four").save(home, name="session-b")

    report = world.sync()

    assert sorted(text for _, text in world.said()) == ["four", "one", "three", "two"]
    assert not report.partial
    assert len({turn.event_id for turn in world.turns()}) == 4


def test_a_document_that_is_written_anew_adds_what_is_new(tmp_path: Path):
    """FC-D04, FC-F04; and a run without a change does not open it."""
    world = World(tmp_path)
    home, session = world.home / ".gemini", Session(cwd=str(world.project)).typed("one")
    session.save_as_document(home)
    first = world.sync()
    session.answered("two").save_as_document(home)

    second, third = world.sync(), world.sync()

    assert (first.captured, second.captured) == (2, 1)
    assert [world.agent("gemini-cli", report).read for report in (first, second, third)] == [1, 1, 0]
    assert [text for _, text in world.said()] == ["one", "two"]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"sessionId": "x", "messages": [{"id"', b"\0" * 100, b"\xff\xfe"]
)
def test_a_document_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path, content):
    """FC-A02, FC-A04, FC-A05: named, hides no other session, and is not read again before it changes."""
    world = World(tmp_path)
    home, cwd = world.home / ".gemini", str(world.project)
    path = Session("s-a", cwd).typed("one").save_as_document(home, name="session-a")
    Session("s-b", cwd).typed("two").save_as_document(home, name="session-b")
    whole = path.read_bytes()
    path.write_bytes(content)

    torn, again = world.sync(), world.sync()
    path.write_bytes(whole)
    world.sync()

    problems = world.agent("gemini-cli", torn).problems
    assert [problem.path for problem in problems] == ([] if content in (b"", b"[]") else [str(path)])
    assert not torn.partial
    assert world.agent("gemini-cli", again).read == 0
    assert [text for _, text in world.said()] == ["two", "one"]


def test_a_session_that_the_agent_deletes_is_no_news(tmp_path: Path):
    """FC-L02: sessions without a turn, and those older than a month, are removed by the agent."""
    world = World(tmp_path)
    path = Session(cwd=str(world.project)).typed("one").save(world.home / ".gemini")
    world.sync()
    path.unlink()

    report = world.sync()

    assert not report.partial
    assert [text for _, text in world.said()] == ["one"]


def test_half_a_character_does_not_stop_a_session(tmp_path: Path):
    """FC-C01."""
    world = World(tmp_path)
    Session(cwd=str(world.project)).typed("done \ud83d").typed("two").save(world.home / ".gemini")

    world.sync()

    assert [text for _, text in world.said()] == ["done \ufffd", "two"]


def test_equal_message_ids_of_two_sessions_are_two_turns():
    """Ids are only said to be unique within a session."""
    [first], [second] = (turns(read(Session(name).typed("Name a herb.").records)) for name in ("s-a", "s-b"))

    assert turn_event_id(first) != turn_event_id(second)


@pytest.mark.parametrize(
    ("settings", "days", "by_default"),
    [
        ("", 30, True),
        ("{}", 30, True),
        ('{"general": 3}', 30, True),
        ('{"general": {"sessionRetention": {"maxAge": "7d"}}}', 7, False),
        ('{"general": {"sessionRetention": {"maxAge": "36h"}}}', 1, False),
        ('{"general": {"sessionRetention": {"maxAge": "2w"}}}', 14, False),
        ('{"general": {"sessionRetention": {"maxAge": "soon"}}}', 30, True),
        ('{"general": {"sessionRetention": {"enabled": false}}}', None, None),
    ],
)
def test_fc_l01_how_long_it_keeps_sessions(tmp_path: Path, settings, days, by_default):
    (tmp_path / "settings.json").write_text(settings)

    found = gemini_cli.retention(tmp_path)

    assert (found and (found.days, found.by_default)) == (None if days is None else (days, by_default))
