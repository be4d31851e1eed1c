"""What an agent is about to delete by itself before it was captured."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from conversation_esaa.capture.survey import survey
from conversation_esaa.capture.sync import Sources
from conversation_esaa.reading.diagnosis import WARN_DAYS
from conversation_esaa.timestamps import to_utc

if TYPE_CHECKING:
    from conversation_esaa.workspace import Workspace


def warnings(workspace: Workspace) -> list[str]:
    """A sentence for each agent that may soon delete sessions of this workspace with news in them.

    What an agent's settings say is read and never changed. Costs a stat per session file.
    """
    machine = workspace.machine
    by = to_utc(datetime.fromisoformat(machine.now()) + timedelta(days=WARN_DAYS))
    found = survey(
        layout=workspace.layout,
        settings=workspace.settings,
        sources=Sources(environ=machine.environ, user_home=machine.user_home),
    )
    return [
        f"{workspace.root}: {agent.title} deletes sessions {agent.retention.days} days after their last word "
        f"({agent.retention.setting}), and {agent.with_news} of them are not captured; the oldest may go from "
        f"{agent.deleted_from[:10]} on. `conversation-esaa sync` says what hinders"
        for agent in found
        if agent.retention and not agent.excluded and "" < agent.deleted_from <= by
    ]
