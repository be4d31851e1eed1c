"""Capture against whole homes that real agents left, and against public session files.

They lie in a folder `shared` beside the repository; without it these tests are skipped. The workspaces that
were recorded do not exist here: they are named as roots, as after a move from another machine.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from builders.world import World
from conversation_esaa.agents.claude_code_files import munge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHARED = Path(__file__).resolve().parents[3] / "shared"
LOGS, CORPUS = SHARED / "real-logs", SHARED / "corpus"
AGENTS = ("claude-code", "codex", "grok")

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(
        not LOGS.is_dir(), reason="there is no folder `shared/real-logs` beside the repository"
    ),
]

TEA = "/home/dev/projects/tea shop v1.2"
TERMINAL = "/home/dev/projects/tui-demo"
OTHER = "/home/dev/projects/Übung_日本 2"

SETS = sorted(folder.parent for name in AGENTS for folder in LOGS.glob(f"{name}-*/expected-turns.json"))
EVERY_SET = pytest.mark.parametrize("folder", SETS, ids=lambda folder: folder.name)


def agent_of(folder: Path) -> str:
    return next(name for name in AGENTS if folder.name.startswith(name))


def root_of(folder: Path) -> str:
    return TERMINAL if folder.name.endswith("-tui") else TEA


def expected_files(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "expected-turns.json").read_bytes())


def ours(file: dict[str, Any], root: str) -> bool:
    return all(cwd == root or cwd.startswith(f"{root}/") for cwd in file["cwds"])


def pairs(turns: Iterable[dict[str, str]]) -> list[tuple[str, str]]:
    return [(turn["role"], turn["text"]) for turn in turns]


def home_of(tmp_path: Path, folders: Iterable[Path], *roots: str) -> World:
    world = World(tmp_path)
    for folder in folders:
        world.install(agent_of(folder), folder)
    world.add_roots(*roots)
    return world


def hidden_strings(paths: Iterable[Path], visible: str) -> set[str]:
    """Pieces of 40 characters or more that the native records hold and no visible turn does.

    Names of places, sessions and versions are told by the log on purpose.
    """
    found: set[str] = set()
    places: set[str] = set()
    visible = f"{visible}\n{' '.join(visible.split())}"  # summaries have blanks folded
    for path in paths:
        for line in path.read_bytes().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                continue
            places.update(text for text in re.findall(r'"cwd":\s*"([^"]*)"', line.decode("utf-8", "replace")))
            for text in strings_in(record):
                for piece in re.findall(r"[ -!#-\[\]-~]{40,}", text):
                    sample = piece[:80]
                    if sample not in visible and not re.fullmatch(r"[\w./~%:-]*", sample):
                        found.add(sample)
    return {sample for sample in found if not any(sample in place for place in places)}


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in ("cwd", "id", "uuid", "sessionId"):
                yield from strings_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item)


def last_moment(content: bytes) -> bytes:
    return max(re.findall(rb'"timestamp":"?([0-9TZ:.-]+)', content), default=b"")


def assert_nothing_hidden_in(world: World, hidden: set[str]) -> None:
    assert hidden, "the scan found nothing to look for"
    for name, content in world.bytes_of_store().items():
        text = content.decode("utf-8", "replace")
        if name.endswith((".json", ".jsonl")):  # as words, not as escapes of words
            lines = [text] if name.endswith(".json") else text.splitlines()
            text = "\n".join(itertools.chain.from_iterable(strings_in(json.loads(line)) for line in lines))
        leaked = [piece for piece in hidden if piece in text]
        assert leaked == [], f"in {name}"


@EVERY_SET
def test_a_home_gives_what_was_said_in_the_workspace_and_nothing_else(folder, tmp_path):
    """The truth is what the format pages call visible, without repetitions by resume and fork."""
    world = home_of(tmp_path, [folder], root_of(folder))
    mine = [file for file in expected_files(folder) if ours(file, root_of(folder))]

    report = world.sync()

    expected = list(itertools.chain.from_iterable(pairs(file["turns"]) for file in mine))
    assert set(world.said()) == set(expected)
    if not folder.name.endswith("-tui"):
        assert len(world.said()) == len(set(expected))
    assert not report.partial
    assert {kind for agent in report.agents for kind in agent.unknown} == set()


@EVERY_SET
def test_the_turns_of_a_session_stay_in_the_order_of_its_file(folder, tmp_path):
    """Agents that take turns are merged by time, but no session is ever put out of order."""
    world = home_of(tmp_path, [folder], root_of(folder))

    world.sync()

    for file in expected_files(folder):
        told = pairs(file["turns"])
        heard = [
            (turn.actor, turn.text)
            for turn in world.turns()
            if turn.source_session_id == file["session_id"] and (turn.actor, turn.text) in told
        ]
        rest = iter(told)
        assert all(item in rest for item in heard), file["file"]


@EVERY_SET
def test_what_was_said_in_the_other_workspace_stays_out(folder, tmp_path):
    """I4 on real data. Where the agent keeps all workspaces together, the refusal is counted and named."""
    world = home_of(tmp_path, [folder], root_of(folder))
    foreign = [file for file in expected_files(folder) if not ours(file, root_of(folder))]

    report = world.sync()

    texts = {text for file in foreign for _, text in pairs(file["turns"])}
    told = {text for _, text in world.said()}
    assert told.isdisjoint(texts)
    if agent_of(folder) == "codex" and foreign:
        codex = world.agent("codex", report)
        assert codex.refused_cwds == {OTHER: sum(len(file["turns"]) for file in foreign)}


@EVERY_SET
def test_capturing_a_home_again_adds_nothing_and_changes_no_byte(folder, tmp_path):
    """Also without the cursors, which are only a cache, and with every file read anew."""
    world = home_of(tmp_path, [folder], root_of(folder))
    world.sync()
    before = world.bytes_of_store()

    again = world.sync()

    assert again.captured == 0
    assert world.bytes_of_store() == before

    world.workspace().layout.sync_state.unlink()
    without_cursors = world.sync()
    full = world.sync(full=True)

    assert (without_cursors.captured, full.captured) == (0, 0)
    assert world.bytes_of_store() == before


@EVERY_SET
def test_a_home_that_grows_line_by_line_gives_the_same_turns(folder, tmp_path):
    """However often somebody looks meanwhile: the same turns, each once. Sessions grow one after the other,
    as a resume or a fork begins with all that was said before it.
    """
    whole = home_of(tmp_path / "whole", [folder], root_of(folder))
    whole.sync()
    world = home_of(tmp_path / "grown", [folder], root_of(folder))
    contents = {path: path.read_bytes() for path in world.home.rglob("*.jsonl")}
    for path in contents:
        path.unlink()
    for path, content in sorted(contents.items(), key=lambda item: last_moment(item[1])):
        for share in (0.3, 0.55, 0.8, 1):  # cuts fall anywhere, also within lines
            path.write_bytes(content[: int(len(content) * share)])
            world.sync()

    assert set(world.said()) == set(whole.said())
    if folder.name != "claude-code-1.0.65":  # its copies have new ids: they are known by their answers alone
        assert sorted(world.said()) == sorted(whole.said())


@EVERY_SET
def test_nothing_hidden_of_a_home_is_in_any_file_of_the_store(folder, tmp_path):
    """Reasoning, tool output, system texts, sub-agents: looked for by what the native records really hold."""
    world = home_of(tmp_path, [folder], root_of(folder))
    mine = [file for file in expected_files(folder) if ours(file, root_of(folder))]
    visible = "\n".join(text for file in mine for _, text in pairs(file["turns"]))

    world.sync()

    assert_nothing_hidden_in(world, hidden_strings(world.home.rglob("*.jsonl"), visible))


def test_all_agents_and_versions_in_one_home_are_captured_together(tmp_path):
    """Fifteen sets at once: each turn of both workspaces once, no foreign one, a second run changes nothing."""
    world = home_of(tmp_path, SETS, TEA, TERMINAL)

    report = world.sync()
    before = world.bytes_of_store()
    again = world.sync()

    expected: dict[str, set[tuple[str, str]]] = {}
    for folder in SETS:
        for file in expected_files(folder):
            if ours(file, TEA) or ours(file, TERMINAL):
                expected.setdefault(agent_of(folder), set()).update(pairs(file["turns"]))
    heard: dict[str, set[tuple[str, str]]] = {}
    for turn in world.turns():
        heard.setdefault(turn.source, set()).add((turn.actor, turn.text))
    assert heard == expected
    assert not report.partial
    assert again.captured == 0
    assert world.bytes_of_store() == before


def test_the_turns_of_the_other_workspace_are_captured_there(tmp_path):
    """A refusal is no loss: the same home serves the workspace that they belong to."""
    world = home_of(tmp_path, SETS, OTHER)

    world.sync()

    expected = {
        pair
        for folder in SETS
        for file in expected_files(folder)
        if ours(file, OTHER)
        for pair in pairs(file["turns"])
    }
    assert set(world.said()) == expected


# --- Public session files


def corpus_files() -> list[dict[str, Any]]:
    index = CORPUS / "expected-turns.json"
    files = json.loads(index.read_bytes())["files"] if index.is_file() else []
    return [file for file in files if file["agent"] in ("claude-code", "codex")]


def place(world: World, file: dict[str, Any]) -> Path:
    """Put a public file where its agent would have kept it."""
    source = CORPUS / file["file"]
    if file["agent"] == "codex":
        folder = world.home / ".codex" / "sessions" / "2026" / "01" / "01"
        path = folder / f"rollout-2026-01-01T00-00-00-{source.stem}.jsonl"
    else:
        parts = (
            source.relative_to(CORPUS / "claude-code").parts if "multi" not in file["file"] else [source.name]
        )
        path = world.home.joinpath(".claude", "projects", munge(file["cwds"][0]), *parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source.read_bytes())
    return path


def distinct_digest(said: Iterable[tuple[str, str]]) -> str:
    joined = "".join(f"{role}\0{text}\0" for role, text in dict.fromkeys(said))
    return hashlib.sha256(joined.encode()).hexdigest()


@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file["file"][-44:])
def test_a_public_file_gives_every_turn_it_shows_when_its_directories_are_ours(file, tmp_path):
    """Nothing lost: compared by digest over role and text in the order of the file."""
    world = World(tmp_path)
    path = place(world, file)
    world.add_roots(*(cwd for cwd in file["cwds"] if cwd.startswith("/")))

    report = world.sync()
    before = world.bytes_of_store()
    again = world.sync(full=True)

    if file.get("exact", True):
        assert distinct_digest(world.said()) == file["distinct"]["sha256"]
    assert again.captured == 0
    assert world.bytes_of_store() == before
    assert not report.partial
    visible = "\n".join(text for _, text in world.said())
    hidden = hidden_strings([path], visible)
    if hidden:
        assert_nothing_hidden_in(world, hidden)


@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file["file"][-44:])
def test_a_public_file_gives_nothing_to_another_workspace(file, tmp_path):
    """Nothing foreign: not a turn, not a summary, not the name of a session."""
    world = World(tmp_path)
    place(world, file)
    world.add_roots("/somewhere/else")

    world.sync()

    assert world.said() == []
    log = world.workspace().layout.log.read_bytes()
    assert Path(file["file"]).stem.encode() not in log
