"""What can go wrong, in words that help.

An error says what happened and where, what is still true, and the command that mends it. Callers read
facts from `code` and attributes, never out of the sentence. No error quotes what somebody said: errors
end up in bug reports.
"""

from __future__ import annotations


class ConversationError(Exception):
    """Every refusal of ours. `main` prints it once, as `error:` and `hint:`, and exits with `exit_code`."""

    code = "refused"
    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    @property
    def message(self) -> str:
        """The sentence, without the hint."""
        return str(self.args[0])


class UsageError(ConversationError):
    """The words of a command do not fit together."""

    code = "usage"
    exit_code = 2


class NoWorkspace(ConversationError):
    """There is no `.conversation-esaa/` here or above."""

    code = "workspace.missing"
    exit_code = 4


class LockTimeout(ConversationError):
    """Another process writes to the log, and did not finish in time."""

    code = "log.lock_timeout"
    exit_code = 5


class LogUnreadable(ConversationError):
    """The log, or the directory it is in, cannot be opened or written."""

    code = "log.unreadable"


class LogDamaged(ConversationError):
    """The end of the log is not something we may write behind."""

    code = "log.damaged"


class UnknownName(ConversationError):
    """A name (agent, task, topic, decision, event, status) that nothing here has.

    kind    what was looked for, in the user's word: "agent", "task", …
    name    what was given.
    known   the names there are, to suggest the nearest one from.
    """

    code = "unknown_name"

    def __init__(self, kind: str, name: str, *, known: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(f"no {kind} is called {name!r}", hint=hint or _suggestion(name, known))
        self.kind = kind
        self.name = name


class AmbiguousName(ConversationError):
    """A shortened id that fits more than one event."""

    code = "ambiguous_name"


def _suggestion(name: str, known: tuple[str, ...]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Known: {', '.join(known)}." if known else ""
