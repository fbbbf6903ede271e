"""How many tasks a connector may have, under today's name of the key and KIP-26's."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from copycat_executor.domain.task_limit import tasks_max


@pytest.mark.parametrize(
    ("config", "most"),
    [
        ({}, 1),
        ({"tasks.max": "3"}, 3),
        ({"tasks.max": "none"}, 1),
        ({"connector.tasks.max": "20"}, 20),
        ({"tasks.max": "3", "connector.tasks.max": "20"}, 3),
        ({"tasks.max": "9" * 5_000}, 1),
        ({"tasks.max": "²"}, 1),
        ({"tasks.max": "-2"}, 1),
    ],
    ids=["none", "today's", "wrong", "kip-26", "both", "no end", "no digit of Java's", "below"],
)
def test_the_most_tasks(config: Mapping[str, str], most: int) -> None:
    assert tasks_max(config) == most
