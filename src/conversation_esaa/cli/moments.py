"""Moments as people type them: a date, a time, or how long ago."""

from __future__ import annotations

from datetime import datetime, timedelta

from conversation_esaa.errors import UsageError
from conversation_esaa.patterns import lazy
from conversation_esaa.timestamps import UNKNOWN, parse_utc, to_utc

_AGO = lazy(r"(\d{1,6})\s*(m|min|h|d|w)")
_UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(given: str, *, now: str, option: str) -> str:
    """RFC 3339 UTC for `2026-03-01`, `2026-03-01T10:00+02:00` (UTC without an offset), `90m`, `2h`, `3d`, `1w`.

    now   what "ago" counts from. Raises UsageError for anything else; "" stays "".
    """
    if not given:
        return ""
    if ago := _AGO.fullmatch(given.strip()):
        distance = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        try:
            return to_utc(datetime.fromisoformat(now) - distance)
        except OverflowError:
            return to_utc(datetime.fromisoformat("0001-01-01T00:00:00+00:00"))
    found = parse_utc(given)
    if found == UNKNOWN:
        raise UsageError(
            f"{option} does not know the time {given!r}",
            hint="Write 2026-03-01, 2026-03-01T10:00Z, or how long ago: 90m, 2h, 3d, 1w.",
        )
    return found
