"""Arguments without a parser: the same as a parser would give, or none."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from conversation_esaa.cli.call import COMMON
from conversation_esaa.cli.defaults import Defaults, NeedsParser, without_parser
from conversation_esaa.cli.main import COMMANDS
from conversation_esaa.cli.parser import parsed

PLAIN = [name for name in COMMANDS if name not in ("show", "sample", "task", "topic")]


def module_of(name: str):
    return importlib.import_module(f"conversation_esaa.cli.commands.{COMMANDS[name][0]}")


@pytest.mark.parametrize("words", [[], ["--json"], ["--no-sync"], ["--no-sync", "--json", "--json"]])
@pytest.mark.parametrize("name", PLAIN)
def test_a_command_without_options_gets_what_a_parser_would_give(name: str, words: list[str]) -> None:
    """Two ways to one meaning: a command must not be able to tell which was taken."""
    found = without_parser(module_of(name).arguments, words, COMMON)

    assert vars(found) == vars(parsed(name, module_of(name), words))


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - set(PLAIN)))
def test_what_is_missing_is_for_the_parser_to_say(name: str) -> None:
    """It knows the words for it."""
    assert without_parser(module_of(name).arguments, [], COMMON) is None


@pytest.mark.parametrize("words", [["--last", "3"], ["-C", "."], ["--help"], ["--"], ["text"], ["--jso"]])
def test_any_other_word_takes_a_parser(words: list[str]) -> None:
    """Abbreviations, values and mistakes are its business."""
    assert without_parser(module_of("context").arguments, words, COMMON) is None


@pytest.mark.parametrize(
    ("names", "options"),
    [
        (("event",), {}),
        (("--id",), {"required": True}),
        (("--window",), {"type": int, "default": "3"}),
        (("--quiet",), {"action": "store_false"}),
        (("words",), {"nargs": "+"}),
    ],
)
def test_a_declaration_that_is_not_plain_takes_a_parser(names, options) -> None:
    """Whoever adds such an option later need not know of the short way."""
    with pytest.raises(NeedsParser):
        Defaults().add_argument(*names, **options)


def test_a_plain_command_loads_no_parser(world) -> None:
    """It costs as much as the command's own work."""
    world.run("up")
    code = "import sys; from conversation_esaa.cli.main import main; main(['handoff']); assert 'argparse' not in sys.modules"

    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=world.project, env=world.process_environ(), check=False, timeout=120
    )

    assert ran.returncode == 0
