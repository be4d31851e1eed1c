"""`sync-state.json`: a cache that can only cost time, whatever is in it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.agents.storage import Kind
from conversation_esaa.capture import cursors
from conversation_esaa.capture.cursors import Cursor, Stat, SyncState

if TYPE_CHECKING:
    from builders.world import World

STAT = Stat(1, 2, 3, 4)


@pytest.mark.parametrize("kind", [Kind.JSONL, Kind.TEXT])
@pytest.mark.parametrize(
    ("size", "offset", "behind"),
    [(100, 0, 100), (100, 90, 10), (100, 100, 100), (40, 90, 40)],
    ids=["never read", "grown", "as long as it was, and another", "shorter"],
)
def test_what_is_behind_is_what_lies_behind_the_cursor(kind, size, offset, behind):
    """Of each kind that is read on from where it was left; what `doctor` and a progress line tell."""
    file = SessionFile(path=Path("/log"), kind=kind)
    cursor = Cursor(agent="a", session_id="s", stat=STAT, offset=offset) if offset else None

    assert cursors.bytes_behind(file, Stat(size, 2, 3, 4), cursor) == behind


def test_of_a_session_that_shares_its_file_nobody_knows_how_much_is_behind():
    file = SessionFile(path=Path("/db"), kind=Kind.SQLITE, revision="7")

    assert cursors.bytes_behind(file, STAT, None) == 0


def test_what_was_saved_is_loaded(tmp_path):
    """Also with half a character in a path: replaced, and never a reason to fail."""
    state = SyncState()
    read = msgspec.Raw(b'{"visible":2}')
    state.keep("/p", Cursor(agent="codex", session_id="s", stat=STAT, refused={"/a\ud800": 2}, state=read))
    state.keep("/q\ud800", Cursor(agent="codex", session_id="s", stat=STAT, recognised={"e": "d"}))
    cursors.save(tmp_path / "s.json", state)

    loaded = cursors.load(tmp_path / "s.json")

    assert loaded is not None
    assert (cursor := loaded.cursor("/p")) is not None
    assert cursor.refused == {"/a\ufffd": 2}
    assert (cursor.stat, bytes(cursor.state)) == (STAT, b'{"visible":2}')
    assert loaded.cursor("/q\ufffd") is not None
    assert list(loaded.recognised()) == [{"e": "d"}]
    assert loaded.cursor("/r") is None


def test_one_damaged_cursor_costs_one_look_and_verify_tells(world: World):
    """The others are as they were."""
    claude, codex = world.claude().user("one"), world.codex().user("two")
    world.sync()
    path = world.store / "sync-state.json"
    state = json.loads(path.read_bytes())
    state["sources"][str(claude.path)] = {"agent": 7}
    path.write_text(json.dumps(state))
    assert "cache.unreadable" in world.run("verify", "--json").out
    claude.assistant("three")
    codex.assistant("four")

    assert world.sync().captured == 2
    assert "cache.unreadable" not in world.run("verify", "--json").out


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'{"schema":"of/another"}',
        b'{"sources":{"/p":1}}',
        b"\xff\xfe",
        b"[" * 9_999,
    ],
)
def test_what_is_not_ours_counts_as_nothing_saved(world: World, content):
    """Damaged, of the older tool, of a newer version: everything is looked at again, and nothing is doubled."""
    world.claude().user("one").assistant("two")
    world.sync()
    (world.store / "sync-state.json").write_bytes(content)

    report = world.sync()

    assert report.captured == 0
    assert [text for _, text in world.said()] == ["one", "two"]
    json.loads((world.store / "sync-state.json").read_bytes())


@given(st.binary(min_size=1, max_size=4_000), st.data())
def test_a_fingerprint_sees_every_change_in_the_first_and_the_last_kilobyte(content, data):
    """Which is where a rewritten session file differs; `sync --full` looks at the rest."""
    end = data.draw(st.integers(1, len(content)))
    at = data.draw(st.integers(0, end - 1))
    changed = bytearray(content)
    changed[at] ^= 1

    same = cursors.fingerprint(io.BytesIO(content + b"more"), end) == cursors.fingerprint(
        io.BytesIO(content), end
    )
    other = cursors.fingerprint(io.BytesIO(bytes(changed)), end) != cursors.fingerprint(
        io.BytesIO(content), end
    )

    assert same
    assert other or 1024 <= at < end - 1024


def test_a_reader_of_another_version_starts_the_file_again(world: World):
    """Its state means something else; the turns are known by their ids."""
    claude = world.claude().user("one")
    world.sync()
    state = json.loads((world.store / "sync-state.json").read_bytes())
    state["sources"][str(claude.path)]["state"]["source_index"] = "not a number any more"
    (world.store / "sync-state.json").write_text(json.dumps(state))
    claude.assistant("two")

    world.sync()

    assert [text for _, text in world.said()] == ["one", "two"]


def test_the_cursors_hold_no_word_of_the_conversation(world: World):
    """I6: they are paths, numbers and digests."""
    for session in (world.claude(), world.codex(), world.grok()):
        session.user("CANARY question").assistant("CANARY answer").user("CANARY and no answer yet")
    legacy = world.codex("legacy")
    legacy.record("session_meta", legacy.meta(history_mode="legacy", cli_version="0.50.0"))
    content = [{"type": "input_text", "text": "CANARY held"}]
    legacy.record("response_item", {"type": "message", "role": "user", "content": content})

    world.sync()

    assert b"CANARY" not in (world.store / "sync-state.json").read_bytes()
