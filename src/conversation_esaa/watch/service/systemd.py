"""A unit of the user's own systemd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conversation_esaa.watch.service.order import DESCRIPTION, MARK, NAME, Order, Service

if TYPE_CHECKING:
    from pathlib import Path

UNIT = f"{NAME}.service"


def service(order: Order, *, config_home: Path) -> Service:
    """As it is installed for one user. `config_home`: `~/.config`, or what `$XDG_CONFIG_HOME` says."""
    systemctl = ["systemctl", "--user"]
    return Service(
        kind="systemd user unit",
        file=config_home / "systemd" / "user" / UNIT,
        content=unit(order).encode("utf-8", "surrogateescape"),
        start=[
            [*systemctl, "daemon-reload"],
            [*systemctl, "enable", UNIT],
            [*systemctl, "restart", UNIT],
        ],
        stop=[[*systemctl, "disable", "--now", UNIT]],
        forgotten=[[*systemctl, "daemon-reload"]],
        mend=f"The unit is written. In a login session of your own, `systemctl --user enable --now {UNIT}` starts "
        "it (over su or ssh: `export XDG_RUNTIME_DIR=/run/user/$(id -u)` first). Where no systemd runs for users, "
        "as in most containers, `conversation-esaa watch` in a terminal does the same.",
        ask=f"journalctl --user -u {UNIT}",
    )


def unit(order: Order) -> str:
    """The text of the unit file.

    `:` before the program: a `$` in a path is a dollar sign. Needs systemd 244.
    """
    command = order.command
    if any(char < " " or char in _NO_PROGRAM for char in command[0]):
        command = ["/bin/sh", "-c", 'exec "$0" "$@"', *command]
    lines = [
        f"# {MARK}",
        "[Unit]",
        f"Description={DESCRIPTION}",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart=:{' '.join(map(quoted, command))}",
        *(f"Environment={quoted(f'{name}={value}')}" for name, value in sorted(order.environ.items())),
        "Restart=on-failure",
        "RestartSec=30",
        "Nice=10",
        "UMask=0077",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    return "\n".join(lines)


def quoted(word: str) -> str:
    """One word of a unit file, whatever is in it: systemd.syntax(7), systemd.unit(5) on specifiers."""
    escaped = (
        f"\\x{ord(char):02x}" if char < " " or char == "\x7f" else _ESCAPED.get(char, char) for char in word
    )
    return f'"{"".join(escaped)}"'


_NO_PROGRAM = "\\\"'\x7f"  # what systemd takes in an argument and not in the name of a program
_ESCAPED = {"\\": "\\\\", '"': '\\"', "%": "%%"}
