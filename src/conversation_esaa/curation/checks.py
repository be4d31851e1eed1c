"""What the words of a command must be before they become an event.

Every refusal names the command that helps, and none quotes what somebody wrote: only ids and statuses.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from conversation_esaa.errors import ConversationError, UnknownName, UsageError
from conversation_esaa.ids import HUMAN, EventId
from conversation_esaa.turn import Actor

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from conversation_esaa.ids import AgentId

LONGEST = 64 * 1024  # bytes of UTF-8, of one text

Known = Callable[[str], EventId]
"""An event id from itself or a unique prefix. Raises UnknownName or AmbiguousName."""

_Id = TypeVar("_Id", bound=str)


class BlankText(UsageError):
    """A text that has to say something says nothing."""

    code = "curation.blank_text"


class TextTooLong(ConversationError):
    """A text that belongs into a file, not into every handoff."""

    code = "curation.text_too_long"


class UnknownStatus(UsageError):
    """A status outside the vocabulary."""

    code = "curation.unknown_status"


class NotActive(ConversationError):
    """A decision that no longer holds cannot be superseded or retracted."""

    code = "curation.not_active"


class AlreadyClosed(ConversationError):
    """What is closed cannot be closed again, nor changed as if it were open."""

    code = "curation.already_closed"


class NotClosed(ConversationError):
    """What is open cannot be reopened."""

    code = "curation.not_closed"


class NothingToDo(ConversationError):
    """The log says this already, or the command states nothing."""

    code = "curation.nothing_to_do"


def actor_of(agent: AgentId) -> str:
    """Who speaks through a curated event: a person, or an agent."""
    return Actor.USER if agent == HUMAN else Actor.ASSISTANT


def stated(what: str, text: str, *, hint: str = "") -> str:
    """`text` without blanks around it. Raises BlankText, TextTooLong. `what` names it in the refusal."""
    text = optional(what, text)
    if not text:
        raise BlankText(f"{what} is blank", hint=hint)
    return text


def optional(what: str, text: str) -> str:
    """`text` without blanks around it; "" is fine. Raises TextTooLong."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > LONGEST:
        raise TextTooLong(
            f"{what} has {size} bytes, {LONGEST} are allowed",
            hint="Keep the long text in a file, and say here where it is.",
        )
    return text.strip()


def status_in(status: str, allowed: tuple[str, ...], *, hint: str = "") -> str:
    """`status` as the vocabulary spells it. Raises UnknownStatus."""
    spelled = status.strip().lower().replace("-", "_")
    if spelled not in allowed:
        near = difflib.get_close_matches(spelled, allowed, n=1, cutoff=0.5)
        meant = f"Did you mean {near[0]!r}? " if near else ""
        raise UnknownStatus(
            f"{status!r} is no status that can be set here",
            hint=hint or f"{meant}Known: {', '.join(allowed)}.",
        )
    return spelled


def existing(kind: str, name: str, known: Collection[_Id], *, listing: str) -> _Id:
    """`name` as one of `known`; case does not matter. Raises UnknownName.

    listing   the command or file that shows them all.
    """
    spelled = name.strip().upper()
    for candidate in known:
        if candidate in (spelled, name):
            return candidate
    near = difflib.get_close_matches(spelled, known, n=1, cutoff=0.5)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    raise UnknownName(kind, name[:80], known=tuple(known), hint=f"{meant}{listing} shows all of them.")


def events(names: Iterable[str], known: Known) -> tuple[EventId, ...]:
    """Full event ids, each once, in the order given."""
    return tuple(dict.fromkeys(known(name) for name in names))


def unique(names: Iterable[_Id]) -> tuple[_Id, ...]:
    """Each once, in the order given."""
    return tuple(dict.fromkeys(names))
