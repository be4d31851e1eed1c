"""What `COMMAND --help` prints. Ours, not argparse's: the same text on every Python, and it fits the screen."""

from __future__ import annotations

import argparse
import textwrap

WIDEST = 100
_COLUMN = 26


def help_text(parser: argparse.ArgumentParser, *, width: int) -> str:
    """Usage, description, what it takes, examples; no line of ours is longer than `width`.

    width   columns of the screen; 20 at least, since a word is not broken.
    """
    width = max(20, min(width, WIDEST))
    optional = [action for action in _shown(parser) if action.option_strings]
    taken = [action for action in _shown(parser) if not action.option_strings]
    usage = " ".join([f"usage: {parser.prog}", *map(_usage, taken), "[options]"])
    parts = [textwrap.fill(usage, width, subsequent_indent="    ")]
    if parser.description:
        parts.append(textwrap.fill(" ".join(parser.description.split()), width))
    if choices := [line for action in taken for line in _choices(action, width)]:
        parts.append("\n".join(choices))
    if described := [action for action in taken if action.help]:
        parts.append(
            "\n".join(line for action in described for line in _lines(_metavar(action), action, width))
        )
    parts.append("options:\n" + "\n".join(line for a in optional for line in _lines(_spelled(a), a, width)))
    if parser.epilog:
        parts.append(parser.epilog.rstrip())
    return "\n\n".join(parts) + "\n"


def _shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.help is not argparse.SUPPRESS]


def _usage(action: argparse.Action) -> str:
    name = _metavar(action)
    return f"[{name} ...]" if action.nargs == "*" else name


def _metavar(action: argparse.Action) -> str:
    if isinstance(action.metavar, str):
        return action.metavar
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return action.dest.upper()


def _spelled(action: argparse.Action) -> str:
    names = ", ".join(action.option_strings)
    return names if action.nargs == 0 else f"{names} {_metavar(action)}"


def _choices(action: argparse.Action, width: int) -> list[str]:
    if not isinstance(action, argparse._SubParsersAction):
        return []
    return [line for each in action._choices_actions for line in _lines(each.dest, each, width)]


def _lines(name: str, action: argparse.Action, width: int) -> list[str]:
    column = min(_COLUMN, width // 3)
    told = textwrap.wrap(action.help or "", width - column)
    if len(name) + 4 > column:
        return [f"  {name}", *(f"{'':{column}}{line}" for line in told)]
    first, *rest = told or [""]
    return [f"  {name:<{column - 2}}{first}".rstrip(), *(f"{'':{column}}{line}" for line in rest)]
