"""`sync`: capture now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from conversation_esaa.cli.call import as_json, as_text
from conversation_esaa.cli.words import many, plain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.capture.report import AgentReport, SyncReport
    from conversation_esaa.cli.call import Call

HELP = """Capture what is new in the agents' logs for this workspace: all sessions, each visible turn once.
Exit code 3 says that something could not be read; everything else was captured."""
EXAMPLES = """examples:
  conversation-esaa sync
  conversation-esaa sync --agent codex --agent grok
  conversation-esaa sync --full      also find changes that size and time do not show"""

NAMED = 5


def arguments(parser: ArgumentParser) -> None:
    """What to read."""
    parser.add_argument(
        "--agent", action="append", default=[], metavar="NAME", help="only this agent's logs; may be repeated"
    )
    parser.add_argument("--session", metavar="PATH", help="only this native log")
    parser.add_argument("--full", action="store_true", help="look into every file, also unchanged ones")
    parser.add_argument("--mode", help="ignored; the older tool had it")


def run(args: Namespace, call: Call) -> int:
    """Capture and tell."""
    session = Path(args.session).expanduser() if args.session else None
    report = call.workspace.sync(agents=args.agent, session=session, full=args.full, answers=_answers)
    call.out.data("sync", _document(report))
    call.out.text(told(report))
    return exit_code(report)


def _answers(report: SyncReport) -> tuple[str, str]:
    """What this command prints, as text and as JSON."""
    return as_text(told(report)), as_json("sync", _document(report))


def exit_code(report: SyncReport) -> int:
    """3 when something could not be read."""
    return 3 if report.partial else 0


def told(report: SyncReport) -> str:
    """What a run did, an agent a line."""
    lines = [_agent_line(agent) for agent in report.agents if agent.found or agent.moved or agent.failed]
    if absent := len(report.agents) - len(lines):
        lines.append(f"  {'not found':<12} {many(absent, 'agent')}: `conversation-esaa agents`")
    for agent in report.agents:
        lines += _remarks(agent)
    if report.recovered:
        lines.append(f"The log ended in a torn line, as after a crash: {plain(report.recovered)}")
    lines.append(f"{many(report.captured, 'new event')}; log position {report.head.seq}.")
    return "\n".join(lines)


def _agent_line(agent: AgentReport) -> str:
    if agent.failed:
        return f"  {agent.agent:<12} could not be looked at: {agent.failed}"
    if not agent.found:
        return f"  {agent.agent:<12} not found ({plain(agent.home)})"
    if not agent.read:
        return f"  {agent.agent:<12} nothing new ({many(agent.sessions, 'session file')})"
    news = f"{agent.captured} new" if agent.captured else "nothing new"
    already = f", {agent.known} known already" if agent.known else ""
    return f"  {agent.agent:<12} {news} in {agent.read} of {many(agent.sessions, 'session file')}{already}"


def _remarks(agent: AgentReport) -> list[str]:
    lines = []
    if agent.refused:
        turns = sum(agent.refused.values())
        where = ", ".join(map(plain, sorted(agent.refused_cwds)[:NAMED])) + (
            " …" if len(agent.refused_cwds) > NAMED else ""
        )
        lines.append(
            f"{agent.agent}: {many(turns, 'turn')} of {many(len(agent.refused), 'session')} said elsewhere, refused:"
            f" {where}"
        )
    if agent.private:
        lines.append(f"{agent.agent}: {many(agent.private, 'turn')} marked <private>, not stored")
    if agent.unknown:
        kinds = ", ".join(f"{plain(kind)} ({count})" for kind, count in sorted(agent.unknown.items())[:NAMED])
        lines.append(f"{agent.agent}: record types not understood: {kinds}")
    for path, strange in list(agent.strange.items())[:NAMED]:
        lines.append(f"{agent.agent}: {plain(path)}: {plain(strange)}: its format may have changed;")
        lines.append("  `conversation-esaa sample PATH` shows its structure, without text, to report")
    lines += [f"{agent.agent}: {count} × {plain(reason)}" for reason, count in sorted(agent.unlisted.items())]
    for problem in agent.problems[:NAMED]:
        line = f", line {problem.line_no}" if problem.line_no else ""
        lines.append(f"{agent.agent}: {plain(problem.path)}{line}: {plain(problem.problem)}")
    if len(agent.problems) > NAMED:
        lines.append(f"{agent.agent}: {len(agent.problems) - NAMED} more problems, see --json")
    return lines


def _document(report: SyncReport) -> dict[str, object]:
    fields = {name: getattr(report, name) for name in report.__struct_fields__}
    return {"partial": report.partial, **fields}
