"""The parser of one command line. Not loaded for a command without options of its own, see `defaults.py`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

from conversation_esaa.cli.call import COMMON, HelpAsked
from conversation_esaa.cli.values import seconds
from conversation_esaa.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


class Parser(argparse.ArgumentParser):
    """An argparse parser that raises what it has to say; sub-parsers are of this class too."""

    def __init__(self, **options: Any) -> None:
        # A width, so that argparse need not look for one: that costs the import of four modules.
        super().__init__(allow_abbrev=False, formatter_class=_formatter, **options)

    def error(self, message: str) -> NoReturn:
        """Wrong words. Raises UsageError."""
        raise UsageError(message, hint=f"`{self.prog} --help` shows how it is used.")

    def print_help(self, file: Any = None) -> NoReturn:
        """`--help` was asked for. Raises HelpAsked."""
        del file
        raise HelpAsked(self)


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, width=80)


def build_parser(name: str, command: Any) -> Parser:
    """The parser of one command, common options included, also behind its sub-commands.

    command   its module.
    """
    parser = Parser(
        prog=f"conversation-esaa {name}",
        description=command.HELP,
        epilog=getattr(command, "EXAMPLES", None),
    )
    command.arguments(parser)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub_name, sub_parser in action.choices.items():
                _common(sub_parser)
                told = next(each.help or "" for each in action._choices_actions if each.dest == sub_name)
                sub_parser.description = f"{told[:1].upper()}{told[1:]}."
    _common(parser)
    return parser


def parsed(name: str, command: Any, words: Sequence[str]) -> argparse.Namespace:
    """What `words` say to a command. Raises UsageError, HelpAsked."""
    return build_parser(name, command).parse_args(words, argparse.Namespace(**COMMON))


def _common(parser: argparse.ArgumentParser) -> None:
    """Without defaults, so that a sub-command does not undo what was said before it."""
    add, unset = parser.add_argument, argparse.SUPPRESS
    add("-C", "--workspace", metavar="DIR", default=unset, help="the project (default: found from here)")
    add("--json", action="store_true", default=unset, help="one JSON object on stdout")
    add("--no-sync", action="store_true", default=unset, help="do not look at the agents' logs first")
    add(
        "--lock-timeout",
        type=seconds,
        metavar="S",
        default=unset,
        help="seconds to wait for another writer (default 10)",
    )
