"""`doctor`: what is wrong between the agents and the log, and how it is mended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.cli.words import many, plain

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.reading.diagnosis import AgentHealth, Diagnosis, Problem
    from conversation_esaa.watch.state import WatcherStatus

HELP = """Look at each agent's way into the log: found, readable, hooks set up, allowed and calling, last turn captured,
what is behind, what is not understood, what will be deleted. Each problem comes with what mends it. Exit code 3
when there is one."""
EXAMPLES = """examples:
  conversation-esaa doctor
  conversation-esaa doctor --fix           mend what is safe: modes, waiting calls, read models
  conversation-esaa doctor --no-proof      do not try the hooks with a made-up call"""

FOUND_PROBLEM = 3


def arguments(parser: ArgumentParser) -> None:
    """How much to do."""
    parser.add_argument("--fix", action="store_true", help="mend what is safe to mend, then look")
    parser.add_argument(
        "--no-proof", action="store_true", help="do not try each agent's hook with a made-up call"
    )


def run(args: Namespace, call: Call) -> int:
    """Look, mend, tell."""
    from conversation_esaa.watch.state import status as watcher_status

    found = call.workspace.doctor(prove=not args.no_proof, fix=args.fix)
    watcher = watcher_status(call.machine)
    call.out.data("doctor", {**_as_data(found), "watcher": watcher})
    call.out.text(told(found, watcher))
    return FOUND_PROBLEM if found.problems else 0


def _as_data(found: Diagnosis) -> dict[str, object]:
    import msgspec

    return msgspec.structs.asdict(found)


def told(found: Diagnosis, watcher: WatcherStatus) -> str:
    """The screen."""
    from conversation_esaa.cli.commands.watch import told as told_watcher

    lines = [f"workspace  {plain(found.workspace)}"]
    if found.freshness:
        lines.append(f"log        {found.freshness.words().removeprefix('log ')}")
    lines.append(f"watcher    {told_watcher(watcher)[0]}")
    lines += [f"fixed      {plain(each)}" for each in found.fixed]
    present = [each for each in found.agents if each.found or each.hooks]
    if present:
        lines += ["", "agents", *(line for each in present for line in _agent(each))]
    absent = [each for each in found.agents if not (each.found or each.hooks)]
    if absent:
        lines.append(f"  not found    {many(len(absent), 'other')}: `conversation-esaa agents`")
    more = [f"  the watcher: {plain(each)}" for each in (*watcher.warnings, *watcher.notes)]
    for title, listed, others in (
        ("problems", found.problems, []),
        ("deserves a look", found.notes, more),
    ):
        if listed or others:
            lines += ["", title, *(line for each in listed for line in _problem(each)), *others]
    if not found.problems:
        lines += ["", "no problem found"]
    return "\n".join(lines)


def _agent(each: AgentHealth) -> list[str]:
    said = f"{many(each.captured, 'event')} from {many(each.sessions, 'session')}"
    behind = f"; {each.bytes_behind:,} bytes in {each.with_news} not captured" if each.with_news else ""
    last = f"last said {_ago(each.last_turn_age_s)}" if each.last_turn else "nothing said here yet"
    version = f" {plain(each.version)}" if each.version else ""
    lines = [f"  {each.agent:<12} {plain(each.title)}{version}: {said}{behind}; {last}"]
    hooks = [fact for fact in each.hooks if fact.kind != "instructions"]
    if hooks:
        state = "stale" if any(fact.stale for fact in hooks) else "on"
        state = "wait for approval" if any(fact.approval_required for fact in hooks) else state
        state += ", handoff injected" if any(fact.inject for fact in hooks) else ""
        state += {True: ", proved", False: ", no way through", None: ""}[each.proved]
        called = f"last called {each.last_hook} ({plain(each.last_hook_event)})" if each.last_hook else ""
        lines.append(f"  {'':12} hooks {state}; {called or 'never called'}")
    if each.retention_days is not None and each.found:
        lines.append(f"  {'':12} deletes its sessions after {many(each.retention_days, 'day')}")
    return lines


def _problem(each: Problem) -> list[str]:
    about = f"{each.agent}: " if each.agent else ""
    return [f"  {about}{plain(each.what)}", f"    {plain(each.mend)}"]


def _ago(seconds: int | None) -> str:
    if seconds is None:
        return "at an unknown time"
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{many(seconds // size, unit)} ago"
    return "just now"
