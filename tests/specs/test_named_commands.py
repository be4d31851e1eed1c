"""Every command that we tell somebody to run exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conversation_esaa.cli.main import ALIASES, COMMANDS

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"`(?:conversation-esaa|cesaa) ([a-z-]+)")
OPTIONS = {"--version", "--help"}


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.relative_to(ROOT).as_posix())
        for folder, pattern in (("src", "*.py"), ("docs", "*.md"), (".", "*.md"))
        for path in sorted((ROOT / folder).glob(f"**/{pattern}" if folder != "." else pattern))
        if ".venv" not in path.parts
    ],
)
def test_a_hint_names_a_command_that_is_there(path: Path) -> None:
    """A mend that cannot be run is worse than none."""
    named = set(NAMED.findall(path.read_text("utf-8")))

    assert named <= {*COMMANDS, *ALIASES, *OPTIONS}
