"""A throw-away machine with real agents on it, and a stub that answers them.

An agent that is not installed and cannot be installed here skips its test and says why; nothing else does.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from builders.world import Ran, World
from real_agents.programs.catalogue import AGENTS
from real_agents.programs.pinned import NotInstalled, executable, pin
from real_agents.programs.running import end_all
from real_agents.stub.server import Stub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from real_agents.programs.agent import Agent


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A home, and a git repository whose name no agent can take as it is for a folder of its own."""
    world = World(tmp_path, project="tea shop v1.2")
    subprocess.run(["git", "init", "--quiet"], cwd=world.project, check=True, env=world.process_environ())
    yield world
    end_all(world.home)


@pytest.fixture
def stub() -> Iterator[Stub]:
    """What answers in the place of every vendor's model."""
    with Stub() as stub:
        yield stub
    assert stub.faults == []


@pytest.fixture
def agent(world: World, stub: Stub) -> Callable[[str], Agent]:
    """An agent by name, installed and configured; the test is skipped when it cannot be had."""

    def brought(name: str) -> Agent:
        try:
            program = executable(pin(name))
        except NotInstalled as reason:
            pytest.skip(f"REAL AGENT NOT TRIED: {reason}")
        return AGENTS[name](program, world, stub)

    return brought


@pytest.fixture
def cesaa(world: World) -> Callable[..., Ran]:
    """Our command in a process of its own, as a developer in the project would run it."""

    def ran(*words: str) -> Ran:
        ended = world.wait(world.process(*words))
        assert ended.code == 0, (words, ended.out, ended.err)
        return ended

    return ran
