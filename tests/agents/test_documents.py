"""Amp's threads and Continue's sessions: whole documents, rewritten each time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders.documents import Session, Thread
from builders.world import World
from conversation_esaa.agents import amp, continue_dev, document
from conversation_esaa.agents.jsonl import Lines
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import SessionMark, Turn

ROOT = "/home/dev/tea"


def said(items: list[Turn | SessionMark]) -> list[tuple[str, str]]:
    return [(str(item.actor), item.text) for item in items if isinstance(item, Turn)]


def turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


# The kind of storage


def records(path: Path, content: bytes) -> tuple[list[Any], list[str]]:
    path.write_bytes(content)
    lines = Lines()
    with document.opened(SessionFile(path=path)) as source:
        found = list(source.records(lines, amp, ReaderState()))  # type: ignore[arg-type]  # a module as protocol
    assert lines.offset == 0
    return found, [bad.reason for bad in lines.bad]


@pytest.mark.parametrize(
    ("content", "found", "bad"),
    [
        (b'{"a": 1}', [{"a": 1}], []),
        (b'[{"a": 1}, 2, null]', [{"a": 1}, 2, None], []),
        (b'\xef\xbb\xbf[{"a": "\x01"}]\n', [{"a": "\x01"}], []),
        (b'[{"a": "\\ud83d"}]', [{"a": "\ud83d"}], []),
        (b'[{"a": "\xff"}]', [{"a": "\ufffd"}], ["bytes that are no UTF-8, replaced by U+FFFD"]),
        (b'[{"a": 1}, {"b"', [], ["not JSON"]),
        (b'{"a": 1', [], ["not JSON"]),
        (b"", [], []),
        (b"7", [], ["not a JSON object"]),
        (b"[" * 100_000, [], ["nested too deeply"]),
    ],
)
def test_a_document_is_one_object_or_the_items_of_one_array(content, found, bad, tmp_path):
    """FC-A04, FC-A05, FC-C01, FC-C02, FC-N15: half a document is no document, and is looked at when it changed."""
    assert records(tmp_path / "document", content) == (found, bad)


# Amp


def thread(uri: str = f"file://{ROOT}") -> Thread:
    return Thread(uri=uri).typed("Name a herb.").answered("Let me look.").tool().answered("Mint.")


def read_amp(record: object, state: amp.State | None = None) -> list[Turn | SessionMark]:
    return list(amp.read([record], state or amp.open_session(SessionFile(path=Path("x"), session_id="T-1"))))


def test_a_thread_gives_its_prompts_and_answers():
    found = read_amp(thread().document)

    assert said(found) == [("user", "Name a herb."), ("assistant", "Let me look."), ("assistant", "Mint.")]
    assert "CANARY" not in repr(found)


def test_a_message_without_a_moment_has_that_of_the_one_before():
    found = turns(read_amp(thread().typed("Another?").document))

    assert [turn.said_at[11:19] for turn in found] == ["03:04:05", "03:04:05", "03:04:05", "03:04:09"]
    assert {turn.cwd for turn in found} == {ROOT}
    assert [turn.source_ref for turn in found[:2]] == [
        "T-1/0/user@1767323045000",
        "T-1/1/assistant@1767323045000",
    ]
    assert [turn.model for turn in found[:2]] == ["", "demo-model"]


def test_an_answer_that_is_being_written_is_left_for_later():
    """FC-F04."""
    assert said(read_amp(Thread().typed("Hi").answered("Mi", state="streaming").document)) == [("user", "Hi")]
    assert len(said(read_amp(Thread().typed("Hi").answered("Mi", state="cancelled").document))) == 2


def test_texts_of_one_message_are_turns_of_their_own():
    refs = [turn.source_ref for turn in turns(read_amp(Thread().answered("One.", "Two.").document))]

    assert refs == ["T-1/0/assistant", "T-1/0/assistant#2"]


def test_odd_threads_hide_nothing_and_are_counted():
    """FC-N14."""
    odd = thread()
    odd.messages[0:0] = [None, {"role": "info"}, {"role": "user", "content": [None, {"type": "tomorrow"}]}]  # type: ignore[list-item]
    state = amp.open_session(SessionFile(path=Path("x"), session_id="T-1"))

    assert said(read_amp(odd.document, state)) == said(read_amp(thread().document))
    assert read_amp({"messages": 1}, state) == []
    assert sum(state.unknown.values()) == 5


def test_threads_are_where_three_variables_may_say(tmp_path):
    """FC-G07."""
    assert amp.home({"XDG_DATA_HOME": "/data"}, tmp_path) == Path("/data/amp/threads")
    thread().save(tmp_path)
    (tmp_path / "device-id.json").write_text("{}")
    (tmp_path / "T-2.json.tmp").write_text("{}")

    assert [file.session_id for file in amp.session_files(tmp_path, [])] == ["T-1"]


def test_a_thread_that_is_rewritten_and_cut_is_captured_once(tmp_path):
    """FC-D04, FC-D06, I4: and the gate keeps other projects' threads out."""
    world = World(tmp_path)
    home = world.home / ".local" / "share" / "amp" / "threads"
    handoff = f"{begin_line(3, 'abc')}\nCANARY\n{end_line(3)}"
    mine = thread(world.project.as_uri()).typed(f"{handoff}\nAnother?").answered("Sage.")
    path = mine.save(home)
    foreign = thread("file:///elsewhere")
    foreign.thread_id = "T-2"
    foreign.save(home)
    first = world.sync()

    path.write_bytes(path.read_bytes()[:500])
    world.sync()
    mine.messages[4:] = []
    mine.typed("Dill?").answered("Dill.").save(home)
    mine.messages[4]["meta"]["sentAt"] += 60_000
    mine.save(home)
    again = world.sync()
    world.workspace().layout.sync_state.unlink()

    assert (first.captured, again.captured, world.sync().captured) == (6, 2, 0)
    assert [text for _, text in world.said()][3:] == ["Another?", "Sage.", "Dill?", "Dill."]
    assert world.agent("amp", first).refused_cwds == {"/elsewhere": 3}
    assert all(b"CANARY" not in content for content in world.bytes_of_store().values())


