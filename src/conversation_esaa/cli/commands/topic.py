"""`topic`: the index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import many
from conversation_esaa.curation.topics import existing
from conversation_esaa.events import TOPIC_STATUSES
from conversation_esaa.reading.shown import as_json, done
from conversation_esaa.text import inline

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.events import Entry
    from conversation_esaa.projections.topics import Topic

HELP = """Topics: names for subjects, and what was said, decided and promised about them. Also `topics`."""
EXAMPLES = """examples:
  conversation-esaa topic create "Payment retries" --keyword backoff --event last
  conversation-esaa topic link TOP-001 --event 4f2a91c0 --task CONV-002
  conversation-esaa context --topic-id TOP-001"""


def arguments(parser: ArgumentParser) -> None:
    """One sub-command each."""
    actions = parser.add_subparsers(
        dest="action", required=True, metavar="create|update|link|unlink|close|list|show"
    )
    create = actions.add_parser("create", help="give a subject a name")
    create.add_argument("title_words", nargs="*", metavar="TITLE")
    create.add_argument("--title", "--topic-title", default="", help="the title, as the older tool took it")
    create.add_argument("--summary", default="", metavar="TEXT")
    create.add_argument("--keyword", action="append", default=[], metavar="WORD")
    _event_options(create)

    update = actions.add_parser("update", help="change what is stated")
    update.add_argument("id", metavar="TOP-n")
    update.add_argument("--title", "--topic-title", metavar="TEXT")
    update.add_argument("--summary", metavar="TEXT")
    update.add_argument("--status", choices=TOPIC_STATUSES)
    update.add_argument("--keyword", action="append", metavar="WORD", help="replaces all keywords")

    link = actions.add_parser("link", help="events, decisions or tasks belong to it")
    unlink = actions.add_parser("unlink", help="a link was a mistake")
    for action in (link, unlink):
        action.add_argument("id", metavar="TOP-n")
        _event_options(action)
        action.add_argument("--decision", action="append", default=[], metavar="DEC-n")
        action.add_argument("--task", action="append", default=[], metavar="CONV-n")

    close = actions.add_parser("close", help="the subject is done with")
    close.add_argument("id", metavar="TOP-n")
    close.add_argument("--evidence", default="", metavar="TEXT")
    close.add_argument("--status", default="completed", choices=("completed", "archived"))

    listing = actions.add_parser("list", help="the topics, or those of a status")
    listing.add_argument("--status", default="all", choices=("all", *TOPIC_STATUSES))

    show = actions.add_parser("show", help="one topic with its links")
    show.add_argument("id", metavar="TOP-n")
    for action in (create, update, link, unlink, close):
        action.add_argument("--agent", default="", metavar="NAME", help="who curates (default: detected)")


def run(args: Namespace, call: Call) -> None:
    """Carry out one of them."""
    match args.action:
        case "create":
            entry = call.workspace.create_topic(
                " ".join(args.title_words) or args.title,
                summary=args.summary,
                keywords=args.keyword,
                events=_events(args),
                by=args.agent,
            )
        case "update":
            entry = call.workspace.update_topic(
                args.id,
                title=args.title,
                summary=args.summary,
                status=args.status,
                keywords=args.keyword,
                by=args.agent,
            )
        case "link":
            entry = call.workspace.link(
                args.id, events=_events(args), decisions=args.decision, tasks=args.task, by=args.agent
            )
        case "unlink":
            entry = call.workspace.unlink(
                args.id, events=_events(args), decisions=args.decision, tasks=args.task, by=args.agent
            )
        case "close":
            entry = call.workspace.close_topic(
                args.id, evidence=args.evidence, status=args.status, by=args.agent
            )
        case "list":
            _list(args.status, call)
            return
        case _:
            show(args.id, call)
            return
    _told(call, entry)


def show(topic_id: str, call: Call) -> None:
    """One topic with its links, as the log has it now."""
    overview = call.workspace.overview()
    topic = existing(overview.state, topic_id)
    call.out.data("topic", {"freshness": overview.freshness, "topic": topic})
    call.out.text(_whole(topic))
    call.out.text(overview.freshness.words())


def _event_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--event", "--event-id", action="append", default=[], metavar="EVENT", help="may be repeated"
    )
    parser.add_argument("--events", default="", metavar="ID,ID", help="several at once")


def _events(args: Namespace) -> list[str]:
    return [*args.event, *(part.strip() for part in args.events.split(",") if part.strip())]


def _told(call: Call, entry: Entry) -> None:
    call.out.data("topic", {"event": as_json(entry)})
    call.out.text(done(entry))


def _list(status: str, call: Call) -> None:
    overview = call.workspace.overview()
    topics = [topic for topic in overview.state.topics.values() if status in ("all", topic.status)]
    call.out.data("topics", {"freshness": overview.freshness, "status": status, "topics": topics})
    call.out.text("\n".join(map(_line, topics)) or "none")
    call.out.text(overview.freshness.words())


def _line(topic: Topic) -> str:
    return (
        f"{topic.id} [{inline(topic.status)}] {inline(topic.title, limit=160)}"
        f" ({many(len(topic.key_event_ids), 'event')}, last {topic.last_ts})"
    )


def _whole(topic: Topic) -> str:
    lines = [_line(topic), f"  {inline(topic.summary)}"]
    for label, ids in (
        ("keywords", topic.keywords),
        ("decisions", topic.decision_ids),
        ("tasks", topic.task_ids),
        ("events", tuple(event_id[:12] for event_id in topic.key_event_ids)),
    ):
        if ids:
            lines.append(f"  {label}: {', '.join(map(inline, ids))}")
    lines.append(f"  read: `conversation-esaa context --topic-id {topic.id} --full`")
    return "\n".join(lines)
