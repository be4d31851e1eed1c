"""Fault cases C: encodings and Unicode, from end to end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from builders.world import World

HALF = "\ud83d"


def test_half_a_character_is_replaced_once_and_for_all(world: World):
    """FC-C01: every answer can be encoded, and a second look does not make it another turn."""
    claude = world.claude().user(f"done {HALF}").assistant("next")
    claude.write(claude.record("user", message={"role": "user", "content": "x"}, cwd=f"{claude.cwd}/{HALF}"))

    world.sync()
    before = world.bytes_of_store()
    world.sync(full=True)

    assert world.bytes_of_store() == before
    assert [text for _, text in world.said()] == ["done \ufffd", "next", "x"]
    assert "surrogates_replaced" in world.turns()[0].flags
    for command in ("context", "handoff", "status"):
        ran = world.run(command, "--json")
        assert ran.code == 0
        ran.out.encode()
    assert world.run("verify", "--deep").code == 0


def test_a_record_type_with_half_a_character_stops_nothing(world: World):
    """FC-C01: it is counted among what is not understood, in a file that must stay valid UTF-8."""
    claude = world.claude().user("one")
    claude.write(claude.record(f"odd {HALF}"))

    world.sync()
    again = world.sync()

    assert again.captured == 0
    json.loads(world.workspace().layout.sync_state.read_bytes())


def test_a_byte_order_mark_is_no_part_of_anything(world: World):
    """FC-C02: in a session file and in our own settings."""
    claude = world.claude()
    claude.path.write_bytes(b"\xef\xbb\xbf")
    claude.user("one")
    config = world.workspace().layout.config
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes())

    ran = world.run("sync")

    assert ran.code == 0
    assert world.said() == [("user", "one")]


@pytest.mark.parametrize("environ", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "POSIX"}])
def test_answers_are_utf_8_whatever_the_terminal_says(world: World, environ):
    """FC-C03: agents read our output; it must not depend on a locale."""
    world.claude().user("→ 日本語 😀 naïve")
    world.sync()

    text = world.wait(world.process("context", **environ))
    data = world.wait(world.process("context", "--json", **environ))

    assert (text.code, data.code) == (0, 0)
    assert "→ 日本語 😀 naïve" in text.out
    assert data.json["events"][-1]["text"] == "→ 日本語 😀 naïve"


CONTROLS = "a\x1b[2Jb\x1b]0;title\x07c\x07d\x08e\rf\x9bg\th\ni"


def test_terminal_controls_are_kept_in_the_log_and_take_effect_nowhere(world: World):
    """FC-C04: evidence stays as it was said; a screen shows it instead of obeying it."""
    world.claude().user(CONTROLS)

    world.sync()

    assert world.said() == [("user", CONTROLS)]
    outputs = [world.run(command).out for command in ("context", "handoff", "status", "sync")]
    outputs += [content.decode() for name, content in world.bytes_of_store().items() if name.endswith(".md")]
    outputs.append(world.run("show", "last").out)
    for output in outputs:
        assert not set(output) & set("\x1b\x07\x08\r\x9b")


@pytest.mark.parametrize("character", ["e\u0301", "👨‍👩‍👧‍👦", "🇯🇵", "ก็"])
def test_an_excerpt_never_ends_in_half_a_character(world: World, character):
    """FC-C05: cut on a boundary, with a marker and never with U+FFFD."""
    for shift in range(4):
        world.claude(f"s{shift}").user("x" * shift + character * 3_000)
    world.sync()

    handoff = world.run("handoff").out
    context = world.run("context", "--budget", "400").out

    assert "\ufffd" not in handoff + context
    assert world.run("handoff").code == 0
