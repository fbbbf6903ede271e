"""What every test of a host has."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.host.host_world import World


@pytest.fixture(autouse=True)
def no_task_outlives_its_test() -> Iterator[None]:
    """End what a test left: its tasks go on looking for their Kafka, and say so in the log of later tests."""
    yield
    while World.made:
        World.made.pop().end()
