"""Long work shows how far it is: to a person at a terminal, after half a second, and to nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from conversation_esaa.cli.progress import AGAIN_S, SILENT_S, ProgressLine

if TYPE_CHECKING:
    from builders.world import World

posix = pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")

# As the installed command, but for the half second.
AT_ONCE = """
import sys
from conversation_esaa.cli import progress
progress.SILENT_S = progress.AGAIN_S = 0
sys.argv = ["conversation-esaa", *sys.argv[1:]]
from conversation_esaa.cli.main import entry
sys.exit(entry())
"""


class Terminal(StringIO):
    """What a person sees of one line."""

    def seen(self) -> str:
        line: list[str] = []
        for step in self.getvalue().split("\r"):
            line[: len(step)] = step
        return "".join(line).rstrip()


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def line(terminal: Terminal, clock: Clock) -> ProgressLine:
    return ProgressLine(terminal, clock=clock)


def test_what_is_done_in_half_a_second_shows_nothing(line, terminal, clock):
    clock.s = SILENT_S - 0.01

    line("capturing", 1, 2)
    line.clear()

    assert terminal.getvalue() == ""


def test_longer_work_shows_one_line_that_is_written_again_in_place(line, terminal, clock):
    for part in range(3):
        clock.s = SILENT_S + part * AGAIN_S
        line("capturing", part, 4)

    assert terminal.seen() == "capturing … 50 %"
    assert "\n" not in terminal.getvalue()


def test_it_is_not_rewritten_faster_than_one_can_read(line, terminal, clock):
    clock.s = SILENT_S
    for part in range(1000):
        line("capturing", part, 1000)

    assert terminal.seen() == "capturing … 0 %"


def test_a_shorter_word_leaves_nothing_of_a_longer_one(line, terminal, clock):
    clock.s = SILENT_S
    line("checking the log", 1, 1)
    clock.s += AGAIN_S
    line("indexing", 1, 2)

    assert terminal.seen() == "indexing … 50 %"


def test_the_line_is_gone_when_something_else_is_to_be_said(line, terminal, clock):
    clock.s = SILENT_S
    line("capturing", 1, 2)
    line.clear()

    assert terminal.seen() == ""
    assert terminal.getvalue().endswith("\r")


@pytest.mark.parametrize(("done", "total", "share"), [(3, 2, " 100 %"), (0, 0, ""), (0, 7, " 0 %")])
def test_a_share_is_never_more_than_all(line, terminal, clock, done, total, share):
    clock.s = SILENT_S

    line("reading the log", done, total)

    assert terminal.seen() == f"reading the log …{share}"


@pytest.mark.parametrize(
    ("columns", "seen"), [(0, "capturing … 50 %"), (1, "c"), (8, "capturi"), (80, "capturing … 50 %")]
)
def test_the_line_fits_the_terminal_and_stands_whole_where_its_width_is_not_known(
    clock, monkeypatch, columns, seen
):
    monkeypatch.setattr(os, "get_terminal_size", lambda _descriptor: os.terminal_size((columns, 24)))
    terminal = Terminal()
    monkeypatch.setattr(terminal, "fileno", lambda: 2)
    line = ProgressLine(terminal, clock=clock)
    clock.s = SILENT_S

    line("capturing", 1, 2)

    assert terminal.seen() == seen


def at_a_terminal(world: World, *argv: str) -> tuple[int, str, str]:
    """Exit code, what went to stdout (a pipe), and what stderr (a terminal of 80 columns) was sent."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", AT_ONCE, *argv],
        cwd=world.project,
        env=world.process_environ(),
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(ours)
    out, _ = process.communicate(timeout=120)
    return process.returncode, out.decode(), shown.decode()


@pytest.fixture
def talk(world: World) -> World:
    world.workspace()
    for name in ("one", "two"):
        claude = world.claude(name)
        for number in range(200):
            claude.user(f"Question {number}?").assistant("Because.")
    return world


@posix
@pytest.mark.parametrize(
    ("words", "doing"),
    [
        (["sync"], "capturing"),
        (["up"], "capturing"),
        (["project"], "reading the log"),
        (["upgrade"], "reading the log"),
        (["handoff", "--no-sync"], "reading the log"),
        (["verify", "--deep"], "checking the log"),
    ],
)
def test_a_terminal_is_told_and_left_clean(talk: World, words, doing):
    if words[0] not in ("sync", "up"):
        talk.sync()
        (talk.store / "index.db").unlink()

    code, out, shown = at_a_terminal(talk, *words)

    assert code == 0
    assert doing in shown
    assert "\n" not in shown
    assert Terminal(shown).seen() == ""
    assert out
    assert "\r" not in out


@posix
def test_under_json_nothing_is_told(talk: World):
    assert at_a_terminal(talk, "sync", "--json")[::2] == (0, "")


def test_a_pipe_is_told_nothing(talk: World):
    ran = subprocess.run(
        [sys.executable, "-c", AT_ONCE, "sync"],
        cwd=talk.project,
        env=talk.process_environ(),
        capture_output=True,
        check=True,
    )

    assert ran.stderr == b""
    assert b"\r" not in ran.stdout.replace(b"\r\n", b"\n")


def test_a_command_that_is_in_no_terminal_does_not_even_load_the_line(talk: World):
    code = "import sys\nfrom conversation_esaa.cli.main import main\nmain(['sync'])\n"
    code += "sys.exit('conversation_esaa.cli.progress' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=talk.project,
        env=talk.process_environ(),
        capture_output=True,
        check=False,
    )

    assert ran.returncode == 0
