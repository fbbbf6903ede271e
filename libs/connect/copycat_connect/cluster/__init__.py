"""What every part of a cluster calls by the same name: one definition a fact, the standard library only."""

from __future__ import annotations

from copycat_connect.cluster.addresses import GRPC_PORTS, REST_PORT, default_address, is_wildcard
from copycat_connect.cluster.caller import Caller
from copycat_connect.cluster.config import Config
from copycat_connect.cluster.host_life import ORPHANED_HOST_SECONDS
from copycat_connect.cluster.instance import Instance, in_order
from copycat_connect.cluster.sink_group import GROUP_OVERRIDE, sink_group
from copycat_connect.cluster.target_state import INITIAL_STATES, TargetState
from copycat_connect.cluster.topic_partition import TopicPartition

__all__ = [
    "GROUP_OVERRIDE",
    "GRPC_PORTS",
    "INITIAL_STATES",
    "ORPHANED_HOST_SECONDS",
    "REST_PORT",
    "Caller",
    "Config",
    "Instance",
    "TargetState",
    "TopicPartition",
    "default_address",
    "in_order",
    "is_wildcard",
    "sink_group",
]
