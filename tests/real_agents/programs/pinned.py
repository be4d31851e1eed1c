"""Which programs are tried, and their installation: from npm, once, into a cache that all test runs share."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from conversation_esaa.log.lock import held
from real_agents.programs.running import Ended, run

REACH_S = 8  # to ask the registry for one version
INSTALL_S = 300
FINISH_S = 60
LOCK_S = 600  # another worker may be installing


@dataclass(frozen=True)
class Pin:
    """One program at one version, by its package on npm.

    finish   the package's own script that puts the program for this system into its place. It is run here by
             name: npm runs no scripts of packages for us, and newer versions of it run none for anybody.
    node     the Node.js that is installed beside a program that wants a newer one than many machines have
    """

    agent: str
    package: str
    version: str
    binary: str
    finish: str = ""
    node: str = ""

    @property
    def packages(self) -> list[str]:
        """What is asked of npm."""
        node = [f"node-{sys.platform}-{_machine()}@{self.node}"] if self.node else []
        return [f"{self.package}@{self.version}", *node]


def _machine() -> str:
    """This machine's processor, as Node.js names it."""
    return {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


PINS = {
    pin.agent: pin
    for pin in (
        Pin("claude-code", "@anthropic-ai/claude-code", "2.1.332", "claude", finish="install.cjs"),
        Pin("codex", "@openai/codex", "0.171.0", "codex"),
        Pin("copilot-cli", "@github/copilot", "1.0.102", "copilot"),
        Pin("droid", "droid", "0.215.0", "droid"),
        Pin("gemini-cli", "@google/gemini-cli", "0.61.0", "gemini"),
        Pin("grok", "@xai-official/grok", "1.0.41", "grok"),
        Pin("kimi-code", "@moonshot-ai/kimi-code", "2.1.0", "kimi", node="22.23.5"),
        Pin("opencode", "opencode-ai", "1.18.33", "opencode", finish="postinstall.mjs"),
        Pin("pi", "@earendil-works/pi-coding-agent", "1.6.0", "pi", node="22.23.5"),
        Pin("qwen-code", "@qwen-code/qwen-code", "0.24.4", "qwen"),
    )
}


class NotInstalled(Exception):
    """The program is not in the cache and could not be brought there; the message says why."""


def pin(agent: str) -> Pin:
    """What is tried of one agent: `CONVERSATION_ESAA_AGENT_VERSIONS="codex=0.155.0 grok=1.0.5"` says otherwise."""
    chosen = dict(
        word.partition("=")[::2] for word in os.environ.get("CONVERSATION_ESAA_AGENT_VERSIONS", "").split()
    )
    return replace(PINS[agent], version=chosen.get(agent, PINS[agent].version))


def cache() -> Path:
    """Where programs are kept between runs: some 2.6 GB for all ten."""
    if chosen := os.environ.get("CONVERSATION_ESAA_AGENT_CACHE"):
        return Path(chosen).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "conversation-esaa" / "agents"


def executable(pin: Pin) -> Path:
    """The program, installed if it was not. Raises NotInstalled.

    Installed beside and renamed, so that an interrupted installation is not taken for a finished one; under a
    lock, because the workers of one test run want the same program at the same time.
    """
    folder = cache() / f"{pin.agent}-{pin.version}"
    program = folder / "node_modules" / ".bin" / pin.binary
    if os.name == "nt" or shutil.which("node") is None:
        raise NotInstalled(f"{pin.agent} is run by node, on a POSIX system")
    if program.exists():
        return program
    folder.parent.mkdir(parents=True, exist_ok=True)
    with held(folder.with_name(f"{folder.name}.lock"), purpose="install", wait_s=LOCK_S):
        if not program.exists():
            _install(pin, folder)
    return program


def _install(pin: Pin, folder: Path) -> None:
    if reason := unreachable():
        raise NotInstalled(f"{pin.package}@{pin.version} is not in {folder.parent}, and {reason}")
    beside = folder.with_name(f"{folder.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    words = ["install", "--prefix", str(beside), "--ignore-scripts", "--no-audit", "--no-fund"]
    installed = _npm(*words, *pin.packages, most_s=INSTALL_S)
    if installed.code != 0:
        raise NotInstalled(f"npm could not install {pin.package}@{pin.version}: {_why(installed)}")
    if pin.finish:
        package = beside / "node_modules" / pin.package
        finished = run(["node", pin.finish], cwd=package, environ=os.environ, most_s=FINISH_S)
        if finished.code != 0:
            raise NotInstalled(f"{pin.finish} of {pin.package}@{pin.version} failed: {_why(finished)}")
    shutil.rmtree(folder, ignore_errors=True)
    beside.rename(folder)


@functools.cache
def unreachable() -> str:
    """Why nothing can be installed here; empty when it can. Asked once a process."""
    if shutil.which("npm") is None:
        return "there is no npm on PATH"
    sought = PINS["codex"]
    seen = _npm("view", f"{sought.package}@{sought.version}", "version", "--fetch-retries=0", most_s=REACH_S)
    if sought.version not in seen.out:
        return f"npm could not reach its registry within {REACH_S} s ({_why(seen)})"
    return ""


def _npm(*words: str, most_s: float) -> Ended:
    """npm with the developer's own settings, for they name his registry; its store is beside the programs."""
    own = ["--cache", str(cache() / "npm"), "--loglevel=error"]
    return run(["npm", *words, *own], cwd=cache(), environ=os.environ, most_s=most_s)


def _why(ended: Ended) -> str:
    """Why it failed, in one line: the first that it complained with."""
    if ended.code is None:
        return "it did not end in time"
    return next((line for line in ended.err.splitlines() if line.strip()), f"exit code {ended.code}")
