"""From words to a command: a lazy table, so that no command pays for another one.

Only `sys` is imported here at first: `--version` costs little more than the interpreter.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `typing` itself costs milliseconds
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn, TextIO

    from conversation_esaa.cli.parser import Parser
    from conversation_esaa.machine import Machine

PROG = "conversation-esaa"

# name: (module below `commands`, one line of help). In the order of a newcomer's need.
COMMANDS = {
    "up": ("up", "set up if needed, capture, say what the next agent will get"),
    "init": ("init", "make this directory a workspace, and nothing else"),
    "status": ("status", "what was captured, what is stale, what could not be read"),
    "doctor": ("doctor", "what is wrong on the way into the log, and what mends it"),
    "agents": ("agents", "which agents are supported, and what there is of each"),
    "sample": ("sample", "the structure of a log that is not understood, to report"),
    "stats": ("stats", "counts, and how many tokens a handoff saves"),
    "sync": ("sync", "capture what is new in the agents' logs"),
    "capture": ("capture", "take a turn from standard input, of an agent not read here"),
    "watch": ("watch", "capture by itself, in a terminal or as a service"),
    "hooks": ("hooks", "which agents tell us by themselves when something was said"),
    "enable-hooks": ("enable_hooks", "merge our entries into agents' settings"),
    "disable-hooks": ("disable_hooks", "take our entries out of agents' settings"),
    "handoff": ("handoff", "print what the next agent needs to know"),
    "context": ("context", "show a window of the conversation"),
    "show": ("show", "show one event, decision, task or topic whole"),
    "goal": ("goal", "show or set the current objective"),
    "decide": ("decide", "record, supersede or retract a decision"),
    "task": ("task", "create, update, close, reopen, list or show tasks"),
    "topic": ("topic", "create, update, link, unlink, close, list or show topics"),
    "project": ("project", "rebuild the read models from the log"),
    "verify": ("verify", "check the log and the read models"),
    "upgrade": ("upgrade", "take over a directory of the older PowerShell tool"),
    "demo": ("demo", "run the main job on a made-up conversation and project"),
}
ALIASES = {"topics": "topic", "tasks": "task"}
VALUED = ("--workspace", "-C", "--lock-timeout")  # options before the command that take a value

# How the older PowerShell tool spelled its options, in any case: `-Last 3`, `-topicTitle x`.
OLDER = {
    "workspace": "--workspace",
    "agent": "--agent",
    "mode": "--mode",
    "last": "--last",
    "before": "--before",
    "around": "--around",
    "window": "--window",
    "topic": "--topic",
    "topicid": "--topic-id",
    "topictitle": "--title",
    "json": "--json",
    "decision": "--decision",
    "rationale": "--rationale",
    "source": "--source",
    "title": "--title",
    "status": "--status",
    "nextstep": "--next-step",
    "evidence": "--evidence",
    "summary": "--summary",
    "eventid": "--event",
    "events": "--events",
    "codexsessionpath": "--session",
    "claudesessionpath": "--session",
    "antigravitytranscriptpath": "--session",
}


def entry() -> NoReturn:
    """What the installed commands run. Does not return.

    It leaves without taking the interpreter apart: everything is written, closed or on disk by then, and
    freeing each value one by one costs as much as starting an empty interpreter.
    """
    import os

    code = run()
    try:
        sys.stderr.flush()
    except OSError:
        code = code or 1
    os._exit(code)


def run() -> int:
    """Carry out the command line of this process, and what it wrote is out; returns the exit code."""
    import gc
    import os

    # A command makes many values and hardly a cycle: looking for cycles as often as by default costs a
    # twentieth of a capture, and finds nothing.
    gc.set_threshold(100_000, 20, 20)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as we
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write(
            "stopped; what was captured and indexed so far is kept, and the next run goes on there\n"
        )
        code = 130
    except BrokenPipeError:  # `| head` has seen enough
        code = 0
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered has no reader: without this, Python would complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = code or (0 if isinstance(error, BrokenPipeError) else 1)
    return code


def main(
    argv: Sequence[str],
    *,
    machine: Machine | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
) -> int:
    """Carry out one command line; returns the exit code (docs/reference/command-line.md)."""
    stdout, stderr = stdout or sys.stdout, stderr or sys.stderr
    if list(argv[:1]) in (["--version"], ["-V"]):
        from conversation_esaa import __version__

        stdout.write(f"{PROG} {__version__}\n")
        return 0
    words = _modern(argv)
    if _asks_only_for_news(words):
        from conversation_esaa.cli import nothing_new

        if nothing_new.told(machine, stdout, as_json="--json" in words):
            return 0
    at = _command_position(words)
    if at is not None and words[at] == "help" and len(words) > at + 1:
        words = [*words[at + 1 :], "--help"]  # `help context` is `context --help`
        at = _command_position(words)
    if at is None or words[at] not in {*COMMANDS, *ALIASES}:
        return _without_command(words, at, stdout, stderr)
    name = ALIASES.get(words[at], words[at])
    from conversation_esaa.cli.call import carry_out

    return carry_out(
        name,
        COMMANDS[name][0],
        [*words[:at], *words[at + 1 :]],
        machine=machine,
        stdout=stdout,
        stderr=stderr,
    )


def _asks_only_for_news(words: Sequence[str]) -> bool:
    rest = sorted(word for word in words if word != "--json")
    return rest in (["sync"], ["--once", "watch"])


def _command_position(words: Sequence[str]) -> int | None:
    """Where the first word stands that is no option and no option's value."""
    skip = False
    for position, word in enumerate(words):
        if skip:
            skip = False
        elif word in VALUED:
            skip = True
        elif not word.startswith("-"):
            return position
    return None


