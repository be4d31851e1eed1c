"""One command being carried out: its words parsed, its workspace found, its answer shown."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from conversation_esaa.cli.defaults import without_parser
from conversation_esaa.cli.words import plain
from conversation_esaa.errors import ConversationError
from conversation_esaa.machine import Machine, this_machine
from conversation_esaa.patterns import lazy
from conversation_esaa.progress import unheard
from conversation_esaa.text import terminal
from conversation_esaa.workspace import Workspace

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from conversation_esaa.cli.parser import Parser
    from conversation_esaa.cli.progress import ProgressLine
    from conversation_esaa.progress import Progress

# What JSON may hold as it is and a terminal or an editor would obey, hide or choke on.
_NOT_PLAIN = lazy("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


class AnswerLost(ConversationError):
    """Standard output did not take the answer."""

    code = "output.lost"


class Output:
    """Where answers go: text or one JSON object on stdout, errors on stderr."""

    def __init__(self, *, as_json: bool, stdout: TextIO, stderr: TextIO) -> None:
        self.as_json, self._stdout, self._stderr = as_json, stdout, stderr
        self._progress = None if as_json or not stderr.isatty() else _progress_line(stderr)

    @property
    def progress(self) -> Progress:
        """Where long work tells how far it is: a line on a terminal, else nobody."""
        return self._progress or unheard

    def settle(self) -> None:
        """No word on progress stands on the terminal any more."""
        if self._progress:
            self._progress.clear()

    def text(self, text: str) -> None:
        """For people and agents; control characters come out visible. Silent under `--json`."""
        if not self.as_json:
            self.write(as_text(text))

    def data(self, schema: str, value: Any) -> None:
        """For programs: `value` (a Struct or a dict) with its schema's name, one JSON object. Only `--json`."""
        if self.as_json:
            self.write(as_json(schema, value))

    def write(self, text: str) -> None:
        """Exactly `text`, at once. Raises AnswerLost; BrokenPipeError when nobody reads any more."""
        self.settle()
        try:
            self._stdout.write(text)
            self._stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise AnswerLost(
                f"the answer could not be written: {error.strerror}",
                hint="What the command did is done; only its words were lost.",
            ) from None

    def note(self, text: str) -> None:
        """A diagnostic, on stderr."""
        self.settle()
        self._stderr.write(terminal(f"{text}\n"))

    def columns(self, environ: Mapping[str, str]) -> int:
        """How wide the screen is: what COLUMNS says, else the terminal, else 80."""
        if (given := environ.get("COLUMNS", "")).isdecimal() and int(given):
            return int(given)
        try:
            return os.get_terminal_size(self._stdout.fileno()).columns or 80
        except (OSError, ValueError):
            return 80

    def fail(self, error: ConversationError) -> None:
        """An error: two lines, or one JSON object under `--json`; on stderr either way."""
        if self.as_json:
            body = {"code": error.code, "message": error.message, "hint": error.hint}
            self._stderr.write(_json({"error": body}))
            return
        hint = f"\nhint:  {plain(error.hint)}" if error.hint else ""
        self.note(f"error: {plain(error.message)}{hint}")


def as_text(text: str) -> str:
    """An answer for people and agents, as `Output` writes it."""
    return terminal(text if text.endswith("\n") else f"{text}\n")


def as_json(schema: str, value: Any) -> str:
    """An answer for programs, as `Output` writes it."""
    return _json({"schema": f"conversation-esaa.{schema}/1", **msgspec.to_builtins(value)}, indent=2)


def _progress_line(stderr: TextIO) -> ProgressLine:
    from conversation_esaa.cli.progress import ProgressLine

    return ProgressLine(stderr)


def _json(document: Mapping[str, Any], *, indent: int | None = None) -> str:
    import json

    text = json.dumps(document, ensure_ascii=False, indent=indent) + "\n"
    return _NOT_PLAIN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
    def columns(self) -> int:
        """How wide the screen is; 80 where there is none."""
        return self.out.columns(self.machine.environ)

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
        workspace = Workspace.find(self.path, **self.options)
        workspace.progress = self.out.progress
        return workspace


class HelpAsked(Exception):
    """`--help`, wherever it stood."""

    def __init__(self, parser: Parser) -> None:
        super().__init__()
        self.parser = parser


COMMON = {"workspace": "", "json": False, "no_sync": False, "lock_timeout": 10.0}


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
    machine = machine or this_machine()
    out = output(words, stdout, stderr)
    try:
        command = importlib.import_module(f"conversation_esaa.cli.commands.{module}")
        args = without_parser(command.arguments, words, COMMON)
        if args is None:
            from conversation_esaa.cli.parser import parsed

            args = parsed(name, command, words)
        return command.run(args, Call(args, machine, out)) or 0
    except HelpAsked as asked:
        from conversation_esaa.cli.help_text import help_text

        out.write(help_text(asked.parser, width=out.columns(machine.environ)))
        return 0
    except ConversationError as error:
        out.fail(error)
        return error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        out.fail(ConversationError(f"{where}{error.strerror or type(error).__name__}", hint=_OS_HINT))
        return 1
    except Exception as error:  # a fault of ours; a traceback could quote what somebody said
        if machine.environ.get(DEBUG):
            raise
        out.fail(Fault(error))
        return 1
    finally:
        out.settle()


def output(words: Sequence[str], stdout: TextIO, stderr: TextIO) -> Output:
    """Where the command's answer goes; UTF-8 whatever the locale says."""
    for stream in (stdout, stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(encoding="utf-8", errors="backslashreplace")
    return Output(as_json="--json" in words, stdout=stdout, stderr=stderr)


DEBUG = "CONVERSATION_ESAA_DEBUG"
_OS_HINT = "Nothing that was acknowledged is lost. Mend the cause, then run the command again."


class Fault(ConversationError):
    """An exception that no one foresaw. Its own words stay out: they may quote a conversation."""

    code = "internal"

    def __init__(self, error: Exception) -> None:
        place, trace = "", error.__traceback__
        while trace is not None:
            code = trace.tb_frame.f_code
            place, trace = f" in {Path(code.co_filename).name}, line {trace.tb_lineno}", trace.tb_next
        super().__init__(
            f"a fault of conversation-esaa: {type(error).__name__}{place}",
            hint=f"Nothing that was acknowledged is lost. {DEBUG}=1 shows the details to report; look through "
            "them first, they may quote the conversation.",
        )
