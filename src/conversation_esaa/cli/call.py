"""One command being carried out: its words parsed, its workspace found, its answer shown."""

from __future__ import annotations

import importlib
import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import msgspec

from conversation_esaa.errors import ConversationError, UsageError
from conversation_esaa.machine import Machine, this_machine
from conversation_esaa.text import terminal
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType


class Output:
    """Where answers go: text or one JSON object on stdout, errors on stderr."""

    def __init__(self, *, as_json: bool, stdout: TextIO, stderr: TextIO) -> None:
        self.as_json, self._stdout, self._stderr = as_json, stdout, stderr

    def text(self, text: str) -> None:
        """For people and agents; control characters come out visible. Silent under `--json`."""
        if not self.as_json:
            self._stdout.write(terminal(text if text.endswith("\n") else f"{text}\n"))

    def data(self, schema: str, value: Any) -> None:
        """For programs: `value` (a Struct or a dict) with its schema's name, one JSON object. Only `--json`."""
        if self.as_json:
            fields = msgspec.to_builtins(value)
            document = {"schema": f"conversation-esaa.{schema}/1", **fields}
            self._stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")

    def note(self, text: str) -> None:
        """A diagnostic, on stderr."""
        self._stderr.write(terminal(f"{text}\n"))

    def fail(self, error: ConversationError) -> None:
        """An error: two lines, or one JSON object under `--json`; on stderr either way."""
        if self.as_json:
            body = {"code": error.code, "message": error.message, "hint": error.hint}
            self._stderr.write(json.dumps({"error": body}, ensure_ascii=False) + "\n")
            return
        self.note(f"error: {error.message}" + (f"\nhint:  {error.hint}" if error.hint else ""))


class Call:
    """What a command gets: the machine, the output, and the workspace when it asks for it."""

    def __init__(self, args: Namespace, machine: Machine, out: Output) -> None:
        self.machine, self.out = machine, out
        self._args = args

    @property
    def path(self) -> Path | None:
        """What `--workspace` says."""
        return Path(self._args.workspace) if self._args.workspace else None

    @property
    def options(self) -> dict[str, Any]:
        """The options that every way to a Workspace takes."""
        return {
            "machine": self.machine,
            "lock_wait_s": self._args.lock_timeout,
            "catch_up": not self._args.no_sync,
        }

    @property
    def workspace(self) -> Workspace:
        """The workspace that the command means. Raises NoWorkspace."""
        return Workspace.find(self.path, **self.options)


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"`{self.prog} --help` shows how it is used.")


def build_parser(name: str, module: str) -> ArgumentParser:
    """The parser of one command, common options included."""
    command = importlib.import_module(f"conversation_esaa.cli.commands.{module}")
    return _build(name, command)


def _build(name: str, command: ModuleType) -> ArgumentParser:
    parser = _Parser(
        prog=f"conversation-esaa {name}",
        description=command.HELP,
        epilog=getattr(command, "EXAMPLES", None),
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.arguments(parser)
    common = parser.add_argument_group("common options")
    common.add_argument("-C", "--workspace", metavar="DIR", help="the project (default: found from here)")
    common.add_argument("--json", action="store_true", help="one JSON object on stdout")
    common.add_argument("--no-sync", action="store_true", help="do not look at the agents' logs first")
    common.add_argument(
        "--lock-timeout", type=float, default=10.0, metavar="S", help="seconds to wait for another writer"
    )
    return parser


def carry_out(
    name: str,
    module: str,
    words: Sequence[str],
    *,
    machine: Machine | None,
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    """Run one command; returns its exit code. Errors are printed here and nowhere else."""
    for stream in (stdout, stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(encoding="utf-8", errors="backslashreplace")
    out = Output(as_json="--json" in words, stdout=stdout, stderr=stderr)
    try:
        command = importlib.import_module(f"conversation_esaa.cli.commands.{module}")
        args = _build(name, command).parse_args(words)
        return command.run(args, Call(args, machine or this_machine(), out)) or 0
    except ConversationError as error:
        out.fail(error)
        return error.exit_code
    except SystemExit as done:  # argparse after --help
        return int(done.code or 0)
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        out.fail(ConversationError(f"{where}{error.strerror or type(error).__name__}", hint=_OS_HINT))
        return 1
    finally:
        if stdout is sys.stdout:
            stdout.flush()


_OS_HINT = "Nothing that was acknowledged is lost. Mend the cause, then run the command again."
