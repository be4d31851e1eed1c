"""The part of `Workspace` that takes a turn from whoever has it: for agents whose logs no module here reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from conversation_esaa.agents.registry import modules
from conversation_esaa.canonical import without_surrogates
from conversation_esaa.capture.drafts import turn_event
from conversation_esaa.capture.gate import Verdict
from conversation_esaa.capture.roots import workspace_gate
from conversation_esaa.curated import Curated
from conversation_esaa.digests import sha256
from conversation_esaa.errors import ConversationError, UsageError
from conversation_esaa.opened import named_agent
from conversation_esaa.timestamps import parse_utc
from conversation_esaa.turn import Actor, Turn

if TYPE_CHECKING:
    from conversation_esaa.events import Entry, Recorded
    from conversation_esaa.projections.catalogue import State

LONGEST_NAME = 500  # characters of a session's name, of a key

NO_ORDINAL = -1  # `source_index` of a turn that no log numbers


class NotCaptured(ConversationError):
    """A turn that does not belong here, or that has another way in."""

    code = "capture.refused"


class Appended(Curated):
    """Turns by hand. Everything that holds for a turn from an agent's log holds for these."""

    def append_turn(
        self,
        text: str,
        *,
        agent: str,
        actor: str,
        key: str,
        session: str = "",
        said_at: str = "",
        cwd: str = "",
        model: str = "",
    ) -> Entry | None:
        """Take one thing that was said into the log, once for each key; None when it is there already.

        text     verbatim. What stands in `<private>` tags never reaches the disk.
        agent    whose conversation it is; one whose own log is read is refused, since it would come twice.
        actor    `user` or `assistant`.
        key      names the turn within its agent, for ever: the same key again adds nothing, whatever the text.
        session  the agent's name for the conversation it belongs to.
        said_at  when, in any form of RFC 3339; "" means now.
        cwd      where it was said: must lie in this workspace. "" means its root.
        model    as the agent names it.

        Raises UsageError for what cannot be, NotCaptured for what does not belong here, and what writing raises.
        """
        turn = self._turn_of(text, agent, actor, key, session=session, said_at=said_at, cwd=cwd, model=model)
        limit = self.settings.capture.max_text_characters
        event = turn_event(turn, source_path="", max_characters=limit)
        if event is None:
            raise NotCaptured(
                "nothing of it may be stored: it is blank, or all of it is private",
                hint="Nothing was written.",
            )

        def draft(_: State) -> list[Recorded]:
            return [] if self.knows(event.event_id) else [event]

        return next(iter(self.curate("capture", draft)), None)

    def _turn_of(
        self, text: str, agent: str, actor: str, key: str, *, session: str, said_at: str, cwd: str, model: str
    ) -> Turn:
        name = named_agent(agent)
        if name in modules():
            raise NotCaptured(
                f"the log of {name} is read by itself, and its turns would come twice",
                hint="`conversation-esaa sync` captures it.",
            )
        if actor not in (Actor.USER, Actor.ASSISTANT):
            raise UsageError(f"{actor[:40]!r} is no actor", hint="`user` or `assistant`.")
        for what, given in (("key", key), ("session", session)):
            if len(given) > LONGEST_NAME or not given.isprintable():
                raise UsageError(f"a {what} is one line of at most {LONGEST_NAME} characters")
        if not key:
            raise UsageError(
                "a turn needs a key, so that it is captured once",
                hint="Any name that the agent never gives to another turn.",
            )
        at = parse_utc(said_at or self.machine.now())
        if not at:
            raise UsageError(f"{said_at[:40]!r} is no moment", hint="For example 2026-03-01T10:00:00Z.")
        where = os.path.normpath(self.machine.present / cwd) if cwd else str(self.root)
        if workspace_gate(self.layout, self.settings).judge(where) is not Verdict.ADMITTED:
            raise NotCaptured(
                f"{where} is not in the workspace {self.root}",
                hint="Run the command in the project that it was said in, or name it with -C.",
            )
        return Turn(
            source=name,
            source_session_id=session or str(name),
            source_index=NO_ORDINAL,
            source_ref=f"key/{sha256(without_surrogates(key).encode()).hexdigest()[:32]}",
            actor=Actor(actor),
            text=text,
            said_at=at,
            cwd=where,
            model=model,
        )
