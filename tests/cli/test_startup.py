"""What a command imports: start-up is what is paid at each of a hundred calls a day."""

import subprocess
import sys

import pytest

from builders.world import World
from conversation_esaa.capture.cursors import Cursor, Stat, SyncState
from conversation_esaa.events import ConversationTurn, SessionCompacted, SessionEnded, SessionStarted
from conversation_esaa.lookup import FileStat, Published
from conversation_esaa.projections.conversation import Conversation, Message, Session, Voice
from conversation_esaa.projections.decisions import Decision
from conversation_esaa.projections.goal import Goal
from conversation_esaa.projections.standing import Brief, Standing
from conversation_esaa.projections.tasks import Task
from conversation_esaa.projections.topics import Listed
from conversation_esaa.settings import CaptureSettings, Settings


def loaded_by(world: World, code: str) -> set[str]:
    """The modules that are there when `code` has run in a fresh process."""
    told = "\nimport sys; sys.stderr.write(' '.join(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", code + told],
        cwd=world.project,
        env=world.process_environ(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return set(ran.stderr.split())


def imported(world: World, *argv: str) -> set[str]:
    """The modules that a command line loads, and a bare interpreter does not."""
    code = f"from conversation_esaa.cli.main import main; main({list(argv)!r})"
    return loaded_by(world, code) - loaded_by(world, "")


@pytest.fixture
def ready(world: World) -> World:
    world.claude().user("Which port?").assistant("It is 8080.")
    world.run("up")
    return world


def test_the_version_loads_nothing_but_the_table_of_commands(ready):
    """Scripts ask for it to see whether the tool is there; it costs little more than the interpreter."""
    assert imported(ready, "--version") == {
        "__future__",
        "conversation_esaa",
        "conversation_esaa.cli",
        "conversation_esaa.cli.main",
    }


@pytest.mark.parametrize(
    "command", ["context", "handoff", "status", "sync", "show last", "goal", "task list"]
)
def test_no_command_loads_what_it_does_not_use(ready, command):
    """A library that is pulled in by accident is found here, not by a user with a slow disk."""
    loaded = imported(ready, *command.split())

    heavy = {"rich", "asyncio", "dataclasses", "http.client", "urllib.request", "unittest", "ssl"}
    unneeded = {"shutil", "bz2", "lzma", "zipfile", "email", "logging", "subprocess", "tempfile", "textwrap"}
    # What the one library we stand on loads itself is not ours to save.
    assert not (heavy | unneeded) & (loaded - loaded_by(ready, "import msgspec"))
    assert command != "sync" or "sqlite3" not in loaded  # nothing new needs no index


def test_one_command_does_not_load_another(ready):
    """The table of commands is lazy."""
    loaded = imported(ready, "context")

    assert {name for name in loaded if name.startswith("conversation_esaa.cli.commands.")} == {
        "conversation_esaa.cli.commands.context"
    }
    assert not any(name.startswith("conversation_esaa.forensic") for name in loaded)


def test_one_new_turn_loads_no_agent_but_its_own(ready):
    """Twenty-eight agents, and what some of them need, cost what one does."""
    ready.claude("further").user("And the host?")

    loaded = imported(ready, "sync")

    agents = {name.rpartition(".")[2] for name in loaded if name.startswith("conversation_esaa.agents.")}
    its_own = {"claude_code", "claude_code_files", "claude_code_words"}
    assert agents == its_own | {"jsonl", "listing", "plugins", "registry", "resume", "storage"}
    unneeded = {"hashlib", "shlex", "unicodedata", "json", "argparse", "binascii"}
    assert unneeded & (loaded - loaded_by(ready, "import msgspec")) == set()


@pytest.mark.parametrize(
    "kind",
    [
        *(ConversationTurn, SessionStarted, SessionEnded, SessionCompacted),
        *(SyncState, Cursor, Stat, Settings, CaptureSettings, Published, FileStat),
        *(Brief, Standing, Decision, Task, Goal, Listed, Conversation, Voice, Session, Message),
    ],
)
def test_what_every_turn_decodes_is_declared_with_types_and_not_with_their_names(kind):
    """For a decoder each name is compiled and looked up: three hundred of them took a twentieth of a short command.
    So their modules do without `from __future__ import annotations`.
    """
    declared = [
        annotation for base in kind.__mro__ for annotation in vars(base).get("__annotations__", {}).values()
    ]

    assert declared
    assert not [annotation for annotation in declared if isinstance(annotation, str)]
