"""A launch agent of macOS."""

from __future__ import annotations

import plistlib
from typing import TYPE_CHECKING

from conversation_esaa.watch.service.order import MARK, NAME, Order, Service

if TYPE_CHECKING:
    from pathlib import Path

LABEL = f"{NAME}.watch"


def service(order: Order, *, user_home: Path, uid: int) -> Service:
    """As it is installed for one user."""
    file = user_home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    domain = f"gui/{uid}"
    return Service(
        kind="launch agent",
        file=file,
        content=plist(order),
        start=[["launchctl", "bootstrap", domain, str(file)]],
        stop=[["launchctl", "bootout", f"{domain}/{LABEL}"]],
        mend="The file is written and launchd reads it at your next login. In a session with a screen, "
        f"`launchctl bootstrap {domain} {file}` starts it now.",
        ask=f"launchctl print {domain}/{LABEL}",
    )


def plist(order: Order) -> bytes:
    """The property list. Its output goes nowhere: `watch --status` tells, and no file grows."""
    content = plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": order.command,
            "EnvironmentVariables": order.environ,
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "ThrottleInterval": 30,
            "ProcessType": "Background",
            "LowPriorityIO": True,
            "Umask": 0o077,
            "StandardOutPath": "/dev/null",
            "StandardErrorPath": "/dev/null",
        },
        sort_keys=False,
    )
    first, rest = content.split(b"\n", maxsplit=1)
    return b"\n".join((first, b"<!-- " + MARK.encode() + b" -->", rest))
