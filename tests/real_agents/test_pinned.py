"""How programs come into the cache, and what a test run says when they cannot. Needs no network and no agent."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from real_agents.programs import pinned
from real_agents.programs.pinned import PINS, NotInstalled, cache, executable, pin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the programs are run the POSIX way")

NPM = f"""\
#!{sys.executable}
import os, pathlib, sys
words = sys.argv[1:]
with open(os.environ["ASKED"], "a") as asked:
    asked.write(words[0] + "\\n")
if os.environ.get("REFUSED"):
    sys.exit("npm error code " + os.environ["REFUSED"])
if words[0] == "view":
    print({PINS["codex"].version!r})
else:
    folder = pathlib.Path(words[words.index("--prefix") + 1]) / "node_modules" / ".bin"
    folder.mkdir(parents=True)
    (folder / "codex").write_text("a program")
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An npm that writes down what it was asked, in an empty cache."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("npm", "node"):
        (tools / name).write_text(NPM)
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    monkeypatch.setenv("CONVERSATION_ESAA_AGENT_CACHE", str(tmp_path / "cache"))
    pinned.unreachable.cache_clear()
    yield tmp_path / "asked"
    pinned.unreachable.cache_clear()


def test_a_program_is_installed_once(asked):
    """Whoever wants it afterwards gets it from the cache, and npm is not asked again."""
    program = executable(PINS["codex"])

    assert program.read_text() == "a program"
    assert executable(PINS["codex"]) == program
    assert asked.read_text().split() == ["view", "install"]


def test_half_an_installation_is_begun_anew(asked):
    """A test run that was stopped while npm worked leaves something behind."""
    left = cache() / f"codex-{PINS['codex'].version}.new" / "node_modules" / ".bin"
    left.mkdir(parents=True)

    assert executable(PINS["codex"]).exists()


def test_a_registry_that_does_not_answer_is_said(asked, monkeypatch):
    """And is asked once, not for every agent."""
    monkeypatch.setenv("REFUSED", "ECONNREFUSED")

    for agent in ("codex", "grok"):
        with pytest.raises(
            NotInstalled, match=r"not in .*cache, and npm could not reach .* code ECONNREFUSED"
        ):
            executable(PINS[agent])
    assert asked.read_text().split() == ["view"]


def test_without_npm_it_is_said_too(asked, tmp_path):
    """As on a machine where nobody runs such agents."""
    (tmp_path / "tools" / "npm").unlink()

    with pytest.raises(NotInstalled, match="there is no npm on PATH"):
        executable(PINS["codex"])


def test_another_version_can_be_tried(monkeypatch):
    """When a vendor has a new one; it is kept beside the pinned one."""
    monkeypatch.setenv("CONVERSATION_ESAA_AGENT_VERSIONS", "grok=1.0.5 codex=0.155.0")

    assert (pin("codex").version, pin("grok").version) == ("0.155.0", "1.0.5")
    assert pin("opencode") == PINS["opencode"]
