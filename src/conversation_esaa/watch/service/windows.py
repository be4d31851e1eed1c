"""A scheduled task of Windows, begun at logon."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from conversation_esaa.watch.service.order import DESCRIPTION, MARK, NAME, Order, Service

if TYPE_CHECKING:
    from pathlib import Path

TASK = f"{NAME} watch"


def service(order: Order, *, state: Path) -> Service:
    """As it is installed for one user. `state`: our per-user directory, where the task's text is kept."""
    file = state / "watch-task.xml"
    return Service(
        kind="scheduled task",
        file=file,
        content=task(order).encode("utf-16"),
        start=[
            ["schtasks", "/Create", "/TN", TASK, "/XML", str(file), "/F"],
            ["schtasks", "/Run", "/TN", TASK],
        ],
        stop=[["schtasks", "/End", "/TN", TASK], ["schtasks", "/Delete", "/TN", TASK, "/F"]],
        mend=f'The text of the task is written. `schtasks /Create /TN "{TASK}" /XML "{file}" /F` shows what Windows '
        "has against it; `conversation-esaa watch` in a terminal does the same.",
        ask=f'schtasks /Query /TN "{TASK}" /V /FO LIST',
    )


def task(order: Order) -> str:
    """The task's XML.

    A task gets the environment that is set for the user, and no other: what the order has of one is not in it.
    """
    program, *arguments = order.command
    user = f"<UserId>{escape(order.user)}</UserId>"
    return f"""\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>{escape(DESCRIPTION)}. {escape(MARK)}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger><Enabled>true</Enabled>{user}</LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">{user}<LogonType>InteractiveToken</LogonType><RunLevel>LeastPrivilege</RunLevel></Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Hidden>true</Hidden>
    <Priority>7</Priority>
    <RestartOnFailure><Interval>PT1M</Interval><Count>10</Count></RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{escape(program)}</Command>
      <Arguments>{escape(subprocess.list2cmdline(arguments))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
