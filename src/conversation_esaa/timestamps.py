"""Moments, in one form: RFC 3339 UTC with milliseconds and `Z`, so that text order is time order.

Pure: nothing here asks what time it is.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from conversation_esaa.patterns import lazy

UNKNOWN = ""  # the log did not say when

_FORM = lazy(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?"
    r"\s*([Zz]|[+-]\d\d:?(?:\d\d)?)?\s*"
)
_LATEST_S = 253_402_300_799  # 9999-12-31T23:59:59Z


def parse_utc(value: object) -> str:
    """Any spelling of a moment seen in agents' logs, in our form; UNKNOWN when it is none.

    A string is ISO 8601 / RFC 3339: with `Z`, an offset, or neither (then UTC), any number of fraction
    digits (cut to milliseconds), `:60` taken as the last millisecond of its minute. Numbers are refused:
    their unit is the caller's to know, see `from_epoch_ms` and `from_epoch_s`.
    """
    if not isinstance(value, str):
        return UNKNOWN
    if value[4:20:3] == "--T::." and value[23:] == "Z" and value[17:19] < "60":  # as we spell them
        try:
            datetime.fromisoformat(value)
        except ValueError:
            return UNKNOWN
        return value
    found = _FORM.fullmatch(value)
    if not found:
        return UNKNOWN
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    seconds, millis = int(second or 0), int((fraction or "0").ljust(3, "0")[:3])
    if seconds == 60:
        seconds, millis = 59, 999
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), seconds, millis * 1000, UTC
        )
        return to_utc(moment - _offset(zone))
    except (ValueError, OverflowError):
        return UNKNOWN


def from_epoch_ms(value: object) -> str:
    """Milliseconds since 1970 in our form; UNKNOWN when it is no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return UNKNOWN
    if not 0 <= value <= _LATEST_S * 1000:  # also refuses NaN
        return UNKNOWN
    return to_utc(datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(value)))


def from_epoch_s(value: object) -> str:
    """Seconds since 1970, whole or not, in our form; UNKNOWN when it is no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return UNKNOWN
    if not 0 <= value <= _LATEST_S:
        return UNKNOWN
    return from_epoch_ms(round(value * 1000))


def to_utc(moment: datetime) -> str:
    """An aware moment in our form."""
    return f"{moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone in "Zz":
        return timedelta()
    digits = zone[1:].replace(":", "").ljust(4, "0")
    distance = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -distance if zone[0] == "-" else distance
