"""Which topic partitions a sink reads, and which of its tasks reads which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from copycat_connect.cluster import Config, TopicPartition

from copycat_scheduler.domain.balance import Loads

TOPICS = "topics"
TOPICS_REGEX = "topics.regex"
#: Kafka's own; a pattern never means them.
INTERNAL = frozenset(
    {"__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata"}
)


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a sink connector asks for."""

    topics: frozenset[str] = frozenset()
    """Topics by name."""
    pattern: str | None = None
    """A regular expression that whole topic names match; used when no topics are named."""
    cluster: tuple[tuple[str, str], ...] = ()
    """Java client properties of a consumer that reads another cluster than the worker's, as written."""


def subscription_of(config: Config) -> Subscription | None:
    """Return what a connector's configuration subscribes to; None when it names no topics, as a source's."""
    named = config.get(TOPICS)
    if named:
        return Subscription(frozenset(name.strip() for name in named.split(",") if name.strip()))
    pattern = config.get(TOPICS_REGEX)
    return Subscription(pattern=pattern) if pattern else None


def partitions_of(names: Iterable[str], topics: Mapping[str, int]) -> tuple[TopicPartition, ...]:
    """Return the partitions of some topics, as far as they are among the existing ones (name to count)."""
    return tuple(
        TopicPartition(name, index)
        for name in sorted(names)
        if name in topics
        for index in range(topics[name])
    )


def divide(
    partitions: Iterable[TopicPartition], tasks: int, current: Mapping[int, Iterable[TopicPartition]]
) -> list[tuple[TopicPartition, ...]]:
    """Divide partitions evenly among tasks; each task keeps what it has where that is even.

    Without anything to keep this is: sorted, dealt one by one.
    """
    if tasks == 0:
        return []
    wanted = sorted(partitions)
    left = set(wanted)
    kept: dict[int, list[TopicPartition]] = {}
    for task in range(tasks):
        kept[task] = sorted(left.intersection(current.get(task, ())))
        left.difference_update(kept[task])
    loads = Loads({task: len(has) for task, has in kept.items()}, len(wanted))
    for task, limit in loads.trim().items():
        left.update(kept[task][limit:])
        del kept[task][limit:]
    for partition in (each for each in wanted if each in left):
        task = min((task for task in kept if loads.has_room(task)), key=lambda task: (loads[task], task))
        loads.add(task)
        kept[task].append(partition)
    return [tuple(sorted(kept[task])) for task in range(tasks)]
