"""Warp: what is read of its database, as far as other readers describe it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builders.warp import TEA, Conversation, read, texts
from conversation_esaa.agents import warp
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.agents.registry import SessionFile

ROOT = "/home/dev/tea"
OTHER = "efefefef-0000-4000-8000-000000000002"


def found(home: Path) -> list[SessionFile]:
    return list(warp.session_files(home, [ROOT]))


def test_prompts_are_read_and_nothing_else(tmp_path):
    """What the program sends by itself stands in rows of the same table."""
    conversation = Conversation().typed("Name a herb.").tool().exchange([{"Invented": {"text": "CANARY"}}])
    conversation.exchange({"Query": {"text": "Another?"}}).exchange("no array").save(tmp_path)
    (file,) = found(tmp_path)
    state = warp.open_session(file)

    mark, *turns = items = read(file, state)

    assert isinstance(mark, SessionMark)
    assert (mark.kind, mark.cwd) == (MarkKind.STARTED, ROOT)
    assert [(str(turn.actor), turn.text, turn.said_at) for turn in turns if isinstance(turn, Turn)] == [
        ("user", "Name a herb.", "2026-01-02T03:05:00.123Z"),
        ("user", "Another?", "2026-01-02T03:05:03.123Z"),
    ]
    assert "CANARY" not in repr(items)
    assert state.unknown == {"Invented": 1}


def test_what_was_read_is_not_read_again_and_a_neighbour_s_news_are_no_news(tmp_path):
    conversation = Conversation().typed("Name a herb.").save(tmp_path)
    (file,) = found(tmp_path)
    state = warp.open_session(file)
    read(file, state)
    Conversation(OTHER, first=50).typed("y").save(tmp_path)
    neighbours = [session.revision for session in found(tmp_path)]
    nothing = read(file, state)
    conversation.typed("Another?").save(tmp_path)

    assert nothing == []
    assert neighbours[0] == file.revision != found(tmp_path)[0].revision
    assert texts(read(file, state)) == ["Another?"]


def test_a_conversation_that_moves_between_directories_is_told_apart(world: World):
    """I4: each prompt belongs where it was typed."""
    conversation = (
        Conversation().typed("CANARY", working_directory="/elsewhere").typed("CANARY", working_directory=None)
    )
    conversation.typed("Name a herb.", working_directory=str(world.project / "pkg"))
    home = warp.home({}, world.home)
    conversation.save(home)
    Conversation(OTHER, folder="/elsewhere", first=50).typed("CANARY").save(home)

    world.sync()

    assert world.said() == [("user", "Name a herb.")]
    assert [file.session_id for file in warp.session_files(home, [str(world.project)])] == [TEA]


def test_a_prompt_is_captured_once_and_our_own_handoff_is_cut_out(world: World):
    """FC-E07."""
    injected = f"{begin_line(3, 'a' * 64)}\nCANARY of the handoff\n{end_line(3)}"
    conversation = Conversation(folder=str(world.project)).typed(f"{injected}\n\nName a herb.")
    conversation.save(warp.home({}, world.home))

    world.sync()

    assert world.said() == [("user", "Name a herb.")]
    assert world.sync(full=True).captured == 0
    assert world.agent("warp", world.sync()).read == 0


def test_the_database_lies_where_each_system_has_it(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "darwin")
    assert warp.home({}, tmp_path).name == "dev.warp.Warp-Stable"
    monkeypatch.setattr("sys.platform", "win32")
    assert warp.home({"LOCALAPPDATA": str(tmp_path / "l")}, tmp_path) == tmp_path / "l/warp/Warp/data"
