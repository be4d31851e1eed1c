"""Trying the way from an agent's hook to the log, with a made-up call."""

from __future__ import annotations

import subprocess
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import msgspec

from conversation_esaa.capture import spool
from conversation_esaa.capture.heard import PROOF, Heard, heard
from conversation_esaa.errors import ConversationError, LockTimeout
from conversation_esaa.hooks.command import CMD, SH, command
from conversation_esaa.log.lock import held

if TYPE_CHECKING:
    from pathlib import Path

    from conversation_esaa.hooks.command import Program
    from conversation_esaa.layout import Layout
    from conversation_esaa.machine import Machine

WAIT_S = 5.0  # for a watcher that takes the call out of the spool before we see it there
AGAIN_S = 0.02
CALL_S = 10  # agents give a hook no more


def failure(layout: Layout, machine: Machine, program: Program, agent: str) -> str:
    """Make the call that the agent's settings have for it; "" when it came through, else what did not.

    The call goes through the shell and the entry file as an agent's would, says that it is a proof, and stands
    for nothing said. No worker is started by it where we can keep one out.
    """
    before = set(_names(layout))
    proofs = heard(layout).get(agent, Heard()).proofs
    with ExitStack() as alone:
        with suppress(LockTimeout):  # a worker is at it; it will take the call, and take it down
            alone.enter_context(held(layout.worker_lock, purpose="doctor", wait_s=0))
        problem = _called(layout.root, machine, program, agent)
        deadline = time.monotonic() + (0 if problem else WAIT_S)
        while True:
            for path in spool.waiting(layout):
                if path.name not in before and _is_proof(spool.read(path), agent):
                    spool.done([path])
                    return ""
            if heard(layout).get(agent, Heard()).proofs > proofs:
                return ""
            if time.monotonic() >= deadline:
                return problem or "its call did not arrive in the spool"
            time.sleep(AGAIN_S)


def _called(root: Path, machine: Machine, program: Program, agent: str) -> str:
    payload = msgspec.json.encode({"hook_event_name": PROOF, "cwd": str(root)})
    try:
        text = command(program, CMD if program.windows else SH, agent, PROOF)
        ran = subprocess.run(
            ["cmd", "/d", "/c", text] if program.windows else ["sh", "-c", text],
            cwd=root,
            env=dict(machine.environ),
            input=payload,
            capture_output=True,
            timeout=CALL_S,
            check=False,
        )
    except ConversationError as error:
        return error.message
    except subprocess.TimeoutExpired:
        return f"its call did not end within {CALL_S} s"
    except (OSError, ValueError) as error:
        return f"its call could not be made ({type(error).__name__})"
    if ran.returncode or ran.stdout or ran.stderr:
        return f"its call ended with {ran.returncode} and {len(ran.stdout + ran.stderr)} bytes of output"
    return ""


def _is_proof(hook: spool.Hook, agent: str) -> bool:
    return hook.event == PROOF and hook.agent == agent


def _names(layout: Layout) -> list[str]:
    try:
        return [path.name for path in layout.spool.iterdir()]
    except OSError:
        return []
