"""A command without options of its own, as most are called: its arguments without a parser.

Importing and building one costs as much as a short command's work. The declarations are the same: they are
made to a `Defaults`, which notes what each argument is when it is not given.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping, Sequence

_FLAGS = {"--json": "json", "--no-sync": "no_sync"}


def without_parser(
    arguments: Callable[[Any], None], words: Sequence[str], common: Mapping[str, object]
) -> Namespace | None:
    """What a parser would make of `words`; None when it takes a parser to tell.

    arguments   the command's declarations.
    common      the arguments that every command has.
    """
    if not all(word in _FLAGS for word in words):
        return None
    defaults = Defaults()
    try:
        arguments(defaults)
    except NeedsParser:
        return None
    flags = {_FLAGS[word]: True for word in words}
    return cast("Namespace", SimpleNamespace(**defaults.values, **{**common, **flags}))


class NeedsParser(Exception):
    """An argument whose absence a parser has to judge."""


class Defaults:
    """Takes declarations as a parser does."""

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def add_argument(self, *names: str, **options: Any) -> None:
        """As argparse has it. Raises NeedsParser for what is required, or has a default to convert."""
        default = options.get("default", False if options.get("action") == "store_true" else None)
        action, is_option = options.get("action", "store"), names[0].startswith("-")
        if action not in ("store", "store_true", "append") or options.get("required"):
            raise NeedsParser
        if not is_option:
            if options.get("nargs") not in ("?", "*"):
                raise NeedsParser
            if options["nargs"] == "*" and default is None:
                default = []
        if "type" in options and isinstance(default, str):
            raise NeedsParser
        name = options.get("dest") or next((name for name in names if name.startswith("--")), names[0])
        self.values[name.lstrip("-").replace("-", "_") if is_option else name] = default

    def add_mutually_exclusive_group(self, *, required: bool = False) -> Defaults:
        """Its members are arguments like others while none is given."""
        if required:
            raise NeedsParser
        return self

    def add_argument_group(self, *_: str, **__: str) -> Defaults:
        """A heading in the help."""
        return self

    def add_subparsers(self, **_: object) -> None:
        """Which command is meant is a parser's to say."""
        raise NeedsParser
