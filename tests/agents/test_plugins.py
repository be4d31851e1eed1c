"""Agents of other packages: found by what installers leave, and breaking nothing but themselves."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from builders.world import SOURCE, Ran, World
from conversation_esaa.agents import plugins

AGENT = '''
"""Tea writes a line for each thing said: `user: …` or `tea: …` in `~/.tea/log.jsonl`."""
from pathlib import Path
from conversation_esaa.agents.listing import is_file
from conversation_esaa.agents.registry import ReaderState, SessionFile
from conversation_esaa.turn import Actor, Turn

NAME, TITLE = "tea", "Tea"
KNOWN_INVISIBLE = frozenset({"thought"})
class State(ReaderState):
    pass

def home(environ, user_home):
    return Path(environ.get("TEA_HOME") or user_home / ".tea")

def session_files(home, roots):
    if is_file(home / "log.jsonl"):
        yield SessionFile(path=home / "log.jsonl", session_id="log")

def open_session(file):
    return State(session_id=file.session_id)

def read(records, state):
    for record in records:
        match record:
            case {"who": "user" | "tea" as who, "text": str(text), "cwd": str(cwd)} if text.strip():
                yield Turn(
                    source=NAME, source_session_id="log", source_index=state.source_index, text=text, cwd=cwd,
                    actor=Actor.USER if who == "user" else Actor.ASSISTANT,
                )
                state.source_index += 1
'''


def site(base: Path, name: str, entries: str, **modules: str) -> Path:
    """A directory that packages are installed into, with one in it."""
    directory = base / "site-packages"
    metadata = directory / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "entry_points.txt").write_text(textwrap.dedent(entries))
    for module, source in modules.items():
        (directory / f"{module}.py").write_text(source)
    return directory


def run(world: World, packages: Path, *words: str) -> Ran:
    environ = world.process_environ()
    environ["PYTHONPATH"] += f":{packages}" if sys.platform != "win32" else f";{packages}"
    process = subprocess.run(
        [sys.executable, "-m", "conversation_esaa", *words],
        cwd=world.project,
        env=environ,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Ran(process.returncode, process.stdout.decode(), process.stderr.decode())


TEA = """
    [console_scripts]
    tea = tea_agent:main

    [conversation_esaa.agents]
    # what Tea says
    tea = tea_agent
"""


def said(world: World, *texts: str) -> None:
    log = world.home / ".tea" / "log.jsonl"
    log.parent.mkdir(exist_ok=True)
    with log.open("a") as file:
        for text in texts:
            file.write(f'{{"who": "user", "text": "{text}", "cwd": "{world.project.as_posix()}"}}\n')


def test_an_agent_of_another_package_is_captured_like_ours(world, tmp_path):
    packages = site(tmp_path, "tea", TEA, tea_agent=AGENT)
    said(world, "Which port?", "And the host?")

    assert run(world, packages, "up").code == 0

    assert world.said() == [("user", "Which port?"), ("user", "And the host?")]
    assert "tea " in run(world, packages, "agents").out
    assert "Which port" in run(world, packages, "context", "--agent", "tea").out


def test_what_it_says_later_is_news_and_nothing_new_is_told_quickly(world, tmp_path):
    """The note on nothing new depends on what is installed, and on the agent's files."""
    packages = site(tmp_path, "tea", TEA, tea_agent=AGENT)
    run(world, packages, "up")
    assert run(world, packages, "sync").code == 0

    said(world, "Which port?")
    run(world, packages, "sync")

    assert world.said() == [("user", "Which port?")]


