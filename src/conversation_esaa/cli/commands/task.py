"""`task`: continuity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.curation.tasks import existing
from conversation_esaa.events import TASK_OPEN, TASK_STATUSES
from conversation_esaa.projections.tasks import Task, is_open
from conversation_esaa.reading.shown import as_json, done
from conversation_esaa.text import inline

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.events import Entry

HELP = """Tasks of the conversation: what was promised, what comes next, what shows that it is done."""
EXAMPLES = """examples:
  conversation-esaa task create "Write the migration" --next-step "Ask about the old column"
  conversation-esaa task update CONV-001 --status in_progress
  conversation-esaa task close CONV-001 --evidence "merged in 4f2a91c"
  conversation-esaa task list"""


def arguments(parser: ArgumentParser) -> None:
    """One sub-command each."""
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="create|update|close|reopen|list|show"
    )

    create = actions.add_parser("create", help="promise something")
    create.add_argument("title_words", nargs="*", metavar="TITLE")
    create.add_argument("--title", default="", help="the title, as the older tool took it")
    create.add_argument("--description", default="", metavar="TEXT")
    create.add_argument("--next-step", default="", metavar="TEXT")
    create.add_argument("--status", default="open", choices=TASK_OPEN)
    _evidence_options(create)
    create.add_argument("--topic", action="append", default=[], metavar="TOP-n")

    update = actions.add_parser("update", help="change what is stated")
    update.add_argument("id", metavar="CONV-n")
    update.add_argument("--title", metavar="TEXT")
    update.add_argument("--description", metavar="TEXT")
    update.add_argument("--next-step", metavar="TEXT")
    update.add_argument("--status", metavar="STATUS", help="one of: " + ", ".join(TASK_OPEN))
    _evidence_options(update)
    update.add_argument("--topic", action="append", default=[], metavar="TOP-n")

    close = actions.add_parser("close", help="it is done, or given up")
    close.add_argument("id", metavar="CONV-n")
    close.add_argument("--evidence", default="", metavar="TEXT", help="how a reader can check")
    close.add_argument("--status", default="completed", choices=("completed", "cancelled"))
    _evidence_options(close)

    reopen = actions.add_parser("reopen", help="it was not done after all")
    reopen.add_argument("id", metavar="CONV-n")
    reopen.add_argument("--evidence", default="", metavar="TEXT", help="why")
    reopen.add_argument("--next-step", default="", metavar="TEXT")

    listing = actions.add_parser("list", help="the open ones, or those of a status")
    listing.add_argument("--status", default="open", choices=("open", "all", *TASK_STATUSES))

    show = actions.add_parser("show", help="one task")
    show.add_argument("id", metavar="CONV-n")
    for action in (create, update, close, reopen):
        action.add_argument("--agent", default="", metavar="NAME", help="who curates (default: detected)")


def run(args: Namespace, call: Call) -> None:
    """Carry out one of them."""
    match args.action:
        case "create":
            _told(
                call,
                call.workspace.create_task(
                    " ".join(args.title_words) or args.title,
                    description=args.description,
                    next_step=args.next_step,
                    status=args.status,
                    sources=args.source,
                    topics=args.topic,
                    by=args.agent,
                ),
            )
        case "update":
            _told(
                call,
                call.workspace.update_task(
                    args.id,
                    title=args.title,
                    description=args.description,
                    next_step=args.next_step,
                    status=args.status,
                    sources=args.source,
                    topics=args.topic,
                    by=args.agent,
                ),
            )
        case "close":
            _told(
                call,
                call.workspace.close_task(
                    args.id, evidence=args.evidence, status=args.status, sources=args.source, by=args.agent
                ),
            )
        case "reopen":
            _told(
                call,
                call.workspace.reopen_task(
                    args.id, evidence=args.evidence, next_step=args.next_step, by=args.agent
                ),
            )
        case "list":
            _list(args.status, call)
        case _:
            show(args.id, call)


def show(task_id: str, call: Call) -> None:
    """One task, as the log has it now."""
    overview = call.workspace.overview()
    task = existing(overview.state, task_id)
    call.out.data("task", {"freshness": overview.freshness, "task": task})
    call.out.text(_whole(task))
    call.out.text(overview.freshness.words())


def _evidence_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--source", action="append", default=[], metavar="EVENT", help="an event it rests on; may be repeated"
    )


def _told(call: Call, entry: Entry) -> None:
    call.out.data("task", {"event": as_json(entry)})
    call.out.text(done(entry))


def _list(status: str, call: Call) -> None:
    overview = call.workspace.overview()
    tasks = list(overview.state.tasks.values())
    if status == "open":
        tasks = [task for task in tasks if is_open(task)]
    elif status != "all":
        tasks = [task for task in tasks if task.status == status]
    call.out.data("tasks", {"freshness": overview.freshness, "status": status, "tasks": tasks})
    call.out.text("\n".join(map(_line, tasks)) or "none")
    call.out.text(overview.freshness.words())


def _line(task: Task) -> str:
    step = f" — next: {inline(task.next_step, limit=120)}" if task.next_step else ""
    return f"{task.id} [{inline(task.status)}] {inline(task.title, limit=160)}{step}"


def _whole(task: Task) -> str:
    lines = [_line(task)]
    for name in msgspec.structs.fields(Task):
        value = getattr(task, name.name)
        if name.name in ("id", "title", "status", "next_step", "seq", "event_id") or not value:
            continue
        shown = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        lines.append(f"  {name.name.replace('_', ' ')}: {inline(shown)}")
    return "\n".join(lines)
