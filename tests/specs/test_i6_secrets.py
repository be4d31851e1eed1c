"""I6: nothing but the log holds an unmasked secret. The next vendor's model reads every answer; a person may ask
for the original.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders.world import World

if TYPE_CHECKING:
    from collections.abc import Iterator

VECTORS = tomllib.loads((Path(__file__).parents[1] / "masking" / "vectors.toml").read_text("utf-8"))
PAIRS = [("".join(each["parts"]), each["text"]) for each in VECTORS["secret"]]
SECRETS = [pair for pair in PAIRS if len(pair[0]) >= 8]  # a shorter one is also a word that anybody uses

ANSWERS = (
    ["context", "--last", "500"],
    ["context", "--last", "500", "--full"],
    ["handoff", "--budget", "20000"],
    ["status"],
    ["stats"],
    ["goal"],
    ["show", "last"],
    ["show", "DEC-0001"],
    ["task", "list"],
    ["task", "show", "CONV-001"],
    ["topic", "list"],
    ["topic", "show", "TOP-001"],
    ["verify", "--deep"],
    ["sync", "--full"],
    ["project"],
    ["agents"],
)


def shows(output: str, secret: str) -> bool:
    """In plain words, or as JSON would escape them, or over several lines."""
    forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return any(form in output for form in forms)


@pytest.fixture(scope="module")
def told(tmp_path_factory) -> World:
    """Every kind of secret, said by a person, by an agent, and written down by both."""
    world = World(tmp_path_factory.mktemp("secrets"))
    claude, codex = world.claude(), world.codex()
    for secret, text in SECRETS:
        claude.user(text.replace("{}", secret))
        codex.assistant(f"I will use this:\n{text.replace('{}', secret)}\nand go on.")
    world.sync()
    workspace = world.workspace()
    everything = "\n".join(text.replace("{}", secret) for secret, text in SECRETS)
    workspace.set_goal(everything)
    workspace.decide(everything, rationale=everything, sources=["last"])
    workspace.create_task(everything, description=everything, next_step=everything)
    workspace.update_task("CONV-001", next_step=everything)
    workspace.create_topic(everything, summary=everything, events=["last"])
    return world


def answers(world: World) -> Iterator[tuple[str, str]]:
    for words in ANSWERS:
        for option in ([], ["--json"]):
            ran = world.run(*words, *option)
            assert ran.code in (0, 3), (words, ran.err)
            yield " ".join([*words, *option]), ran.out + ran.err


def test_no_answer_of_any_command_shows_a_secret(told: World):
    """FC-K02: text and JSON, brief and full."""
    for command, output in answers(told):
        assert [secret for secret, _ in SECRETS if shows(output, secret)] == [], command


def test_no_file_but_the_log_holds_a_secret(told: World):
    """FC-K02: read models, cursors, locks: `grep` finds it in one place."""
    files = told.bytes_of_store()
    for name, content in files.items():
        found = [secret for secret, _ in SECRETS if shows(content.decode("utf-8", "replace"), secret)]
        assert (found == []) == (name != "activity.jsonl"), name
    assert (told.store / "activity.jsonl").stat().st_mode & 0o077 == 0


def test_the_log_keeps_every_word(told: World):
    """Evidence stays verbatim: masking happens on the way out."""
    said = "\n".join(text for _, text in told.said())

    assert [secret for secret, _ in SECRETS if secret not in said] == []


def test_a_person_may_ask_for_the_original(told: World):
    """By name, one event at a time."""
    secret, text = SECRETS[0]
    event = next(turn.event_id for turn in told.turns() if turn.text == text.replace("{}", secret))

    assert secret in told.run("show", event, "--original").out
    assert secret not in told.run("show", event).out
