"""The reference pages say what the program does: every command, option, field, error and finding code."""

from __future__ import annotations

import argparse
import importlib
import io
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import conversation_esaa
from builders.harmed import Harmed
from conversation_esaa.cli.call import COMMON
from conversation_esaa.cli.main import COMMANDS, parser_for
from conversation_esaa.errors import ConversationError
from conversation_esaa.forensic.findings import CODES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from builders.world import World

DOCS = Path(__file__).parents[2] / "docs" / "reference"
COMMAND_LINE = (DOCS / "command-line.md").read_text("utf-8")


def sections() -> dict[str, str]:
    """Heading → text, for headings that are a command."""
    parts = re.split(r"^##+ (.+)$", COMMAND_LINE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def rows(text: str, first_column: str) -> Iterator[str]:
    """The first cells of the tables that have this heading."""
    inside = False
    for line in text.splitlines():
        if line.startswith(f"| {first_column} |"):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|--"):
            yield re.split(r"(?<!\\)\|", line)[1]


def actions() -> dict[str, set[str]]:
    """Command, or command with its action → long options of its own."""
    found = {}
    for name in COMMANDS:
        parser = parser_for(name)
        subs = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
        for sub in subs:
            found |= {f"{name} {action}": options(child) for action, child in sub.choices.items()}
        found[name] = options(parser)
    return found


def options(parser: argparse.ArgumentParser) -> set[str]:
    own = [action for action in parser._actions if action.dest not in {*COMMON, "help"}]
    return {option for action in own for option in action.option_strings}


def test_every_command_and_action_has_its_section_in_the_order_of_help():
    documented = [heading.strip("`") for heading in sections() if heading.startswith("`")]

    assert [heading for heading in documented if " " not in heading] == list(COMMANDS)
    assert set(documented) == set(actions())


@pytest.mark.parametrize("name", actions())
def test_every_option_is_documented_and_no_other(name: str):
    told = re.findall(r"`(--[a-z-]+)", "".join(rows(sections()[f"`{name}`"], "option")))

    assert set(told) == actions()[name]


def test_the_common_options_are_documented_once():
    told = re.findall(r"`(--?[A-Za-z-]+)", "".join(rows(sections()["Common options"], "option")))
    common = [a for a in parser_for("up")._actions if a.dest in {*COMMON, "help"}]

    assert set(told) == {option for action in common for option in action.option_strings}


CALLS = {
    "enable-hooks": "enable-hooks --agent codex",
    "disable-hooks": "disable-hooks --all",
    "watch": "watch --status",
    "capture": "capture --from-stdin --agent mine --actor user --key 1",
    "doctor": "doctor --no-proof",
    "show": "show last",
    "decide": "decide So",
    "task create": "task create More",
    "task update": "task update CONV-001 --status blocked",
    "task close": "task close CONV-001",
    "task reopen": "task reopen CONV-001",
    "task show": "task show CONV-001",
    "topic create": "topic create Hosts",
    "topic update": "topic update TOP-001 --status paused",
    "topic link": "topic link TOP-001 --event last",
    "topic unlink": "topic unlink TOP-001 --task CONV-001",
    "topic close": "topic close TOP-001",
    "topic show": "topic show TOP-001",
}


@pytest.mark.parametrize("name", [name for name in actions() if name not in ("task", "topic")])
def test_every_field_of_an_answer_is_documented_and_no_other(
    world: World, name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Hello.")))
    harmed = Harmed(world)
    if name == "task reopen":
        harmed.workspace.close_task("CONV-001")
    if name == "topic link":
        harmed.workspace.unlink("TOP-001", events=["last"])

    ran = world.run(*CALLS.get(name, name).split(), "--json")

    told = re.findall(r"`(\w+)`", "".join(rows(sections()[f"`{name}`"], "field")))
    assert ran.err == ""
    assert set(ran.json) == {"schema", *told}


def errors() -> dict[str, int]:
    """Code → exit code of every error class there is."""
    for module in pkgutil.walk_packages(conversation_esaa.__path__, "conversation_esaa."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, left = {}, [ConversationError]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        if kind.__module__.startswith("conversation_esaa."):
            found[kind.code] = kind.exit_code
    return found


def test_every_error_code_is_documented_with_its_exit_code():
    told = {}
    for line in sections()["Errors"].splitlines():
        cells = line.split("|")
        for code in re.findall(r"`([\w.]+)`", cells[1]) if len(cells) == 5 else []:
            told[code] = int(cells[2])

    assert told == errors()


def test_every_finding_code_is_documented_with_its_severity_and_its_mend():
    page = (DOCS / "verify.md").read_text("utf-8")
    told = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 4:
            told[cells[0].strip("`")] = (cells[1], cells[3])

    assert told == {code: (str(kind.severity), kind.mend or "—") for code, kind in CODES.items()}


def test_no_page_points_to_a_page_that_is_not_there():
    for page in ("command-line.md", "verify.md"):
        for target in re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", (DOCS / page).read_text("utf-8")):
            assert (DOCS / target).exists(), target
