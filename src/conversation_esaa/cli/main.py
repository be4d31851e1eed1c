"""From words to a command: a lazy table, so that no command pays for another one.

Only `sys` is imported here at first: `--version` costs little more than the interpreter.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `typing` itself costs milliseconds
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Sequence
    from typing import TextIO

    from conversation_esaa.machine import Machine

PROG = "conversation-esaa"

# name: (module below `commands`, one line of help). In the order of a newcomer's need.
COMMANDS = {
    "up": ("up", "set up here if needed, capture, and say what the next agent will get"),
    "init": ("init", "make this directory a workspace, and nothing else"),
    "status": ("status", "one screen: what was captured, what is stale, what could not be read"),
    "agents": ("agents", "which agents are supported, and what there is of each"),
    "stats": ("stats", "counts, and how many tokens a handoff saves"),
    "sync": ("sync", "capture what is new in the agents' logs"),
    "watch": ("watch", "capture as with sync (--once)"),
    "handoff": ("handoff", "print what the next agent needs to know"),
    "context": ("context", "show a window of the conversation"),
    "show": ("show", "show one event whole"),
    "goal": ("goal", "show or set the current objective"),
    "decide": ("decide", "record, supersede or retract a decision"),
    "task": ("task", "create, update, close, reopen, list or show tasks"),
    "topic": ("topic", "create, update, link, unlink, close, list or show topics"),
    "project": ("project", "rebuild the read models from the log"),
    "verify": ("verify", "check the log and the read models"),
    "upgrade": ("upgrade", "take over a directory of the older PowerShell tool"),
    "demo": ("demo", "run the main job on a made-up conversation in a throw-away workspace"),
}
ALIASES = {"topics": "topic", "tasks": "task"}
VALUED = ("--workspace", "-C", "--lock-timeout")  # options before the command that take a value


def entry() -> int:
    """What the installed commands run."""
    try:
        return main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("stopped; what was captured so far is kept\n")
        return 130
    except BrokenPipeError:
        # `| head` has seen enough. Whatever is still buffered has no reader.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def main(
    argv: Sequence[str],
    *,
    machine: Machine | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Carry out one command line; returns the exit code (docs/reference/command-line.md)."""
    if list(argv[:1]) in (["--version"], ["-V"]):
        from conversation_esaa import __version__

        (stdout or sys.stdout).write(f"{PROG} {__version__}\n")
        return 0
    words = _modern(argv)
    at = _command_position(words)
    if at is None:
        return _without_command(words, stdout or sys.stdout, stderr or sys.stderr)
    name = ALIASES.get(words[at], words[at])
    from conversation_esaa.cli.call import carry_out

    return carry_out(
        name,
        COMMANDS[name][0],
        [*words[:at], *words[at + 1 :]],
        machine=machine,
        stdout=stdout or sys.stdout,
        stderr=stderr or sys.stderr,
    )


def _command_position(words: Sequence[str]) -> int | None:
    skip = False
    for position, word in enumerate(words):
        if skip:
            skip = False
        elif word in VALUED:
            skip = True
        elif not word.startswith("-"):
            return position if word in COMMANDS or word in ALIASES else None
    return None


def _modern(argv: Sequence[str]) -> list[str]:
    """The older tool's `-Workspace`, `-TopicTitle`, … as `--workspace`, `--topic-title`."""
    words = []
    for word in argv:
        if (
            len(word) > 2
            and word[0] == "-"
            and word[1].isupper()
            and word[1:].isalnum()
            and not word.isupper()
        ):
            spelled = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in word[1:])
            words.append(f"-{spelled}")
        else:
            words.append(word)
    return words


def _without_command(words: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    asked = not words or words[0] in ("help", "--help", "-h")
    unknown = next((word for word in words if not word.startswith("-") and word not in VALUED), "")
    if asked:
        stdout.write(overview())
        return 0
    import difflib

    near = difflib.get_close_matches(unknown, [*COMMANDS, *ALIASES], n=1)
    hint = f"Did you mean '{near[0]}'?" if near else f"`{PROG} --help` lists the commands."
    what = f"no command is called {unknown!r}" if unknown else f"{words[0]} needs a command"
    stderr.write(f"error: {what}\nhint:  {hint}\n")
    return 2


def overview() -> str:
    """What `--help` prints."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {help_line}" for name, (_, help_line) in COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {PROG} [--workspace DIR] [--json] COMMAND ...",
            "",
            "One local, verifiable log of what you and your coding agents said, and the handoff",
            "that the next agent needs. Start with `conversation-esaa up` in a project.",
            "",
            *lines,
            "",
            f"`{PROG} COMMAND --help` tells more. Short name: cesaa.",
            "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 found a problem,",
            "4 no workspace, 5 the log is locked.",
            "",
        ]
    )


def parser_for(name: str) -> ArgumentParser:
    """The parser of one command, for help texts and tests."""
    from conversation_esaa.cli.call import build_parser

    return build_parser(name, COMMANDS[name][0])
