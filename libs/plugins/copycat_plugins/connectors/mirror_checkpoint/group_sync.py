"""Moving the offsets of groups at the target on to their checkpoints."""

from __future__ import annotations

import logging

from confluent_kafka import TopicPartition
from copycat_connect.errors import ConnectError, RetriableError

from copycat_plugins.connectors.mirror.cluster import Cluster
from copycat_plugins.connectors.mirror.records import Checkpoint

_log = logging.getLogger(__name__)


def sync_group(target: Cluster, group: str, checkpoints: list[Checkpoint]) -> int:
    """Move a group's offsets at the target forward; returns how many were moved.

    Only of a group that has no members there, or is not known there yet, and never back: a consumer that went
    over to the target has read further.

    Raises:
        RetriableError: The cluster is away.
    """
    empty = target.group_is_empty(group)
    if empty is False or not checkpoints:
        return 0
    there = {} if empty is None else target.group_offsets(group)
    moved = [
        TopicPartition(each.topic, each.partition, each.downstream, each.metadata)
        for each in checkpoints
        if (now := there.get((each.topic, each.partition))) is None or now.offset < each.downstream
    ]
    if not moved:
        return 0
    try:
        target.set_group_offsets(group, moved)
    except RetriableError:
        raise
    except ConnectError as error:
        _log.warning("%s. Members that came meanwhile keep their own offsets", error.message)
        return 0
    return len(moved)
