"""What `--help` says, as whole texts: golden files. After a change that is meant, run with GOLDEN=write."""

import os
from pathlib import Path

import pytest

from conversation_esaa.cli.main import ALIASES, COMMANDS, parser_for

GOLDEN = Path(__file__).parent.parent / "golden" / "cli"
SUB_COMMANDS = [
    f"{name} {action}"
    for name, actions in (
        ("task", "create update close reopen list show"),
        ("topic", "create update link unlink close list show"),
    )
    for action in actions.split()
]


@pytest.mark.parametrize("name", ["overview", *COMMANDS, *SUB_COMMANDS])
def test_help_is_what_it_was(world, name):
    """People learn the tool from these texts; a change in them is a change to be seen."""
    world.environ["COLUMNS"] = "80"

    ran = world.run(*([] if name == "overview" else name.split()), "--help")

    assert (ran.code, ran.err) == (0, "")
    golden = GOLDEN / f"{name.replace(' ', '-')}.txt"
    if os.environ.get("GOLDEN") == "write":
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(ran.out, encoding="utf-8", newline="")
    assert ran.out == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*COMMANDS, *SUB_COMMANDS])
@pytest.mark.parametrize("columns", [20, 40, 60, 200])
def test_help_fits_the_screen(world, name, columns):
    """Half of a split terminal has forty columns. Examples are not broken: they are to be copied."""
    world.environ["COLUMNS"] = str(columns)

    told = world.run(*name.split(), "--help").out.partition("\nexamples:")[0]

    long = [line for line in told.splitlines() if len(line) > columns]
    assert all(len(line.split()) <= 4 for line in long), long  # a name alone may be longer


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_does(name):
    """Except where its name says it all."""
    obvious = {"title", "title_words", "summary", "description", "next_step", "id", "keyword", "status"}
    for action in parser_for(name)._actions:
        assert action.help or action.dest in obvious or action.dest == "action", action


@pytest.mark.parametrize("words", [["context", "-h"], ["help", "context"], ["--json", "context", "--help"]])
def test_help_is_found_wherever_it_is_asked_for(world, words):
    """Also without a workspace."""
    assert world.run(*words).out.startswith("usage: conversation-esaa context")


@pytest.mark.parametrize("words", [[], ["help"], ["--help"], ["-h"], ["--no-sync", "--help"]])
def test_the_overview_names_every_command(world, words):
    """The first thing a stranger types."""
    ran = world.run(*words)

    assert ran.code == 0
    assert all(f"\n  {name} " in ran.out for name in COMMANDS)
    assert max(map(len, ran.out.splitlines())) <= 80


def test_the_version_is_one_line(world):
    """For bug reports."""
    from conversation_esaa import __version__

    assert world.run("--version").out == f"conversation-esaa {__version__}\n"
    assert world.run("-V").out == f"conversation-esaa {__version__}\n"


def test_aliases_lead_to_commands():
    assert set(ALIASES.values()) <= set(COMMANDS)
