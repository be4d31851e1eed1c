"""`verify`: log and read models, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call

HELP = """Check the log and the read models: schema, hash chain, order, identity, workspace, references,
edits by hand, stale caches, permissions. Reads only. Exit code 3 when something is wrong."""


def arguments(parser: ArgumentParser) -> None:
    """How deep."""
    parser.add_argument(
        "--deep", action="store_true", help="also write every line anew from its values, and compare"
    )


def run(args: Namespace, call: Call) -> int:
    """Check and tell."""
    report = call.workspace.verify(deep=args.deep)
    call.out.data("verify", {"ok": report.ok, **{n: getattr(report, n) for n in report.__struct_fields__}})
    call.out.text(report.told())
    return 0 if report.ok else 3