def _modern(argv: Sequence[str]) -> list[str]:
    """`argv` with options as the older tool spelled them in today's spelling. What follows `--` is text."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    return [
        OLDER.get(word[1:].lower(), word) if word[:1] == "-" and at < end else word
        for at, word in enumerate(words)
    ]


def _without_command(words: Sequence[str], at: int | None, stdout: TextIO, stderr: TextIO) -> int:
    asked = (not words or {"--help", "-h"} & set(words)) if at is None else words[at] == "help"
    if asked:
        stdout.write(overview())
        return 0
    import difflib

    from conversation_esaa.cli.call import output
    from conversation_esaa.errors import UsageError

    hint = f"`{PROG} --help` lists the commands."
    if at is None:
        error = UsageError(f"{words[0]} needs a command", hint=hint)
    else:
        near = difflib.get_close_matches(words[at], [*COMMANDS, *ALIASES], n=1)
        hint = f"Did you mean '{near[0]}'? {hint}" if near else hint
        error = UsageError(f"no command is called {words[at][:80]!r}", hint=hint)
    output(words, stdout, stderr).fail(error)
    return error.exit_code


def overview() -> str:
    """What `--help` prints."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {help_line}" for name, (_, help_line) in COMMANDS.items()]
    return "\n".join(
        [
            f"usage: {PROG} [-C DIR] [--json] COMMAND ...",
            "",
            "One local, verifiable log of what you and your coding agents said, and the",
            "handoff that the next agent needs. Start in a project with:",
            "",
            f"  {PROG} up",
            "",
            "commands:",
            *lines,
            "",
            f"`{PROG} COMMAND --help` tells more. Short name: cesaa.",
            "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 found a problem,",
            "4 no workspace, 5 the log is locked.",
            "",
        ]
    )


def parser_for(name: str) -> Parser:
    """The parser of one command, for help texts and tests."""
    import importlib

    from conversation_esaa.cli.parser import build_parser

    return build_parser(name, importlib.import_module(f"conversation_esaa.cli.commands.{COMMANDS[name][0]}"))
