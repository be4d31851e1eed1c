"""Claude Code: real session files of seven versions, and public ones of many more, against what they hold.

The files lie in a folder `shared` beside the repository; without it these tests are skipped.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conversation_esaa.agents import claude_code, jsonl
from conversation_esaa.agents.registry import SessionFile
from conversation_esaa.ids import turn_event_id
from conversation_esaa.turn import SessionMark, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

SHARED = Path(__file__).resolve().parents[3] / "shared"
REAL_LOGS = SHARED / "real-logs"
CORPUS = SHARED / "corpus"

pytestmark = [
    pytest.mark.outside,
    pytest.mark.skipif(
        not REAL_LOGS.is_dir(), reason="there is no folder `shared/real-logs` beside the repository"
    ),
]

# Where the format page proves an expectation wrong: file → why. None is known.
CORRECTIONS: dict[str, str] = {}


def real_files() -> list[tuple[str, dict[str, Any]]]:
    return [
        (expected.parent.name, file)
        for expected in sorted(REAL_LOGS.glob("claude-code-*/expected-turns.json"))
        for file in json.loads(expected.read_bytes())
    ]


def corpus_files() -> list[dict[str, Any]]:
    expected = CORPUS / "expected-turns.json"
    files = json.loads(expected.read_bytes())["files"] if expected.is_file() else []
    return [file for file in files if file["agent"] == "claude-code"]


def found_in(path: Path) -> Iterator[tuple[int, Turn | SessionMark]]:
    """What a file gives, with the number of the line that gave it (of a prompt that waits: its answer's)."""
    lines = jsonl.Lines()
    with path.open("rb") as file:
        state = claude_code.open_session(SessionFile(path=path, session_id=path.stem))
        for found in claude_code.read(jsonl.read_records(file, lines), state):
            yield lines.line_no, found


def turns_in(path: Path) -> list[Turn]:
    return [found for _, found in found_in(path) if isinstance(found, Turn)]


@pytest.mark.parametrize(("agent_set", "file"), real_files(), ids=lambda value: str(value)[-60:-20])
def test_a_real_file_gives_exactly_the_turns_it_shows(agent_set, file):
    """Role, text, order, ids and session of every visible record, and of nothing else."""
    path = REAL_LOGS / agent_set / file["file"]

    turns = turns_in(path)

    assert [(turn.actor, turn.text, turn.source_ref, turn.message_ref) for turn in turns] == [
        (turn["role"], turn["text"], turn["id"], turn.get("message_id", "")) for turn in file["turns"]
    ]
    assert {turn.source_session_id for turn in turns} <= {file["session_id"]}
    assert {turn.cwd for turn in turns} <= set(file["cwds"])


@pytest.mark.parametrize(("agent_set", "file"), real_files(), ids=lambda value: str(value)[-60:-20])
def test_a_turn_of_a_real_file_comes_from_its_line(agent_set, file):
    """From 1.0.93 on nothing waits, so a turn comes out with the line it stands in."""
    if agent_set == "claude-code-1.0.65":
        pytest.skip("prompts of this version wait for their answer")

    found = found_in(REAL_LOGS / agent_set / file["file"])

    assert [line for line, item in found if isinstance(item, Turn)] == [
        turn["line"] for turn in file["turns"]
    ]


@pytest.mark.parametrize("agent_set", sorted({agent_set for agent_set, _ in real_files()}))
def test_the_files_of_a_home_give_each_turn_once(agent_set):
    """Resumes and forks copy history; after reading all files in order of time each text of a conversation
    is there once. The terminal sessions do say some things twice, under ids of their own."""
    home = REAL_LOGS / agent_set
    roots = sorted({cwd for name, file in real_files() if name == agent_set for cwd in file["cwds"]})
    files = list(claude_code.session_files(home, roots))
    known: set[str] = set()
    said: list[tuple[str, str, str]] = []
    for turns in sorted(
        (turns_in(file.path) for file in files), key=lambda turns: turns[-1].said_at if turns else ""
    ):
        for turn in turns:
            identities = {turn_event_id(turn), *turn.copy_keys}
            if known.isdisjoint(identities):
                said.append((turn.cwd.partition("/pkg")[0], turn.actor, turn.text))
            known |= identities

    distinct = {
        (turn.cwd.partition("/pkg")[0], turn.actor, turn.text)
        for file in files
        for turn in turns_in(file.path)
    }
    assert set(said) == distinct
    assert len(said) == len(distinct) or agent_set.endswith("-tui")


def test_the_files_of_sub_agents_are_not_found():
    """2.0.77 wrote fifteen of them for five prompts."""
    for agent_set in sorted({agent_set for agent_set, _ in real_files()}):
        files = claude_code.session_files(REAL_LOGS / agent_set, ["/"])

        expected = {file["file"] for name, file in real_files() if name == agent_set}
        assert {file.path.relative_to(REAL_LOGS / agent_set).as_posix() for file in files} == expected


@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file["file"][-40:])
def test_a_public_file_gives_the_turns_it_shows(file):
    """Versions 1.0.119 to 2.1.178, hand-made excerpts among them, which are read without a leak or a stop."""
    turns = turns_in(CORPUS / file["file"])

    joined = "".join(f"{turn.actor}\0{turn.text}\0" for turn in turns)
    counts = {role: sum(turn.actor == role for turn in turns) for role in ("user", "assistant")}
    assert counts == {"user": file["user"], "assistant": file["assistant"]}
    if file.get("exact", True):
        assert hashlib.sha256(joined.encode()).hexdigest() == file["sha256"]
        assert {turn.source_session_id for turn in turns} <= {file["session_id"]}
        assert {turn.cwd for turn in turns} <= set(file["cwds"])


@pytest.mark.parametrize("file", corpus_files(), ids=lambda file: file["file"][-40:])
def test_a_public_file_read_again_or_in_pieces_gives_the_same(file):
    """Identity must not depend on when somebody looked, and no turn of a file passes for another's copy."""
    path = CORPUS / file["file"]
    with path.open("rb") as handle:
        records = list(jsonl.read_records(handle, jsonl.Lines()))
    state = claude_code.open_session(SessionFile(path=path, session_id=path.stem))

    pieces = [found for record in records for found in claude_code.read([record], state)]

    assert pieces == [found for _, found in found_in(path)]
    known: set[str] = set()
    for turn in (found for found in pieces if isinstance(found, Turn)):
        identities = {turn_event_id(turn), *turn.copy_keys}
        assert known.isdisjoint(identities) or not file.get("exact", True)
        known |= identities


def test_every_line_type_of_every_file_is_known():
    """So `status` has nothing to report on what was seen when this was written."""
    unknown: dict[str, int] = {}
    paths = [REAL_LOGS / agent_set / file["file"] for agent_set, file in real_files()]
    for path in [*paths, *(CORPUS / file["file"] for file in corpus_files())]:
        state = claude_code.open_session(SessionFile(path=path, session_id=path.stem))
        with path.open("rb") as handle:
            list(claude_code.read(jsonl.read_records(handle, jsonl.Lines()), state))
        unknown |= state.unknown

    assert unknown == {}
