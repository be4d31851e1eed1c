"""Sharing out a number of tokens: who gets room first, and what is counted as left out.

Pure arithmetic over texts that are ready: sections of items, each item in sizes from short to full, and a
plan that says in which order they get room. Nothing is cut here, only chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import msgspec

from conversation_esaa.text import tokens

T = TypeVar("T")


class Items(Sequence[T]):
    """What `make` makes of each of some values, when it is first looked at.

    Of a thousand items a few get room, and a text costs masking and escaping all that it says.
    """

    __slots__ = ("_made", "_make", "_values")

    def __init__(self, values: Sequence[Any], make: Callable[[Any], T]) -> None:
        self._values, self._make = values, make
        self._made: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> list[T]: ...

    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        if at not in self._made:
            self._made[at] = self._make(self._values[at])
        return self._made[at]


class Told(Items[str]):
    """The texts of one item, from short to full."""

    __slots__ = ()

    def __init__(self, *make: Callable[[], str]) -> None:
        super().__init__(make, lambda text: text())


class Section(msgspec.Struct, frozen=True):
    """A heading and what can stand below it."""

    key: str
    heading: str  # with its line feeds
    items: Sequence[Sequence[str]]  # the most important first; each item's texts from short to full
    rest: Callable[[int], str]  # the line that says that so many items are left out, and how to see them


class Grant(msgspec.Struct, frozen=True):
    """A step of the plan: the first `items` of a section may have this size."""

    key: str
    items: int
    size: int  # 0 is the shortest; an item without that many sizes has its fullest


class Allotted(msgspec.Struct, frozen=True):
    """What a section got."""

    section: Section
    sizes: list[int]  # of its first items; the others are left out

    @property
    def left_out(self) -> int:
        """How many items did not get any room."""
        return len(self.section.items) - len(self.sizes)

    @property
    def text(self) -> str:
        """The heading and the items; "" when none got room."""
        chosen = [item[size] for item, size in zip(self.section.items, self.sizes, strict=False)]
        return self.section.heading + "".join(chosen) if chosen else ""


def allot(sections: Sequence[Section], plan: Sequence[Grant], room: int) -> list[Allotted]:
    """Give `room` tokens to the items, in the order of the plan.

    Room for the lines about what is left out is set aside from the start, and comes back when a section is
    shown whole. A step that does not fit ends there: of one section no later item overtakes an earlier
    one. Since `tokens` of two texts together are never more than of both apart, the sum is kept whatever
    the texts say; when `room` is too small even for those lines, nothing is given.
    """
    given = {section.key: Allotted(section, []) for section in sections}
    set_aside = {s.key: tokens(s.rest(len(s.items))) for s in sections if s.items}
    left = room - sum(set_aside.values())
    for grant in plan:
        section, sizes = given[grant.key].section, given[grant.key].sizes
        for index in range(min(grant.items, len(section.items))):
            item = section.items[index]
            size = min(grant.size, len(item) - 1)
            cost = tokens(item[size])
            if index < len(sizes):
                if sizes[index] >= size:
                    continue
                cost -= tokens(item[sizes[index]])
            else:
                cost += tokens(section.heading) if index == 0 else 0
                cost -= set_aside[section.key] if index == len(section.items) - 1 else 0
            if cost > left:
                break
            left -= cost
            sizes[index : index + 1] = [size]
    return list(given.values())
