"""Homes that further agents left, read through capture; and public session files of theirs.

They lie in a folder `shared` beside the repository; without it these tests are skipped. Expectations were
drawn from the format pages by others; none had to be corrected.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from builders.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED = Path(__file__).parents[2].parent / "shared"
LOGS, CORPUS = SHARED / "real-logs", SHARED / "corpus"
SETS = sorted(folder for folder in LOGS.glob("*") if (folder / "home").is_dir())
ROOT = "/home/devb/work/alpha-shop"
OTHER = "/home/devb/work/beta Proj_x.1"

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(not LOGS.is_dir(), reason="no folder `shared` with real logs beside the repository"),
]


def agent_of(folder: Path) -> str:
    """The set's name without its version; `kilo-cli` is the agent `kilo`."""
    name = folder.name.rpartition("-")[0]
    return {"kilo-cli": "kilo", "kimi-cli": "kimi"}.get(name, name)


HERE = ("gemini-cli", "qwen-code", "opencode", "kilo")  # those of append-only logs have a file of their own
EVERY_SET = pytest.mark.parametrize(
    "folder", [folder for folder in SETS if agent_of(folder) in HERE], ids=lambda folder: folder.name
)


def world_of(folder: Path, base: Path, root: str = ROOT) -> World:
    world = World(base)
    shutil.copytree(folder / "home", world.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for path in (world.home, *world.home.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    world.add_roots(root)
    return world


def expected(folder: Path, root: str = ROOT) -> list[dict[str, Any]]:
    """Sessions of a workspace that a person had; forks begin with what their parent has."""
    sessions = json.loads((folder / "expected-turns.json").read_bytes())
    return [entry for entry in sessions if not entry["sidechain"] and entry["workspace"] == root]


def pairs(entry: dict[str, Any]) -> list[tuple[str, str]]:
    return [(turn["role"], turn["text"]) for turn in entry["turns"]]


@EVERY_SET
@pytest.mark.parametrize("root", [ROOT, OTHER])
def test_a_home_gives_what_was_said_in_the_workspace_once_and_in_order(folder, root, tmp_path):
    """Nothing of the other workspace (I4), nothing of sub-agents, nothing twice by resume and fork."""
    world = world_of(folder, tmp_path, root)

    report = world.sync()

    told = expected(folder, root)
    said = {(turn["role"], turn["text"], turn["ts"]) for entry in told for turn in entry["turns"]}
    assert sorted(world.said()) == sorted((role, text) for role, text, _ in said)  # a fork copies the moment
    for entry in told:
        heard = [
            (turn.actor, turn.text) for turn in world.turns() if turn.source_session_id == entry["session"]
        ]
        rest = iter(pairs(entry))
        assert all(item in rest for item in heard)
    refs = {turn.source_ref.rpartition("/")[2].partition("#")[0] for turn in world.turns()}
    assert refs <= {str(turn["id"]) for entry in told for turn in entry["turns"]}
    assert not report.partial
    assert {kind for agent in report.agents for kind in agent.unknown} == set()
    assert all(turn.cwd and "time_of_capture" not in turn.flags for turn in world.turns())


@EVERY_SET
def test_capturing_again_adds_nothing_and_leaves_the_home_as_it_was(folder, tmp_path):
    """Also without the cursors, with everything read anew, and for a database with files beside it."""
    world = world_of(folder, tmp_path)
    before = contents(world.home)
    world.sync()
    store = world.bytes_of_store()

    again = world.sync()
    unchanged = world.bytes_of_store()
    world.workspace().layout.sync_state.unlink()
    counts = [again.captured, world.sync().captured, world.sync(full=True).captured]

    assert counts == [0, 0, 0]
    assert unchanged == world.bytes_of_store() == store
    assert contents(world.home) == before


@pytest.mark.parametrize(
    "folder",
    [folder for folder in SETS if agent_of(folder) in HERE and list(folder.rglob("home/**/*.jsonl"))],
    ids=lambda folder: folder.name,
)
def test_a_file_that_grows_line_by_line_gives_the_same_turns(folder, tmp_path):
    """However often somebody looks meanwhile."""
    whole = world_of(folder, tmp_path / "whole")
    whole.sync()
    world = world_of(folder, tmp_path / "grown")
    files = {path: path.read_bytes() for path in sorted(world.home.rglob("*.jsonl"))}
    for path in files:
        path.unlink()
    for path, content in files.items():
        for share in (0.3, 0.55, 0.8, 1):  # cuts fall anywhere, also within lines
            path.write_bytes(content[: int(len(content) * share)])
            world.sync()

    assert sorted(world.said()) == sorted(whole.said())


@EVERY_SET
def test_nothing_hidden_is_in_any_file_of_the_store(folder, tmp_path):
    """Reasoning, tool output, system texts, injected texts: looked for by what the native records really hold."""
    world = world_of(folder, tmp_path)
    visible = "\n".join(text for entry in expected(folder) for _, text in pairs(entry))
    visible = f"{visible}\n{' '.join(visible.split())}"  # summaries have blanks folded
    hidden = {
        piece[:80]
        for text in native_strings(world.home)
        for piece in re.findall(r"[ -!#-\[\]-~]{30,}", text)
        if piece[:80] not in visible and not re.fullmatch(r"[\w./~%:-]*", piece[:80])
    }

    world.sync()

    assert hidden
    stored = b"\n".join(world.bytes_of_store().values()).decode("utf-8", "replace")
    assert [piece for piece in hidden if piece in stored] == []


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def native_strings(home: Path) -> Iterator[str]:
    """Every string in every record, of lines and of rows; places are told on purpose."""
    for path in home.rglob("*"):
        if path.suffix == ".db":
            with contextlib.closing(sqlite3.connect(path)) as connection:
                for table in ("message", "part"):
                    for (data,) in connection.execute(f"SELECT data FROM {table}"):
                        yield from strings_in(json.loads(data))
            for suffix in ("-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{path}{suffix}")
        elif path.suffix == ".jsonl":
            for line in path.read_bytes().splitlines():
                with contextlib.suppress(ValueError):
                    yield from strings_in(json.loads(line))


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("cwd", "root", "id", "uuid", "sessionId", "directory"):
                yield from strings_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)


# --- Public session files


def gemini_corpus() -> list[dict[str, Any]]:
    index = CORPUS / "expected-turns.json"
    files = json.loads(index.read_text("utf-8"))["files"] if index.is_file() else []
    return [entry for entry in files if entry["agent"] == "gemini-cli"]


@pytest.mark.parametrize("entry", gemini_corpus(), ids=lambda entry: Path(entry["file"]).stem)
def test_public_documents_of_gemini_give_the_turns_that_were_counted(entry, tmp_path):
    world = World(tmp_path)
    folder = world.home / ".gemini" / "tmp" / hashlib.sha256(str(world.project).encode()).hexdigest()
    (folder / "chats").mkdir(parents=True)
    shutil.copyfile(CORPUS / entry["file"], folder / "chats" / "session-a.json")

    report = world.sync()

    said = world.said()
    assert [sum(actor == who for actor, _ in said) for who in ("user", "assistant")] == [
        entry["user"],
        entry["assistant"],
    ]
    words = b"".join(f"{actor}\0{text}\0".encode() for actor, text in said)
    assert hashlib.sha256(words).hexdigest() == entry["sha256"]
    assert not report.partial
    assert {kind for agent in report.agents for kind in agent.unknown} == set()
