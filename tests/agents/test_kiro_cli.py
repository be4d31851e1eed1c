"""Kiro CLI: what is read of its session files, as far as other readers describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders.kiro_cli import TEA, Session, opened, texts
from conversation_esaa.agents import kiro_cli
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from builders.world import World

ROOT = "/home/dev/tea"
OTHER = "ffffffff-0000-4000-8000-000000000002"


def test_prompts_and_answers_are_read_as_they_were_said(tmp_path):
    """A text of an answer is a turn; an answer has the moment of its prompt."""
    session = (
        Session()
        .typed("Name a herb.")
        .tool()
        .answered("Let me look.", "Mint.")
        .line("Clear")
        .typed("Another?")
    )
    session.save(tmp_path)
    (file,) = kiro_cli.session_files(tmp_path, [ROOT])

    mark, *turns = items = list(kiro_cli.read(session.records, kiro_cli.open_session(file)))

    assert isinstance(mark, SessionMark)
    assert mark.kind is MarkKind.STARTED
    assert [(str(turn.actor), turn.text, turn.said_at[17:]) for turn in turns if isinstance(turn, Turn)] == [
        ("user", "Name a herb.", "00.250Z"),
        ("assistant", "Let me look.", "00.250Z"),
        ("assistant", "Mint.", "00.250Z"),
        ("user", "Another?", "05.250Z"),
    ]
    assert "CANARY" not in repr(items)
    assert {turn.cwd for turn in turns} == {ROOT}
    assert {turn.model for turn in turns} == {"", "demo-model"}
    assert len({turn.source_ref for turn in turns}) == 4


def test_a_line_of_a_new_kind_is_counted_and_not_read():
    session = Session().typed("Name a herb.").line("Invented", ("text", "CANARY"))
    state = opened()

    assert texts(kiro_cli.read(session.records, state)) == ["Name a herb."]
    assert state.unknown == {"Invented": 1}


def test_sessions_are_found_by_their_side_files(tmp_path):
    Session().typed("x").save(tmp_path)
    Session(OTHER, folder=f"{ROOT}2").typed("x").save(tmp_path)
    Session("child").typed("CANARY").save(tmp_path, parent_session_id=TEA)
    Session("lost").typed("x").save(tmp_path).with_suffix(".json").unlink()

    assert [file.session_id for file in kiro_cli.session_files(tmp_path, [ROOT])] == [TEA]
    assert kiro_cli.unlisted(tmp_path) == {"sessions of unknown directory": 1}


@pytest.mark.parametrize("side_file", ["", "[]", '{"cwd": 1}', "\x00"])
def test_a_damaged_side_file_stops_nothing(tmp_path, side_file):
    Session().typed("x").save(tmp_path)
    Session(OTHER).typed("x").save(tmp_path).with_suffix(".json").write_text(side_file)

    assert [file.session_id for file in kiro_cli.session_files(tmp_path, [ROOT])] == [TEA]


def test_a_session_is_captured_once_and_our_own_handoff_is_cut_out(world: World):
    """FC-E07."""
    injected = f"{begin_line(3, 'a' * 64)}\nCANARY of the handoff\n{end_line(3)}"
    session = Session(folder=str(world.project)).typed(f"{injected}\n\nName a herb.")
    home = kiro_cli.home({}, world.home)
    session.save(home)
    world.sync()
    session.answered("Mint.").save(home)

    world.sync()

    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert world.sync(full=True).captured == 0
