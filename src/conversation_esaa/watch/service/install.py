"""Put the service in its place, have it started, and take exactly ours away again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conversation_esaa.agents.registry import agent, modules
from conversation_esaa.errors import ConversationError
from conversation_esaa.log.lock import is_held
from conversation_esaa.machine import STATE_DIRECTORY, state_directory
from conversation_esaa.replace import replace_file
from conversation_esaa.watch import state
from conversation_esaa.watch.service import launchd, systemd, windows
from conversation_esaa.watch.service.order import MARK, Order, Service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conversation_esaa.machine import Machine

COMMAND_S = 60  # for one command of the system
BEGINS_S = 15.0  # for a watcher that the system has started
ENDS_S = 15.0  # for a watcher that was asked to end

Run = Callable[[Sequence[str]], tuple[int, str]]


class ServiceRefused(ConversationError):
    """The system did not take the service, or another file is where ours would be."""

    code = "watch.service"


def planned(machine: Machine, *, poll: bool = False, system: str = sys.platform) -> Service:
    """What would be installed on this machine; nothing is done."""
    order = Order(
        command=[_interpreter(system), "-P", "-m", "conversation_esaa", "watch", "--registered"]
        + ["--poll"] * poll,
        environ=_environ(machine),
        user="\\".join(filter(None, (machine.environ.get(name, "") for name in ("USERDOMAIN", "USERNAME")))),
    )
    if system == "win32":
        return windows.service(order, state=state_directory(machine))
    if system == "darwin":
        return launchd.service(order, user_home=machine.user_home, uid=os.getuid())
    config_home = Path(machine.environ.get("XDG_CONFIG_HOME") or machine.user_home / ".config")
    return systemd.service(order, config_home=config_home)


def install(machine: Machine, service: Service, *, run: Run | None = None) -> None:
    """Write the file, end the watcher that runs, whatever its version, and have the system start this one.

    Raises ServiceRefused, with what a person can do; the file stays then, so that the mend is short.
    """
    run = run or runner(machine)
    if service.file.exists() and not is_ours(service.file):
        raise ServiceRefused(
            f"{service.file} is there and was not written by us",
            hint="Move it away, then run `conversation-esaa watch --install` again.",
        )
    try:
        service.file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(service.file, service.content)
    except OSError as error:
        raise ServiceRefused(
            f"{service.file}: {error.strerror or type(error).__name__}",
            hint="Make it writable for your user.",
        ) from None
    for command in service.stop:
        run(command)
    end_running(machine)
    for command in service.start:
        code, said = run(command)
        if code:
            raise ServiceRefused(f"`{' '.join(command)}` failed: {said}", hint=service.mend)


def await_begin(machine: Machine, service: Service) -> None:
    """Return when a watcher runs. Raises ServiceRefused when none does after a while: started is not running."""
    deadline = time.monotonic() + BEGINS_S
    while not is_held(state.lock_file(machine)):
        if time.monotonic() > deadline:
            raise ServiceRefused(
                f"the {service.kind} was started, and no watcher runs after {BEGINS_S:g} s",
                hint=f"`{service.ask}` shows why; `conversation-esaa watch` in a terminal shows it too.",
            )
        time.sleep(0.05)


def uninstall(machine: Machine, service: Service, *, run: Run | None = None) -> bool:
    """Stop it and remove the file; whether there was one of ours. Another's file is left alone."""
    run = run or runner(machine)
    if not service.file.exists():
        return False
    if not is_ours(service.file):
        raise ServiceRefused(
            f"{service.file} was not written by us",
            hint="It was left as it is; remove it by hand if you want.",
        )
    for command in service.stop:
        run(command)
    service.file.unlink(missing_ok=True)
    for command in service.forgotten:
        run(command)
    return True


def is_ours(file: Path) -> bool:
    """Whether we wrote it: our mark is in it, in either encoding."""
    try:
        content = file.read_bytes()
    except OSError:
        return False
    return MARK.encode() in content or MARK.encode("utf-16-le") in content


def end_running(machine: Machine) -> None:
    """Ask the watcher of this user, if one runs, to end, and wait until it has. Raises ServiceRefused."""
    lock = state.lock_file(machine)
    deadline = time.monotonic() + ENDS_S
    asked = 0
    while is_held(lock):
        pid = state.read(state.state_file(machine)).pid
        if pid and pid != asked:
            asked = pid
            try:
                os.kill(pid, signal.SIGTERM)
            except OSError:
                asked = 0  # it ended meanwhile, or is not ours to end: the lock tells
        if time.monotonic() > deadline:
            raise ServiceRefused(
                f"the watcher that runs (pid {pid}) does not end",
                hint="End it by hand, then run `conversation-esaa watch --install` again.",
            )
        time.sleep(0.05)


def runner(machine: Machine) -> Run:
    """Runs a command of the system: its exit code, and the first line of what it said."""

    def run(command: Sequence[str]) -> tuple[int, str]:
        try:
            ran = subprocess.run(
                list(command),
                env=dict(machine.environ),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=COMMAND_S,
                check=False,
            )
        except FileNotFoundError:
            return 127, f"there is no {command[0]} here"
        except (OSError, subprocess.TimeoutExpired) as error:
            return 126, type(error).__name__
        said = (ran.stderr or ran.stdout).decode("utf-8", "replace").strip()
        return ran.returncode, said.splitlines()[0][:200] if said else f"exit code {ran.returncode}"

    return run


def _interpreter(system: str) -> str:
    """The Python that runs this; on Windows the one that opens no window."""
    if system == "win32":
        quiet = Path(sys.executable).with_name("pythonw.exe")
        if quiet.exists():
            return str(quiet)
    return sys.executable


def _environ(machine: Machine) -> dict[str, str]:
    """What of the environment decides where agents and we keep things; a service begins without it."""
    asked = _Asked(machine.environ)
    for name in modules():
        try:
            agent(name).home(asked, machine.user_home)
        except Exception:  # noqa: BLE001, S112 - the sync says which module is broken
            continue
    names = {*asked.names, STATE_DIRECTORY, "XDG_STATE_HOME"}
    return {name: machine.environ[name] for name in sorted(names) if machine.environ.get(name)}


class _Asked(Mapping[str, str]):
    """An environment that remembers what it was asked for."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return self._environ[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._environ)

    def __len__(self) -> int:
        return len(self._environ)
