"""Agents whose logs are append-only JSONL, from end to end: each is held to the same.

A new one adds a line to TALKS, and one to FORKS when its forks copy the history. What is special to one is
told in tests/agents.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from builders import copilot_cli, droid, kimi, kimi_code, pi
from conversation_esaa.agents.registry import agent

if TYPE_CHECKING:
    from collections.abc import Callable

    from builders.world import World


def pi_session(cwd: str) -> Any:
    return pi.Session(cwd=cwd)


def copilot_cli_session(cwd: str) -> Any:
    return copilot_cli.Session(cwd=cwd)


def droid_session(cwd: str) -> Any:
    return droid.Session(cwd=cwd)


def kimi_session(cwd: str) -> Any:
    return kimi.Session(cwd=cwd)


def kimi_code_session(cwd: str) -> Any:
    return kimi_code.Session(cwd=cwd)


TALKS: dict[str, Callable[[str], Any]] = {
    "copilot-cli": copilot_cli_session,
    "droid": droid_session,
    "kimi": kimi_session,
    "kimi-code": kimi_code_session,
    "pi": pi_session,
}
FORKS = ("droid", "kimi", "kimi-code", "pi")

EVERY_AGENT = pytest.mark.parametrize("name", TALKS)


def talk(name: str, world: World, cwd: str = "") -> Any:
    """A session in the project, with one question and one answer, and all that is hidden around them."""
    return TALKS[name](cwd or str(world.project)).typed("Name a herb.").answered("Mint.")


def save(session: Any, name: str, world: World) -> Path:
    return session.save(agent(name).home({}, world.home))


def texts(world: World) -> list[str]:
    return [text for _, text in world.said()]


def nothing_leaked(world: World) -> bool:
    return not any(b"CANARY" in content for content in world.bytes_of_store().values())


@EVERY_AGENT
def test_what_was_said_is_captured_and_what_was_hidden_is_nowhere(name, world: World):
    """FC-E04, FC-K01."""
    save(talk(name, world), name, world)

    report = world.sync()

    assert world.said() == [("user", "Name a herb."), ("assistant", "Mint.")]
    assert {turn.source for turn in world.turns()} == {name}
    assert (report.partial, world.agent(name, report).unknown) == (False, {})
    assert nothing_leaked(world)


@EVERY_AGENT
def test_capturing_again_adds_nothing_also_without_cursors(name, world: World):
    """FC-D06."""
    save(talk(name, world), name, world)
    world.sync()

    again = world.sync()
    (world.store / "sync-state.json").unlink()
    anew = world.sync(full=True)

    assert (again.captured, anew.captured) == (0, 0)
    assert texts(world) == ["Name a herb.", "Mint."]


@EVERY_AGENT
def test_a_session_that_grows_adds_what_is_new_in_order(name, world: World):
    """FC-D07, FC-F04: a look between a question and its answer."""
    session = talk(name, world).typed("Another?")
    save(session, name, world)
    world.sync()

    save(session.answered("Sage."), name, world)
    world.sync()

    assert texts(world) == ["Name a herb.", "Mint.", "Another?", "Sage."]


@EVERY_AGENT
def test_a_line_that_is_still_being_written_is_waited_for(name, world: World):
    """FC-A02."""
    path = save(talk(name, world).typed("Another?").answered("Sage."), name, world)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"Another?")])
    world.sync()
    seen = texts(world)

    path.write_bytes(whole)
    world.sync()

    assert seen == ["Name a herb.", "Mint."]
    assert texts(world) == ["Name a herb.", "Mint.", "Another?", "Sage."]


@EVERY_AGENT
def test_damaged_lines_hide_no_good_ones(name, world: World):
    """FC-A01, FC-A04, FC-C01, FC-N15: padding, blank lines, half a character, nesting without end."""
    path = save(talk(name, world).typed("half \ud83d").answered("Sage."), name, world)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[-2:-2] = [b"\0" * 900 + b"\n", b"\n", b'{"type":' + b"[" * 10_000 + b"\n", b'{"type": "mess\n']
    path.write_bytes(b"".join(lines))
    (path.parent / "empty.jsonl").touch()

    world.sync()

    assert texts(world) == ["Name a herb.", "Mint.", "half \ufffd", "Sage."]


@EVERY_AGENT
def test_a_byte_order_mark_hides_nothing(name, world: World):
    """FC-C02."""
    path = save(talk(name, world), name, world)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    world.sync()

    assert texts(world) == ["Name a herb.", "Mint."]


@EVERY_AGENT
def test_a_rewritten_first_line_or_one_put_in_makes_no_turn_twice(name, world: World):
    """FC-D04: a title that changes replaces the first line, and so the file."""
    path = save(talk(name, world), name, world)
    world.sync()
    lines = path.read_text("utf-8").splitlines()
    lines[0] = json.dumps({**json.loads(lines[0]), "title": "A title of another length"})
    lines.insert(1, json.dumps({"type": "note of a later version"}))

    path.write_text("\n".join(lines) + "\n", "utf-8")
    report = world.sync()

    assert report.captured == 0
    assert texts(world) == ["Name a herb.", "Mint."]


@EVERY_AGENT
def test_our_own_handoff_never_comes_back_as_somebodys_words(name, world: World):
    """FC-E07: whatever put it into the prompt, the question stays and the handoff goes; no round makes it grow."""
    session = talk(name, world)
    sizes = []
    for number in range(4):
        save(session, name, world)
        world.sync()
        handoff = world.run("handoff").out
        sizes.append(len(handoff))
        session.typed(f"{handoff}\nQuestion {number}?").typed(handoff)
    save(session, name, world)
    world.sync()

    assert texts(world) == ["Name a herb.", "Mint.", *(f"Question {number}?" for number in range(4))]
    assert "injection_removed" in world.turns()[-1].flags
    assert max(sizes) < 2 * min(sizes)


@EVERY_AGENT
@pytest.mark.parametrize("elsewhere", ["2", "-data", "/../other"])
def test_a_session_in_another_directory_stays_out(name, world: World, elsewhere):
    """FC-G01, FC-G11, I4: names that begin alike are other directories."""
    save(talk(name, world, f"{world.project}{elsewhere}"), name, world)

    world.sync()

    assert texts(world) == []
    assert b"Mint." not in b"".join(world.bytes_of_store().values())


@EVERY_AGENT
def test_a_session_below_the_root_belongs_to_it(name, world: World):
    save(talk(name, world, str(world.project / "pkg")), name, world)

    world.sync()

    assert texts(world) == ["Name a herb.", "Mint."]


@EVERY_AGENT
def test_what_is_private_is_nowhere(name, world: World):
    """FC-K03."""
    save(talk(name, world).typed("Use <private>CANARY</private>the usual key."), name, world)

    world.sync()

    assert texts(world)[-1] == "Use the usual key."
    assert nothing_leaked(world)


@EVERY_AGENT
def test_a_session_that_is_deleted_keeps_its_turns(name, world: World):
    """FC-L02."""
    path = save(talk(name, world), name, world)
    world.sync()
    path.unlink()

    report = world.sync()

    assert not report.partial
    assert texts(world) == ["Name a herb.", "Mint."]


@pytest.mark.parametrize("name", FORKS)
@pytest.mark.parametrize("later", [False, True], ids=["in one run", "in a later run"])
def test_a_fork_adds_only_its_own_turns(name, world: World, later):
    """FC-D01."""
    parent = talk(name, world).typed("Shared <private>CANARY</private>question?")
    save(parent, name, world)
    if later:
        world.sync()
    save(parent.forked().typed("What if?").answered("Then sage."), name, world)

    world.sync()

    assert texts(world) == ["Name a herb.", "Mint.", "Shared question?", "What if?", "Then sage."]


def test_a_file_that_pi_migrated_to_new_ids_adds_nothing(world: World):
    """FC-D04: loading a session of version 1 rewrites it; entries get ids that they did not have."""
    session = pi.Session(version=1, cwd=str(world.project)).typed("Name a herb.").answered("Mint.")
    save(session, "pi", world)
    world.sync()

    save(session.migrated().typed("Another?"), "pi", world)
    world.sync()

    assert texts(world) == ["Name a herb.", "Mint.", "Another?"]


def test_a_pi_session_that_is_forked_out_of_another_project_brings_none_of_it(world: World):
    """I4, FC-D01: pi copies the whole history into the new directory's file."""
    other = f"{world.project}-other"
    parent = pi.Session(cwd=other).typed("A secret of the other one?").answered("CANARY.")
    save(parent, "pi", world)
    save(parent.forked(cwd=str(world.project)).typed("What if?").answered("Then sage."), "pi", world)

    world.sync()

    assert texts(world) == ["What if?", "Then sage."]
    assert nothing_leaked(world)
