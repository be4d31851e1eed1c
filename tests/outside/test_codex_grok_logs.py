"""Codex and Grok against logs that the real programs wrote, and against public session files.

They live in a folder `shared` beside the repository. Expectations were drawn from the format pages by others;
none had to be corrected.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from conversation_esaa.agents import antigravity, codex, grok
from conversation_esaa.agents.jsonl import Lines, read_records
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import MarkKind, SessionMark, Turn

if TYPE_CHECKING:
    from conversation_esaa.agents.registry import AgentModule, ReaderState

SHARED = Path(__file__).parents[2].parent / "shared"
LOGS, CORPUS = SHARED / "real-logs", SHARED / "corpus"

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(not LOGS.is_dir(), reason="no folder `shared` with real logs beside the repository"),
]

CODEX = sorted(LOGS.glob("codex-*"))
GROK = sorted(LOGS.glob("grok-*"))
EVERY_SET = pytest.mark.parametrize("folder", [*CODEX, *GROK], ids=lambda folder: folder.name)
MODULES: dict[str, AgentModule] = {"codex": codex, "grok": grok}  # type: ignore[dict-item]  # modules as protocol


def expected_files(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "expected-turns.json").read_text("utf-8"))


def corpus(agent: str) -> list[dict[str, Any]]:
    index = CORPUS / "expected-turns.json"
    files = json.loads(index.read_text("utf-8"))["files"] if index.is_file() else []
    return [entry for entry in files if entry["agent"] == agent]


def read(module: AgentModule, file: SessionFile) -> tuple[list[Turn | SessionMark], ReaderState, Lines]:
    state, lines = module.open_session(file), Lines()
    with file.path.open("rb") as handle:
        return list(module.read(read_records(handle, lines), state)), state, lines


def turns(items: list[Turn | SessionMark]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def module_of(folder: Path) -> AgentModule:
    return MODULES[folder.name.partition("-")[0]]


@EVERY_SET
def test_every_file_gives_the_turns_that_were_on_the_screen(folder):
    module = module_of(folder)
    expected = {folder / entry["file"]: entry for entry in expected_files(folder)}
    listed = {file.path: file for file in module.session_files(folder, ["/"])}

    for path, entry in expected.items():
        found, state, lines = read(module, listed[path])
        assert [(str(turn.actor), turn.text, turn.source_ref or None) for turn in turns(found)] == [
            (turn["role"], turn["text"], turn["id"]) for turn in entry["turns"]
        ]
        assert {turn.source_session_id for turn in turns(found)} == {entry["session_id"]}
        assert sorted({turn.cwd for turn in turns(found)}) == sorted(entry["cwds"])
        assert all(turn.said_at for turn in turns(found))
        assert (state.unknown, lines.bad) == ({}, [])


@EVERY_SET
def test_files_of_sub_agents_give_nothing(folder):
    """They are the files that nobody expects a turn of."""
    module = module_of(folder)
    expected = {folder / entry["file"] for entry in expected_files(folder)}

    for file in module.session_files(folder, ["/"]):
        if file.path not in expected:
            assert read(module, file)[0] == []


@EVERY_SET
def test_a_workspace_has_each_turn_once(folder):
    """In these talks no visible text comes twice within one conversation, so what is left after putting
    equal identities together is the set of texts.
    """
    if folder.name.endswith("-tui"):
        pytest.skip("some answers occur twice in the interactive sets")
    module = module_of(folder)
    found = [turn for file in module.session_files(folder, ["/"]) for turn in turns(read(module, file)[0])]

    identities = {turn_event_id(turn) for turn in found}

    assert len(identities) == len({(turn.cwd, turn.actor, turn.text) for turn in found})


@EVERY_SET
def test_sessions_start_once_and_compactions_are_counted_once(folder):
    module = module_of(folder)

    for file in module.session_files(folder, ["/"]):
        found = read(module, file)[0]
        kinds = [item.kind for item in found if isinstance(item, SessionMark)]
        assert kinds.count(MarkKind.STARTED) == bool(turns(found))
        assert kinds.count(MarkKind.COMPACTED) <= 1


@EVERY_SET
@pytest.mark.parametrize("step", [1, 3, 17])
def test_reading_in_pieces_gives_what_reading_at_once_gives(folder, step):
    module = module_of(folder)

    for file in module.session_files(folder, ["/"]):
        expected = read(module, file)[0]
        state, found = module.open_session(file), []
        with file.path.open("rb") as handle:
            records = list(read_records(handle, Lines()))
        for start in range(0, len(records), step):
            found += module.read(records[start : start + step], state)
            state = msgspec.json.decode(msgspec.json.encode(state), type=module.State)
        assert found == expected


@pytest.mark.parametrize("folder", GROK, ids=lambda folder: folder.name)
def test_grok_folders_are_narrowed_to_the_workspace(folder):
    """A session in another workspace is not even opened."""
    asked = "/home/dev/projects/tea shop v1.2"

    for file in grok.session_files(folder, [asked]):
        assert grok.open_session(file).cwd.startswith(asked)


@pytest.mark.parametrize("folder", CODEX, ids=lambda folder: folder.name)
def test_the_history_of_the_model_would_give_the_same_conversation(folder):
    """What the fall-back is worth: without its events a file gives the same texts, as long as nothing was
    compacted (the summary looks like an answer) and no notice of the program is among them.
    """
    for file in codex.session_files(folder, ["/"]):
        expected = read(codex, file)[0]  # type: ignore[arg-type]  # a module as protocol
        if any(item.kind is MarkKind.COMPACTED for item in expected if isinstance(item, SessionMark)):
            continue
        with file.path.open("rb") as handle:
            items = [record for record in read_records(handle, Lines()) if record["type"] != "event_msg"]
        found = list(codex.read(items, codex.open_session(file)))
        assert [turn.text for turn in turns(found)] == [turn.text for turn in turns(expected)]


@pytest.mark.parametrize("entry", corpus("codex"), ids=lambda entry: Path(entry["file"]).stem)
def test_public_rollouts_give_the_turns_that_were_counted(entry):
    path = CORPUS / entry["file"]
    file = SessionFile(path=path, session_id=path.stem)
    found, state, lines = read(codex, file)  # type: ignore[arg-type]  # a module as protocol
    said = turns(found)

    assert (state.unknown, lines.bad) == ({}, [])
    assert state.session_id == entry["session_id"]
    if not entry.get("exact", True):
        return  # cut down by hand to values that contradict each other
    assert sum(turn.actor == "user" for turn in said) == entry["user"]
    assert sum(turn.actor == "assistant" for turn in said) == entry["assistant"]
    assert {turn.cwd for turn in said} <= set(entry["cwds"])
    words = b"".join(f"{turn.actor}\0{turn.text}\0".encode() for turn in said)
    assert hashlib.sha256(words).hexdigest() == entry["sha256"]
    assert read(codex, file)[0] == found  # type: ignore[arg-type]  # a module as protocol


def test_a_fixture_of_antigravity_gives_its_two_turns():
    """Cut down by hand by another project; there are no real logs of this agent."""
    path = CORPUS / "multi-agent" / "antigravity" / "cli_small.jsonl"
    if not path.is_file():
        pytest.skip("the corpus has no such file")

    found, state, lines = read(antigravity, SessionFile(path=path, session_id="c", cwd="/tmp/repo"))  # type: ignore[arg-type]  # a module as protocol

    assert [turn.text for turn in turns(found)] == [
        "List the files.",
        "The directory contains a.txt and b.txt.",
    ]
    assert (state.unknown, lines.bad) == ({}, [])
