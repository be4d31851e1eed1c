"""The guides are true: every command in them is run, and what they show is what is printed.

A `console` block holds commands after `$ ` and, below each, lines or parts of lines of what it prints, in their
order. A `python` block is run as it stands. A `sh` block is for the reader's own machine and is not run.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from builders.world import World
from conversation_esaa.workspace import Workspace

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = ["tutorial.md", *(f"how-to/{path.name}" for path in sorted((DOCS / "how-to").glob("*.md")))]
ELSEWHERE = {"how-to/add-an-agent.md"}  # its code is a package of its own: tests/agents/test_plugins.py
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(guide: str, kind: str) -> list[str]:
    return [text for found, text in BLOCK.findall((DOCS / guide).read_text("utf-8")) if found == kind]


@pytest.fixture
def ferry(world: World, tmp_path: Path) -> Path:
    """The demo's project, as the guides begin in it."""
    assert world.run("demo", "--keep", str(tmp_path / "ferry-demo")).code == 0
    return tmp_path / "ferry-demo" / "ferry"


def appear_in_order(shown: list[str], printed: str) -> bool:
    at = 0
    for line in shown:
        at = printed.find(line.strip(), at)
        assert at >= 0, f"{line!r} is not in what was printed, or not there:\n{printed}"
        at += len(line.strip())
    return True


@pytest.mark.parametrize("guide", [guide for guide in GUIDES if blocks(guide, "console")])
def test_every_command_of_a_guide_prints_what_the_guide_shows(world, ferry, tmp_path, guide):
    """A stranger who types along and sees something else stops there."""
    present = tmp_path / "reader" if guide == "tutorial.md" else ferry
    present.mkdir(exist_ok=True)
    for block in blocks(guide, "console"):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, *shown = step.strip().splitlines()
            words = shlex.split(line)
            if words[0] == "cd":
                present = present / words[1]
                assert present.is_dir()
                continue
            if words == ["conversation-esaa", "up"] and not (present / ".conversation-esaa").exists():
                continue  # part of what the demo shows
            assert words[0] == "conversation-esaa"
            ran = world.run(*words[1:], present=present)
            assert (ran.code, ran.err) == (0, ""), line
            assert appear_in_order(shown, ran.out)


@pytest.mark.parametrize(
    "guide", [guide for guide in GUIDES if blocks(guide, "python") and guide not in ELSEWHERE]
)
def test_every_snippet_of_a_guide_runs(world, ferry, guide):
    """In one process, one after the other, as a reader pastes them."""
    code = "\n".join(blocks(guide, "python"))

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=ferry,
        env=world.process_environ(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "DEC-0003" in ran.stdout


def test_the_reference_names_every_call_of_workspace():
    """A public method without a place in the reference is a method that nobody finds."""
    text = (DOCS / "reference" / "python-api.md").read_text("utf-8")
    parts = (
        vars(part)
        for part in Workspace.__mro__
        if part.__name__ in ("Workspace", "Appended", "Curated", "Hooked")
    )
    public = {name for part in parts for name in part if not name.startswith("_")}

    known = public - {"curate"}  # what the recording calls are made of
    assert {name for name in known if f"`{name}(" not in text and f"Workspace.{name}(" not in text} == set()


@pytest.mark.parametrize(
    "path", [DOCS / guide for guide in GUIDES] + [DOCS / "reference" / "python-api.md"], ids=str
)
def test_links_lead_somewhere(path):
    """Within the documentation."""
    for target in re.findall(r"\]\(([^)#]+)", path.read_text("utf-8")):
        if "://" not in target:
            assert (path.parent / target).exists(), target
