"""How well each format is known: said for every agent, and the same in the README."""

from __future__ import annotations

import os
import re
from pathlib import Path

from conversation_esaa.agents.known import KNOWN, How, known, table
from conversation_esaa.agents.registry import MODULES, agent

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"(<!-- agents: [^\n]* -->\n).*?(<!-- /agents -->)", re.DOTALL)


def test_every_agent_has_its_line():
    assert list(KNOWN) == list(MODULES)


def test_a_version_that_ran_is_named():
    assert all(each.version for each in KNOWN.values() if each.how in (How.RUN, How.LOGS))


def test_another_package_s_agent_may_say_nothing():
    assert known("tea", object()).words() == "not stated"


def test_the_readme_has_the_same_table():
    """GOLDEN=write writes it."""
    text = README.read_text("utf-8")
    written = BLOCK.sub(
        lambda found: found[1] + table({name: agent(name).TITLE for name in MODULES}) + found[2], text
    )
    if os.environ.get("GOLDEN") == "write":
        README.write_text(written, encoding="utf-8", newline="")

    assert README.read_text("utf-8") == written