@pytest.mark.parametrize(
    "source",
    [
        "import nothing_like_that",
        "raise SystemExit(3)",
        "raise ValueError('Which port?')",
        "NAME = 'tea'",
        AGENT.replace("def session_files(home, roots):", "def session_files(home, roots):\n    1 / 0"),
        AGENT.replace("def read(records, state):", "def read(records, state):\n    1 / 0"),
    ],
    ids=["import", "exit", "raises", "empty", "session_files", "read"],
)
def test_a_broken_one_breaks_itself_alone(world, tmp_path, source):
    packages = site(tmp_path, "tea", TEA, tea_agent=source)
    world.claude().user("Which port?")
    said(world, "Unread.")

    for words in (["up"], ["sync", "--full"], ["status"], ["agents"], ["doctor", "--no-proof"], ["handoff"]):
        ran = run(world, packages, *words)
        assert ran.code in (0, 3), ran.err
        assert "Traceback" not in ran.err

    assert world.said() == [("user", "Which port?")]
    assert '"tea"' in run(world, packages, "status", "--json").out


def test_one_of_ours_cannot_be_replaced(world, tmp_path):
    packages = site(tmp_path, "evil", "[conversation_esaa.agents]\ncodex = evil\n", evil="raise SystemExit")
    world.codex().user("Which port?")

    run(world, packages, "up")

    assert world.said() == [("user", "Which port?")]


def test_without_its_package_the_log_is_read_as_before(world, tmp_path):
    """What a log gives does not depend on what is installed beside us."""
    packages = site(tmp_path, "tea", TEA, tea_agent=AGENT)
    said(world, "Which port?")
    run(world, packages, "up")

    assert world.run("project", "--check").code == 0
    assert world.run("context", "--agent", "tea").code == 0
    assert world.run("verify").code == 0


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ("[conversation_esaa.agents]\ntea = tea_agent\n", {"tea": "tea_agent"}),
        ("[conversation_esaa.agents]\ntea=a.b\n\n[other]\nx = y\n", {"tea": "a.b"}),
        ("[other]\ntea = tea_agent ; [conversation_esaa.agents]\n", {}),
        ("[conversation_esaa.agents]\nTea Time = x\ntea = os; import\n= x\ntea\n", {}),
        ("", {}),
    ],
)
def test_only_names_of_modules_in_our_group_count(tmp_path, entries, found):
    packages = site(tmp_path, "tea", entries)

    assert plugins.declared([str(packages)]) == found


def test_of_two_that_claim_a_name_the_first_on_the_path_has_it(tmp_path):
    one = site(tmp_path / "1", "tea", "[conversation_esaa.agents]\ntea = one\n")
    two = site(tmp_path / "2", "tea", "[conversation_esaa.agents]\ntea = two\n")

    assert plugins.declared([str(one), str(two), str(tmp_path / "missing")]) == {"tea": "one"}


def test_importlib_finds_the_same(tmp_path):
    """Our short way against the documented one."""
    from importlib.metadata import distributions

    packages = site(tmp_path, "tea", TEA, tea_agent=AGENT)

    known = [
        (point.name, point.value)
        for found in distributions(path=[str(packages)])
        for point in found.entry_points
        if point.group == plugins.GROUP
    ]

    assert dict(known) == plugins.declared([str(packages)])


def test_the_guide_s_module_holds_the_contract_and_is_captured(world, tmp_path):
    """What people copy has to work."""
    guide = (Path(__file__).parents[2] / "docs" / "how-to" / "add-an-agent.md").read_text("utf-8")
    module, contract = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    packages = site(tmp_path, "tea", TEA, tea_agent=module)
    (tmp_path / "test_tea.py").write_text(contract)
    environ = {**world.process_environ(), "PYTHONPATH": f"{SOURCE}{os.pathsep}{packages}"}

    held = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_tea.py"],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        timeout=120,
        check=False,
    )
    session = world.home / ".tea" / "sessions" / "one.jsonl"
    session.parent.mkdir(parents=True)
    said = {"kind": "said", "who": "user", "text": "Which port?", "id": "1", "cwd": world.project.as_posix()}
    session.write_text(json.dumps(said) + "\n")
    run(world, packages, "up")

    assert held.returncode == 0, held.stdout.decode()[-2000:]
    assert world.said() == [("user", "Which port?")]
