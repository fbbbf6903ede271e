"""What a topic shows of the transactions that wrote it, and what a task-count record says."""

from __future__ import annotations

import json
from collections.abc import Sequence

from confluent_kafka import Message
from copycat_testkit.kafka import consume_all


def by_task(values: Sequence[str]) -> dict[str, list[int]]:
    """Return the numbers that each task of a monitorable source wrote, in order."""
    found: dict[str, list[int]] = {}
    for value in values:
        task, _, number = value.removeprefix("value-").rpartition("-")
        found.setdefault(task, []).append(int(number))
    return found


def once_each(values: Sequence[str], tasks: int) -> None:
    """See that so many tasks wrote every number once, in order, from 1 on."""
    found = by_task(values)
    assert len(found) == tasks, sorted(found)
    for task, numbers in found.items():
        assert numbers == list(range(1, len(numbers) + 1)), f"{task} left numbers out or repeated some"


def sizes(messages: Sequence[Message]) -> list[int]:
    """Return how many records each transaction has that a topic of one partition shows.

    The end of a transaction takes an offset of its own: after it comes a gap. What was aborted is not shown,
    and makes a gap wider.
    """
    found: list[int] = []
    before = None
    for message in messages:
        offset = message.offset() or 0
        if before is None or offset != before + 1:
            found.append(0)
        found[-1] += 1
        before = offset
    return found


def offsets_in(bootstrap: str, topic: str, connector: str) -> list[tuple[str, int]]:
    """Return the committed offset records of a monitorable source in a topic: which task, which number."""
    found = []
    for message in consume_all(bootstrap, topic):
        name, partition = json.loads(message.key() or b"")
        if name == connector and (value := message.value()) is not None:
            found.append((partition["task.id"], json.loads(value)["saved"]))
    return found


def task_counts(bootstrap: str, topic: str, connector: str) -> list[int]:
    """Return the task counts that a config topic records of a connector, oldest first."""
    key = f"tasks-fencing-{connector}".encode()
    found = (message for message in consume_all(bootstrap, topic) if message.key() == key)
    return [json.loads(message.value() or b"")["task-count"] for message in found]
