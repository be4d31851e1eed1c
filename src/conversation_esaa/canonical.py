"""Canonical JSON: one value, one byte string, on every machine.

Inside the profile that events keep (no floats, integers within ±(2^53−1), ASCII keys, no lone
surrogates) the sorted encoder of msgspec gives exactly the bytes of RFC 8785; a test holds it to the
`rfc8785` package. Outside the profile `canonical` refuses rather than give bytes that nobody else gets.
"""

from __future__ import annotations

from typing import Any

import msgspec

from conversation_esaa.patterns import lazy

MAX_INTEGER = 2**53 - 1

_SURROGATES = lazy("[\ud800-\udfff]")
_encode = msgspec.json.Encoder(order="sorted").encode


class NotCanonical(ValueError):
    """A value outside the profile; the message names its place and kind, not its text."""


def canonical(value: Any) -> bytes:
    """UTF-8 bytes of `value` by RFC 8785. Raises NotCanonical outside the profile."""
    _check(value, "$")
    return _encode(value)


def canonical_trusted(value: Any) -> bytes:
    """As `canonical`, without the walk over the value. For values whose shape a Struct already holds to
    the profile; a lone surrogate still raises, from the encoder.
    """
    return _encode(value)


def without_surrogates(text: str) -> str:
    """`text` with each lone surrogate replaced by U+FFFD. Costs one UTF-8 encoding, nothing for ASCII."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def _check(value: Any, where: str) -> None:
    match value:
        case None | bool():
            return
        case str():
            if without_surrogates(value) is not value:
                raise NotCanonical(f"{where}: a lone surrogate")
        case int():
            if abs(value) > MAX_INTEGER:
                raise NotCanonical(f"{where}: an integer beyond 2^53−1")
        case list() | tuple():
            for index, item in enumerate(value):
                _check(item, f"{where}[{index}]")
        case dict():
            for key, item in value.items():
                if not isinstance(key, str) or not key.isascii():
                    raise NotCanonical(f"{where}: a key that is not ASCII text")
                _check(item, f"{where}.{key}")
        case _:
            raise NotCanonical(f"{where}: a {type(value).__name__}")


def storable(value: object) -> str:
    """A string that can be stored as UTF-8; "" for anything else."""
    return without_surrogates(value) if isinstance(value, str) else ""
