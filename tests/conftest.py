"""What every test gets: a world of its own, and nothing of the real machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from builders.world import World

settings.register_profile(
    "default",
    deadline=None,  # machines are shared: a slow example is no fault
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("default")


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A home with no agent in it yet, and a project."""
    return World(tmp_path)
