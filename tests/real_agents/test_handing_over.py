"""Hooks on, and nobody runs our command any more: what was said arrives, and the next agent is told.

Each agent is run as its user would run it without a terminal, in a project whose settings it trusts. Nothing waits
for a time: conditions are waited for, up to a bound.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from conversation_esaa.hooks.registry import MODULES
from real_agents.programs.catalogue import AGENTS
from real_agents.programs.running import of_home
from real_agents.stub.script import ASIDE, REASONING, Line

if TYPE_CHECKING:
    from collections.abc import Callable

    from builders.world import World
    from real_agents.stub.server import Stub

pytestmark = [pytest.mark.real_agents, pytest.mark.slow]

HOOKED = sorted(set(AGENTS) & set(MODULES))
BEGINS, ENDS = "[conversation-esaa handoff begin seq=", "[conversation-esaa handoff end seq="

SHADE = Line("Which herbs grow in the shade?", "Mint and chervil.", reasoning=True)
BEDS = Line("Count the beds for me.", "Twelve beds.", first="I will count them.", command="echo twelve")
WATER = Line("How much water do they need?", "Ten litres every second day.", reasoning=True)

# Each agent hands over to the next one, and each that can be told at a start is told.
PAIRS = [(HOOKED[place - 1], name) for place, name in enumerate(HOOKED)]


def wait_for(condition: Callable[[], bool], most_s: float = 30) -> bool:
    """Whether a condition comes true in that time."""
    ends = time.monotonic() + most_s
    while not condition():
        if time.monotonic() > ends:
            return False
        time.sleep(0.02)
    return True


def ours(world: World) -> dict[int, str]:
    """Processes that we have started on this machine and that still run."""
    return {pid: words for pid, words in of_home(world.home).items() if "conversation_esaa" in words}


def arrived(world: World, turns: list[tuple[str, str]]) -> None:
    """What was said is in the log without a word from us, once and in order, and nobody works any more."""
    wait_for(lambda: len(world.said()) >= len(turns))
    assert wait_for(lambda: not ours(world)), ours(world)
    assert world.said() == turns, hook_log(world)
    assert not list((world.store / "run" / "spool").iterdir())


def hook_log(world: World) -> str:
    """What hook calls had to complain about."""
    log = world.store / "run" / "hook.log"
    return log.read_text("utf-8") if log.exists() else "no hook.log"


def tree(world: World) -> dict[str, bytes]:
    """Every file of the project but those of our store."""
    return {
        path.relative_to(world.project).as_posix(): path.read_bytes()
        for path in sorted(world.project.rglob("*"))
        if path.is_file() and not {world.store, world.project / ".git"} & {*path.parents}
    }


def handed_over(stub: Stub, line: Line) -> list[str]:
    """The prompts that stand in the handoff with which the model was asked for `line`.

    In the newest one: a session that goes on may still have that of its start before it.
    """
    handoffs = [request.words.split(BEGINS)[1:] for request in stub.asked(line)]
    newest = [parts[-1].split(ENDS)[0] for parts in handoffs if parts]
    return [other.prompt for other in (SHADE, WATER) if any(other.prompt in text for text in newest)]


@pytest.mark.parametrize("name", HOOKED)
def test_with_hooks_what_is_said_arrives_by_itself(agent, world, cesaa, name):
    """In settings that have something in them, the project's own where there are such: a session, and its resume
    with a tool. When hooks are taken out again, those settings are as they were, byte for byte, and so is every
    file of the project.
    """
    it = agent(name)
    path, content = it.settings
    settings = (world.project if it.scope == "project" else world.home) / path
    if not settings.exists():
        settings.parent.mkdir(parents=True)
        settings.write_bytes(content.encode())
    before = settings.read_bytes(), tree(world)
    cesaa("init")
    cesaa("enable-hooks", "--agent", name, "--scope", it.scope, "--inject")

    it.say(SHADE)
    arrived(world, it.said(SHADE))
    it.say(BEDS, goes_on=True)
    arrived(world, it.said(SHADE, BEDS))

    log = world.bytes_of_store()["activity.jsonl"]
    assert not [words for words in (REASONING, ASIDE, BEGINS) if words.encode() in log]
    cesaa("disable-hooks", "--agent", name)
    left = {path: content for path, content in tree(world).items() if path not in it.leaves}
    assert (settings.read_bytes(), left) == before
    assert hook_log(world) == "no hook.log"


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_second_agent_is_told_what_was_said_to_the_first(agent, world, stub, cesaa, first, second):
    """In the settings that our command chooses. The request that reaches the model has the handoff in it, with the
    first agent's words; our log has not. The first agent goes on afterwards, and is told of the second in its turn.
    """
    one, other = agent(first), agent(second)
    cesaa("init")
    cesaa("enable-hooks", "--agent", first, "--agent", second, "--inject")

    one.say(SHADE)
    arrived(world, one.said(SHADE))
    other.say(WATER)
    arrived(world, [*one.said(SHADE), *other.said(WATER)])

    assert handed_over(stub, WATER) == ([SHADE.prompt] if other.injects else [])
    assert all(request.words.count(BEGINS) <= 1 for request in stub.asked(WATER))

    one.say(BEDS, goes_on=True)
    arrived(world, [*one.said(SHADE), *other.said(WATER), *one.said(BEDS)])
    assert WATER.prompt in handed_over(stub, BEDS) or not one.injects

    assert BEGINS.encode() not in world.bytes_of_store()["activity.jsonl"]


def test_grok_runs_the_hooks_of_claude_code_too(agent, world, cesaa):
    """Each event comes twice, once in the name of another agent; the turns come once, as Grok's."""
    it = agent("grok")
    cesaa("init")
    cesaa("enable-hooks", "--agent", "claude-code", "--agent", "grok", "--scope", "project", "--inject")

    it.say(SHADE)
    arrived(world, it.said(SHADE))

    assert {turn.source for turn in world.turns()} == {"grok"}
