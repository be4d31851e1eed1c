"""What all agents have in common: a home and a project to work in, a model to ask, prompts to be given."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from real_agents.programs.running import Ended, run

if TYPE_CHECKING:
    from builders.world import World
    from real_agents.stub.script import Line
    from real_agents.stub.server import Stub

STEP_S = 90  # one prompt; some five seconds when nothing else runs
KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TZ")  # nothing else of the developer's environment reaches an agent


class Agent:
    """One program, installed, configured for the stub, with `world.home` as its HOME.

    A subclass tells what is the program's own: `configure`, `environ` and `words`.

    scope      whose settings are tried: those of a project where the program has such, else the user's
    settings   the file in which it looks for hooks there, and what somebody has in it already
    leaves     files that the program itself puts into a project that has such settings
    injects    the program takes text of a hook into the context of its model, without a terminal too
    """

    name: ClassVar[str]
    scope: ClassVar[str] = "project"
    settings: ClassVar[tuple[str, str]]
    leaves: ClassVar[frozenset[str]] = frozenset()
    injects: ClassVar[bool] = True

    def __init__(self, program: Path, world: World, stub: Stub) -> None:
        self.program, self.world, self.stub = program, world, stub
        self.configure()

    # --- what a subclass tells ---------------------------------------------------------------------------

    def configure(self) -> None:
        """Write the configuration that leads to the stub, below the home."""

    def environ(self) -> dict[str, str]:
        """The variables that lead to the stub, and those that keep the program from asking anybody else."""
        raise NotImplementedError

    def words(self, prompt: str, *, goes_on: bool) -> list[str]:
        """The command line of one prompt without a terminal, in a new session or in the last one."""
        raise NotImplementedError

    def typed(self, prompt: str) -> str:
        """The prompt as the program's own log has it."""
        return prompt

    # --- what a test does --------------------------------------------------------------------------------

    def say(self, line: Line, *, goes_on: bool = False, cwd: Path | None = None) -> None:
        """Give a prompt, in the project or in `cwd`, and wait for the answer to appear."""
        self.stub.script.lines.append(line)
        ended = self.run(self.words(line.prompt, goes_on=goes_on), cwd=cwd or self.world.project)

        assert ended.code == 0, ended
        assert line.answer in ended.out, ended

    def said(self, *lines: Line) -> list[tuple[str, str]]:
        """What must be captured of these lines: who said what."""
        return [
            turn
            for line in lines
            for turn in (
                ("user", self.typed(line.prompt)),
                *(("assistant", text) for text in line.visible),
            )
        ]

    def run(self, words: list[str], *, cwd: Path) -> Ended:
        """Run the program there."""
        kept = {key: os.environ[key] for key in KEPT if key in os.environ}
        own = {"HOME": str(self.world.home), "PWD": str(cwd), "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        if (self.program.parent / "node").exists():  # installed beside the program, which needs it
            kept["PATH"] = os.pathsep.join([str(self.program.parent), kept["PATH"]])
        environ = {**kept, **own, **self.environ()}
        return run([str(self.program), *words], cwd=cwd, environ=environ, most_s=STEP_S)

    def write(self, path: str, content: str) -> None:
        """A file below the home."""
        file = self.world.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, "utf-8")
