"""What the agents and the person of the demo recorded about their conversation, as command lines."""

from __future__ import annotations

from conversation_esaa.ids import digest_of


def commands() -> tuple[tuple[str, ...], ...]:
    """Arguments of `conversation-esaa`, to be run in this order once the logs were captured."""
    return (
        ("goal", "ferry prints the next departures for a stop, offline, also after midnight"),
        (
            *("topic", "create", "Timetable", "--agent", "claude-code"),
            *("--summary", "How departures are stored, and which day they belong to"),
            *("--keyword", "service day", "--event", _CATCH),
        ),
        (
            *("decide", "The timetable ships inside the package; ferry never uses the network"),
            *("--rationale", "It changes twice a year, and there is no signal on the quay"),
            *("--source", _SHIP_IT, "--agent", "claude-code"),
        ),
        (
            *("decide", "Departures are stored as minutes since midnight of the service day"),
            *("--rationale", "The last boat leaves at 00:40 and belongs to the evening before"),
            *("--source", _MINUTES, "--topic", "TOP-001", "--agent", "claude-code"),
        ),
        (
            *("task", "create", "Find the boat at 00:40 when asked after midnight", "--agent", "codex"),
            *("--source", _BUG, "--topic", "TOP-001"),
        ),
        (
            *("task", "close", "CONV-001", "--evidence", "tests/test_next.py at 23:58 and 00:12, 11 passed"),
            *("--agent", "codex"),
        ),
        (
            *("task", "create", "Holidays take the Sunday timetable", "--agent", "grok"),
            *("--description", "Six fixed dates, five that move with Easter; computed, no list"),
            *("--next-step", "Write holidays.py without 24 December, and a test for Easter Monday 2025"),
            *("--source", _HOLIDAYS, "--topic", "TOP-001"),
        ),
        (
            *("task", "create", "Ask the crew whether 24 December counts as a holiday"),
            *("--status", "blocked", "--next-step", "Waits for the crew's answer"),
        ),
    )


def _said(source: str, source_ref: str) -> str:
    """The id of a turn of the demo: it follows from the agent's own record id."""
    return digest_of("turn", source, source_ref)


_SHIP_IT = _said("claude-code", "d1190d67-132c-524f-9595-6dfcf0cad3be")
_CATCH = _said("claude-code", "de791f9e-85e2-5e42-b1df-80b2e3071423")
_MINUTES = _said("claude-code", "24a39351-23e8-5110-b076-dbf825a9e38a")
_BUG = _said("codex", "8d1845d2-a636-5716-b6ca-3702d7bb1494")
_HOLIDAYS = _said("grok", "019cd77a-91e0-7d33-b0f4-1c2d3e4f5a06-9@1741616062090")
