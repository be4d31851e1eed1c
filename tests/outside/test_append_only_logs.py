"""Agents with append-only JSONL logs, against logs that the real programs wrote.

They live in a folder `shared` beside the repository. Expectations were drawn from the format pages by others;
none had to be corrected.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from builders.world import World
from conversation_esaa.agents.jsonl import Lines, read_records
from conversation_esaa.agents.registry import SessionFile, agent, glancing
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from conversation_esaa.agents.registry import AgentModule, ReaderState

SHARED = Path(__file__).resolve().parents[3] / "shared"
LOGS, CORPUS = SHARED / "real-logs", SHARED / "corpus"

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(not LOGS.is_dir(), reason="no folder `shared` with real logs beside the repository"),
]

SETS = {
    "copilot-cli-1.0.102": "copilot-cli",
    "droid-0.215.0": "droid",
    "kimi-cli-1.47.0": "kimi",
    "pi-0.73.1": "pi",
}
EVERY_SET = pytest.mark.parametrize("folder", [LOGS / name for name in SETS], ids=lambda folder: folder.name)
SHOP, OTHER = "/home/devb/work/alpha-shop", "/home/devb/work/beta Proj_x.1"
HIDDEN = ("Stub private reasoning", "shop-check\\n", "memory-context", "system prompt removed")


def expected_files(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "expected-turns.json").read_text("utf-8"))


def module_of(folder: Path) -> AgentModule:
    return agent(SETS[folder.name])


def files(folder: Path, root: str = "/") -> list[SessionFile]:
    module = module_of(folder)
    return list(module.session_files(module.home({}, folder / "home"), [root]))


def read(module: AgentModule, file: SessionFile) -> tuple[list[Turn | SessionMark], ReaderState, Lines]:
    state, lines = module.open_session(file), Lines()
    with file.path.open("rb") as handle:
        records = read_records(handle, lines, glancing(module, state))
        return list(module.read(records, state)), state, lines


def turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def said_once(entries: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Who said what in these files, what forks copied left out."""
    every = itertools.chain.from_iterable(entry["turns"] for entry in entries)
    known = {(turn["role"], turn["text"], turn.get("id"), turn["ts"]) for turn in every}
    return [(role, text) for role, text, *_ in known]


@EVERY_SET
def test_every_file_gives_the_turns_that_were_on_the_screen(folder):
    module = module_of(folder)
    expected = {folder / entry["file"]: entry for entry in expected_files(folder)}
    listed = {file.path: file for file in files(folder)}

    assert set(listed) == set(expected)
    for path, entry in expected.items():
        found, state, lines = read(module, listed[path])
        assert [(str(turn.actor), turn.text) for turn in turns(found)] == [
            (turn["role"], turn["text"]) for turn in entry["turns"]
        ]
        assert all(
            "id" not in turn or found.source_ref.startswith(turn["id"])
            for found, turn in zip(turns(found), entry["turns"], strict=True)
        )
        assert {(turn.source_session_id, turn.cwd) for turn in turns(found)} == {
            (entry["session"], entry["workspace"])
        }
        assert all(turn.said_at.startswith("2026-11-29T20:0") for turn in turns(found))
        assert (state.unknown, lines.bad) == ({}, [])


@EVERY_SET
def test_a_session_in_another_workspace_is_told_apart(folder):
    for asked, unasked in ((SHOP, OTHER), (OTHER, SHOP)):
        found = [turn for file in files(folder, asked) for turn in turns(read(module_of(folder), file)[0])]
        assert asked in {turn.cwd for turn in found}
        assert {turn.cwd for turn in found} <= {asked, unasked}


@EVERY_SET
def test_no_turn_comes_twice_though_forks_copy_their_history(folder):
    """A copy has the id and the moment of its original."""
    found = [turn for file in files(folder) for turn in turns(read(module_of(folder), file)[0])]

    identities = {turn.copy_keys or turn_event_id(turn) for turn in found}

    assert len(identities) == len(said_once(expected_files(folder)))


@EVERY_SET
def test_sessions_start_once(folder):
    for file in files(folder):
        found = read(module_of(folder), file)[0]
        kinds = [item.kind for item in found if isinstance(item, SessionMark)]
        assert kinds.count(MarkKind.STARTED) == bool(turns(found))


@EVERY_SET
@pytest.mark.parametrize("step", [1, 3])
def test_reading_in_pieces_gives_what_reading_at_once_gives(folder, step):
    module = module_of(folder)

    for file in files(folder):
        expected = read(module, file)[0]
        state, found = module.open_session(file), []
        with file.path.open("rb") as handle:
            records = list(read_records(handle, Lines()))
        for start in range(0, len(records), step):
            found += module.read(records[start : start + step], state)
            state = msgspec.json.decode(msgspec.json.encode(state), type=module.State)
        assert found == expected


@EVERY_SET
def test_a_whole_home_gives_each_turn_of_the_workspace_once_and_nothing_hidden(folder, tmp_path):
    """What a fork copied is its parent's; what is hidden, or was said elsewhere, is nowhere in the store."""
    world = World(tmp_path)
    module = module_of(folder)
    home = module.home({}, world.home)
    home.parent.mkdir(parents=True, exist_ok=True)
    home.symlink_to(module.home({}, folder / "home"))
    world.add_roots(SHOP)

    first, second = world.sync(), world.sync(full=True)

    mine = [entry for entry in expected_files(folder) if entry["workspace"] == SHOP]
    assert sorted(world.said()) == sorted(said_once(mine))
    assert (first.partial, second.captured) == (False, 0)
    stored = b"\n".join(world.bytes_of_store().values()).decode("utf-8", "replace")
    assert not [hidden for hidden in (*HIDDEN, "port is 8123") if hidden in stored]


@pytest.mark.parametrize(
    ("name", "path", "count"),
    [
        ("droid", "droid/session_store_small.jsonl", 1),
        ("kimi-code", "kimi/assistant_tools.jsonl", 14),
        ("kimi-code", "kimi/small.jsonl", 3),
        ("pi", "pi/small.jsonl", 4),
    ],
)
def test_fixtures_of_another_project_give_their_turns(name, path, count):
    """Cut down by hand, and of other versions than the sets above."""
    file = SessionFile(path=CORPUS / "multi-agent" / path, session_id="s")
    if not file.path.is_file():
        pytest.skip("the corpus has no such file")

    found, state, lines = read(agent(name), file)

    assert len(turns(found)) == count
    assert len({turn_event_id(turn) for turn in turns(found)}) == count
    assert (state.unknown, lines.bad) == ({}, [])
