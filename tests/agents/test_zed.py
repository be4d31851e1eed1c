"""Zed: what is read of its threads, as its source writes them."""

from __future__ import annotations

import contextlib
import sqlite3
import sys
import zlib
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from builders.zed import TEA, Thread, read, texts
from conversation_esaa.agents import zed
from conversation_esaa.projections.injected import begin_line, end_line
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from builders.world import World
    from conversation_esaa.agents.registry import SessionFile

ROOT = "/home/dev/tea"
OTHER = "abababab-0000-4000-8000-000000000002"


@pytest.fixture
def zstd(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module as Python 3.14 has it, with another compression behind it."""
    module = ModuleType("compression.zstd")

    class ZstdError(Exception):
        pass

    class ZstdDecompressor:
        def decompress(self, data, max_length):
            try:
                return zlib.decompressobj().decompress(data, max_length)
            except zlib.error:
                raise ZstdError from None

    module.ZstdError, module.ZstdDecompressor = ZstdError, ZstdDecompressor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "compression", ModuleType("compression"))
    monkeypatch.setitem(sys.modules, "compression.zstd", module)
    return module


def found(home: Path, *roots: str) -> list[SessionFile]:
    return list(zed.session_files(home, roots or (ROOT,)))


def only(home: Path) -> SessionFile:
    (file,) = found(home)
    return file


def test_prompts_and_answers_are_read_as_they_were_said(tmp_path):
    """Of a mention the name of the file, never what is in it."""
    mention = {"Mention": {"uri": {"File": {"abs_path": f"{ROOT}/a.rs"}}, "content": "CANARY file"}}
    thread = Thread().typed("Look at ", mention, {"Text": "."}).tool().answered("One moment.", "Done.")
    thread.messages.append("Resume")
    thread.typed("Thanks.").save(tmp_path)

    mark, *turns = items = read(only(tmp_path))

    assert isinstance(mark, SessionMark)
    assert mark.kind is MarkKind.STARTED
    assert [(str(turn.actor), turn.text) for turn in turns if isinstance(turn, Turn)] == [
        ("user", "Look at @a.rs."),
        ("assistant", "One moment."),
        ("assistant", "Done."),
        ("user", "Thanks."),
    ]
    assert "CANARY" not in repr(items)
    assert {turn.said_at for turn in turns} == {"2026-01-02T03:05:00.123Z"}
    assert {turn.model for turn in turns} == {"", "demo-model"}
    assert len({turn.source_ref for turn in turns}) == 4


def test_what_was_read_is_not_read_again(tmp_path):
    thread = Thread().typed("Name a herb.").answered("Mint.").save(tmp_path)
    file = only(tmp_path)
    state = zed.open_session(file)
    first = read(file, state)
    nothing = read(file, state)
    thread.updated_at = "2026-01-02T03:06:00Z"
    thread.typed("Another?").save(tmp_path)

    more = read(file, state)

    assert (texts(first), nothing, texts(more)) == (["Name a herb.", "Mint."], [], ["Another?"])
    assert more[0].said_at == "2026-01-02T03:06:00.000Z"
    assert file.revision != only(tmp_path).revision


def test_a_thread_that_was_set_back_says_nothing_twice(world: World):
    home = zed.home({}, world.home)
    thread = (
        Thread(folders=str(world.project)).typed("Name a herb.").answered("Mint.").typed("No.").save(home)
    )
    world.sync()
    del thread.messages[-1]
    thread.updated_at = "2026-01-02T03:06:00Z"
    thread.typed("A sweet one.").messages[-1]["User"]["id"] = "another"
    thread.save(home)

    world.sync()

    assert [text for _, text in world.said()] == ["Name a herb.", "Mint.", "No.", "A sweet one."]


def test_a_document_of_before_is_read_and_known_after_zed_took_it_over(world: World):
    """Its messages then have new ids."""
    home = zed.home({}, world.home)
    folders = str(world.project)
    old = Thread(folders=folders)
    old.messages = [
        {"id": 0, "role": "system", "segments": [{"type": "text", "text": "CANARY"}]},
        {"id": 1, "role": "user", "segments": [{"type": "text", "text": "yes"}], "context": "CANARY"},
        {"id": 2, "role": "assistant", "segments": [{"type": "thinking", "text": "CANARY"}]},
        {"id": 3, "role": "assistant", "segments": [{"type": "text", "text": "Done."}]},
        {"id": 4, "role": "user", "segments": [{"type": "text", "text": "yes"}]},
    ]
    old.save(home)
    world.sync()
    new = Thread(folders=folders).typed("yes").answered("Done.").typed("yes").answered("Again.")
    new.updated_at = "2026-01-02T03:06:00Z"
    new.save(home)

    world.sync()

    assert [text for _, text in world.said()] == ["yes", "Done.", "yes", "Again."]


def test_threads_are_found_by_their_folders(tmp_path):
    """Several folders lie in one column, a line each."""
    Thread(folders=f"/home/dev/other\n{ROOT}/pkg").typed("x").save(tmp_path)
    Thread(OTHER, folders=f"{ROOT}2").typed("x").save(tmp_path)
    Thread("child", parent=TEA).typed("CANARY").save(tmp_path)
    Thread("nowhere", folders=None).typed("x").save(tmp_path)

    assert [(file.session_id, file.cwd) for file in found(tmp_path)] == [(TEA, f"{ROOT}/pkg")]
    assert zed.unlisted(tmp_path) == {"threads of unknown folder": 1}


def test_a_compressed_thread_is_read_where_python_can(tmp_path, zstd):
    Thread().typed("Name a herb.").save(tmp_path, compress=zlib.compress)

    assert texts(read(only(tmp_path))) == ["Name a herb."]
    assert zed.unlisted(tmp_path) == {}


@pytest.mark.parametrize("data", [b"", b"damaged", zlib.compress(b"x" * 1000)])
def test_a_damaged_thread_gives_nothing_and_stops_nothing(tmp_path, zstd, monkeypatch, data):
    """Nor does one that is larger than any thread can be."""
    monkeypatch.setattr(zed, "_LARGEST", 100)
    Thread().typed("x").save(tmp_path, compress=lambda _: data)

    assert texts(read(only(tmp_path))) == []


def test_a_compressed_thread_is_counted_where_python_cannot(tmp_path, monkeypatch):
    """It is no error: nothing that the user could mend while he works."""
    monkeypatch.setattr(zed, "_DECODERS", ())
    Thread().typed("x").save(tmp_path, compress=zlib.compress)

    assert found(tmp_path) == []
    assert zed.unlisted(tmp_path) == {
        "threads that Python 3.14, or the package backports.zstd, could read": 1,
    }


def test_a_database_of_before_folders_has_threads_of_unknown_folder(tmp_path):
    Thread().typed("x").save(tmp_path)
    store = tmp_path / "threads" / "threads.db"
    with contextlib.closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute("ALTER TABLE threads DROP COLUMN folder_paths")

    assert found(tmp_path) == []
    assert zed.unlisted(tmp_path) == {"threads of unknown folder": 1}


def test_the_data_lie_where_each_system_has_them(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.platform", "darwin")
    assert zed.home({}, tmp_path) == tmp_path / "Library/Application Support/Zed"
    monkeypatch.setattr("sys.platform", "win32")
    assert zed.home({"LOCALAPPDATA": str(tmp_path / "l")}, tmp_path) == tmp_path / "l" / "Zed"


def test_a_thread_is_captured_once_and_our_own_handoff_is_cut_out(world: World):
    """FC-E07."""
    injected = f"{begin_line(3, 'a' * 64)}\nCANARY of the handoff\n{end_line(3)}"
    thread = Thread(folders=str(world.project)).typed(f"{injected}\n\nName a herb.").answered("Mint.")
    thread.save(zed.home({}, world.home))

    world.sync()

    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert world.sync(full=True).captured == 0
    assert world.agent("zed", world.sync()).read == 0
