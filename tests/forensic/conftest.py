"""A used workspace for every test here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from builders.harmed import Harmed

if TYPE_CHECKING:
    from builders.world import World


@pytest.fixture
def harmed(world: World) -> Harmed:
    return Harmed(world)
