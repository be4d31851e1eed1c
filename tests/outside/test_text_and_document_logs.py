"""Aider and Cline against logs that the real programs wrote.

They live in a folder `shared` beside the repository. Expectations were drawn from the format pages by others.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from builders.world import World
from conversation_esaa.agents.jsonl import Lines
from conversation_esaa.agents.registry import agent
from conversation_esaa.agents.storage import storage
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import Turn

if TYPE_CHECKING:
    from conversation_esaa.agents.registry import SessionFile

LOGS = Path(__file__).parents[2].parent / "shared" / "real-logs"
AIDER, CLINE = LOGS / "aider-0.86.2", LOGS / "cline-cli-3.0.65"

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(not AIDER.is_dir(), reason="no folder `shared` with real logs beside the repository"),
]


def expected(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "expected-turns.json").read_text("utf-8"))


def turns(name: str, file: SessionFile) -> list[Turn]:
    module, lines = agent(name), Lines()
    state = module.open_session(file)
    with storage(file.kind).opened(file) as source:
        found = list(module.read(source.records(lines, module, state), state))
    assert (state.unknown, lines.bad) == ({}, [])
    return [item for item in found if isinstance(item, Turn)]


def aider_files() -> list[SessionFile]:
    roots = [str(folder) for folder in (AIDER / "workspaces").iterdir()]
    return list(agent("aider").session_files(AIDER / ".aider", roots))


def test_every_session_of_aider_gives_the_turns_that_were_on_the_screen():
    found = {
        (file.path, turn.source_session_id): [] for file in aider_files() for turn in turns("aider", file)
    }
    for file in aider_files():
        for turn in turns("aider", file):
            found[file.path, turn.source_session_id].append((str(turn.actor), turn.text))

    assert found == {
        (AIDER / entry["file"], entry["session"]): [(turn["role"], turn["text"]) for turn in entry["turns"]]
        for entry in expected(AIDER)
    }


def test_every_session_of_cline_gives_the_turns_that_were_on_the_screen(tmp_path):
    home = tmp_path / "data"
    shutil.copytree(CLINE / "home" / ".cline" / "data", home)
    listed = {file.session_id: file for file in agent("cline").session_files(home / "sessions", ["/"])}

    for entry in expected(CLINE):
        found = turns("cline", listed[entry["session"]])
        assert [(str(turn.actor), turn.text, turn.source_ref) for turn in found] == [
            (turn["role"], turn["text"], f"{entry['session']}/{turn['id']}") for turn in entry["turns"]
        ]
        assert {turn.cwd for turn in found} == {entry["workspace"]}
        assert all(turn.said_at for turn in found)
    assert len(listed) == len(expected(CLINE))


@pytest.mark.parametrize("step", [1, 7, 333])
def test_a_chat_history_that_grows_gives_what_the_whole_one_gives(step, tmp_path):
    file = next(file for file in aider_files() if "alpha" in file.path.as_posix())
    content, world = file.path.read_bytes(), World(tmp_path)
    sizes = [*range(0, len(content), max(step, len(content) // 40)), len(content)]
    shutil.copy(file.path.with_name(".aider.input.history"), world.project)

    for size in sizes:
        (world.project / file.path.name).write_bytes(content[: size + step % 5])
        world.sync()

    assert world.said() == [(str(turn.actor), turn.text) for turn in turns("aider", file)]


def test_a_workspace_has_each_turn_of_both_once_and_nothing_of_the_other(tmp_path):
    world = World(tmp_path)
    shutil.copytree(CLINE / "home", world.home, dirs_exist_ok=True)
    shutil.copytree(AIDER / "workspaces" / "alpha-shop", world.project, dirs_exist_ok=True)
    world.add_roots("/home/devb/work/alpha-shop")

    world.sync()
    again = world.sync(full=True)

    mine = [entry for folder in (AIDER, CLINE) for entry in expected(folder) if "alpha" in entry["workspace"]]
    assert sorted(world.said()) == sorted(
        (turn["role"], turn["text"]) for entry in mine for turn in entry["turns"]
    )
    assert again.captured == 0
    assert len({turn_event_id(turn) for file in aider_files() for turn in turns("aider", file)}) == 7
    hidden = (
        b"must never be ingested",
        b"shop-check\\n",
        b"Tokens:",
        b"removed by the lab",
        b"--model openai",
    )
    for name, content in world.bytes_of_store().items():
        assert [piece for piece in hidden if piece in content] == [], name
