"""`project`: the read models anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Rebuild every read model from the log. A file whose bytes are right already is not touched."""


def arguments(parser: ArgumentParser) -> None:
    """Whether to write."""
    parser.add_argument("--check", action="store_true", help="write nothing; exit 3 when a file differs")


def run(args: Namespace, call: Call) -> int:
    """Rebuild or compare, and tell."""
    projected = call.workspace.project(check=args.check)
    call.out.data("project", {"check": args.check, "head": projected.head, "changed": projected.changed})
    names = ", ".join(projected.changed)
    if args.check:
        call.out.text(f"not as the log says: {names}" if names else "All read models are as the log says.")
        return 3 if names else 0
    call.out.text(f"rebuilt: {names}" if names else "All read models were as the log says.")
    return 0
