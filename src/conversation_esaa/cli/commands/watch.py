"""`watch`: one process that captures for all registered workspaces; and who starts it."""

from __future__ import annotations

import _thread
import os
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conversation_esaa.cli.commands import sync
from conversation_esaa.cli.words import many, plain
from conversation_esaa.errors import LockTimeout, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from conversation_esaa.cli.call import Call
    from conversation_esaa.watch.state import WatcherStatus

HELP = """Capture by itself: put this workspace on the list of those that are watched, and watch all of them until
stopped. One watcher serves a user; where one runs already, this workspace is added to it."""
EXAMPLES = """examples:
  conversation-esaa watch                  in a terminal, until Ctrl-C
  conversation-esaa watch --install        have the system start it, now and at each login
  conversation-esaa watch --status
  conversation-esaa watch --once           one look at this workspace, as `sync`"""

HOW = "`conversation-esaa watch --help` shows what each of them does."
DOING = ("once", "install", "uninstall", "status", "forget", "registered")


def arguments(parser: ArgumentParser) -> None:
    """What to do; and as sync has them, for --once."""
    add = parser.add_argument
    add("--once", action="store_true", help="look once at this workspace and end")
    add("--install", action="store_true", help="have systemd, launchd or Windows start it at login, and now")
    add("--uninstall", action="store_true", help="undo --install")
    add("--status", action="store_true", help="whether one runs, how, and for which workspaces")
    add("--forget", metavar="DIR", help="strike the workspace in DIR off the list; it need not exist")
    add("--registered", action="store_true", help="watch the list as it is: what --install has started")
    add("--poll", action="store_true", help="look every two seconds, ask the system for no events")
    add("--dry-run", action="store_true", help="with --install, --uninstall: only show what would be done")
    sync.arguments(parser)


def run(args: Namespace, call: Call) -> int:
    """Watch, or what was asked for instead."""
    chosen = [name for name in DOING if getattr(args, name) not in (False, None)]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} do not go together", hint=HOW)
    doing = chosen[0] if chosen else ""
    if doing != "once" and (args.agent or args.session or args.full):
        raise UsageError("--agent, --session and --full go with --once", hint="A watcher reads all agents.")
    if args.dry_run and doing not in ("install", "uninstall"):
        raise UsageError("--dry-run goes with --install and --uninstall", hint=HOW)
    match doing:
        case "once":
            return sync.run(args, call)
        case "install" | "uninstall":
            _service(args, call)
        case "status":
            _status(call)
        case "forget":
            _forget(args.forget, call)
        case _:
            _watch(args, call)
    return 0


def told(status: WatcherStatus) -> list[str]:
    """How it stands with the watcher, a line for each thing; `status` shows the first."""
    serving = [each for each in status.workspaces if each.state in ("watched", "failing")]
    if status.running:
        how = "by events" if status.mode == "events" else f"by polling: {plain(status.why)}"
        first = f"runs for {many(len(serving), 'workspace')}, {how} (pid {status.pid}, since {status.since})"
    else:
        first = "does not run"
    lines = [first]
    for each in status.workspaces:
        last = f", last capture {each.last_capture}" if each.last_capture else ""
        problem = f": {each.problem}" if each.problem else ""
        lines.append(f"  {each.state:<8} {plain(each.root)}{last}{plain(problem)}")
    return lines + [f"  {plain(line)}" for line in (*status.warnings, *status.notes)]


def _watch(args: Namespace, call: Call) -> None:
    from conversation_esaa.registered import register, registered
    from conversation_esaa.watch.loop import Watcher
    from conversation_esaa.watch.state import status

    if not args.registered:
        root = call.workspace.root
        if register(call.machine, root):
            call.out.text(f"{plain(str(root))} is registered")
    elif not registered(call.machine):
        call.out.data("watch", status(call.machine))
        call.out.text("no workspace is registered: `conversation-esaa watch` in one registers it")
        return
    stop = threading.Event()
    watcher = Watcher(
        call.machine,
        stop=stop,
        say=lambda words: call.out.text(f"{call.machine.now()[11:19]}Z {plain(words)}"),
        poll="asked for" if args.poll else "",
    )
    former = _stopped_by_signals(stop)
    try:
        watcher.run()
    except LockTimeout:
        now = status(call.machine)
        call.out.data("watch", now)
        call.out.text(f"a watcher runs already and serves what is registered (pid {now.pid})")
        return
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    call.out.data("watch", status(call.machine))


def _stopped_by_signals(stop: threading.Event) -> dict[int, Any]:
    """Let Ctrl-C, a closed terminal and a service manager end it in good order; returns who listened before.

    A handler runs between two steps of the main thread, which may be within `stop` and hold its lock: waiting for
    that there would be waiting for ever. So another thread sets it.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    numbers = [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]  # under nohup

    def told(*_: object) -> None:
        _thread.start_new_thread(stop.set, ())  # `threading.Thread` takes locks of its own

    return {number: signal.signal(number, told) for number in numbers}


def _status(call: Call) -> None:
    from conversation_esaa.watch.state import status

    now = status(call.machine)
    call.out.data("watch", now)
    first, *more = told(now)
    if not now.running:
        more.append("`conversation-esaa watch --install` has one started at each login")
    call.out.text("\n".join([f"the watcher {first}", *more]))


def _forget(directory: str, call: Call) -> None:
    from conversation_esaa.registered import forget
    from conversation_esaa.watch.state import status

    root = Path(os.path.normpath(call.machine.present / Path(directory).expanduser()))
    was_there = forget(call.machine, root)
    call.out.data("watch", status(call.machine))
    call.out.text(f"{plain(str(root))} is {'not watched any more' if was_there else 'not on the list'}")


def _service(args: Namespace, call: Call) -> None:
    from conversation_esaa.registered import register
    from conversation_esaa.watch.service import install
    from conversation_esaa.watch.state import status

    service = install.planned(call.machine, poll=args.poll)
    what = f"{service.kind} {plain(str(service.file))}"
    if args.dry_run:
        commands = service.start if args.install else [*service.stop, *service.forgotten]
        shown = "\n".join(["", *(f"$ {plain(' '.join(command))}" for command in commands)])
        content = service.content.decode(
            "utf-16" if service.content[:2] == b"\xff\xfe" else "utf-8", "replace"
        )
        call.out.data("watch", status(call.machine))
        call.out.text(f"{what}\n\n{content if args.install else '(would be removed)'}{shown}")
        return
    if args.uninstall:
        removed = install.uninstall(call.machine, service)
        call.out.data("watch", status(call.machine))
        call.out.text(f"{what} is removed" if removed else f"there is no {what}")
        return
    register(call.machine, call.workspace.root)
    install.install(call.machine, service)
    install.await_begin(call.machine, service)
    call.out.data("watch", status(call.machine))
    call.out.text(f"{what} is installed and started; `conversation-esaa watch --status` shows what it does")