# Continue


def session(directory: str = f"file://{ROOT}") -> Session:
    return Session(directory=directory).typed("Name a herb.").answered("Mint.")


def read_continue(record: object, state: continue_dev.State | None = None) -> list[Turn | SessionMark]:
    state = state or continue_dev.open_session(SessionFile(path=Path("x"), session_id="s-1"))
    return list(continue_dev.read([record], state))


@pytest.mark.parametrize("directory", [f"file://{ROOT}", ROOT])
def test_a_session_gives_its_prompts_and_answers(directory):
    made = session(directory).item("system", "CANARY").item("tool", "CANARY").item("thinking", "CANARY")
    state = continue_dev.open_session(SessionFile(path=Path("x"), session_id="s-1"))

    found = read_continue(made.document, state)

    assert said(found) == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert {turn.cwd for turn in turns(found)} == {ROOT}
    assert "CANARY" not in repr(found)
    assert state.unknown == {}


def test_the_last_answer_counts_when_it_is_complete():
    """FC-F04: or when somebody answers to it; its place is the same both times."""
    growing = Session().typed("Name a herb.").answered("Mi", done=False)

    assert said(read_continue(growing.document)) == [("user", "Name a herb.")]
    assert len(said(read_continue(growing.typed("More?").document))) == 3


def test_odd_sessions_hide_nothing_and_are_counted():
    """FC-N14."""
    odd = session()
    odd.history[0:0] = [None, {}, {"message": None}, {"message": {"role": "user", "content": None}}]  # type: ignore[list-item]
    state = continue_dev.open_session(SessionFile(path=Path("x"), session_id="s-1"))

    assert said(read_continue(odd.document, state)) == said(read_continue(session().document))
    assert read_continue(None, state) == []
    assert sum(state.unknown.values()) == 4


def test_the_index_narrows_the_sessions(tmp_path):
    """A session that it does not know is taken: the document tells where it belongs."""
    for name, directory, indexed in (
        ("a", f"file://{ROOT}", True),
        ("b", "file:///x", True),
        ("c", "file:///x", False),
    ):
        Session(name, directory).typed("Hi").save(tmp_path, indexed=indexed)

    assert [(file.session_id, file.cwd) for file in continue_dev.session_files(tmp_path, [ROOT])] == [
        ("a", ROOT),
        ("c", ""),
    ]
    (tmp_path / "sessions" / "sessions.json").write_text('[{"sessionId"')
    assert len(list(continue_dev.session_files(tmp_path, [ROOT]))) == 3


def test_a_session_that_is_rewritten_is_captured_once(tmp_path):
    """FC-D04, FC-D06. A turn without a moment says so."""
    world = World(tmp_path)
    home = world.home / ".continue"
    handoff = f"{begin_line(3, 'abc')}\nCANARY\n{end_line(3)}"
    made = session(world.project.as_uri())
    path = made.save(home)
    assert world.sync().captured == 3

    path.write_text(json.dumps(made.document)[:-30])
    world.sync()
    made.typed(f"{handoff}\nAnother?").answered("Sage.").save(home)
    again = world.sync()
    world.workspace().layout.sync_state.unlink()

    assert (again.captured, world.sync().captured) == (2, 0)
    assert [text for _, text in world.said()] == ["Name a herb.", "Mint.", "Another?", "Sage."]
    assert all("time_of_capture" in turn.flags for turn in world.turns())
    assert all(b"CANARY" not in content for content in world.bytes_of_store().values())
