"""Following what other services say; nothing stops here while they are away."""

from __future__ import annotations

from copycat.config.v1 import config_service_pb2
from copycat.scheduler.v1 import scheduler_service_pb2
from copycat_rpc.following import follow

from copycat_executor.peers.services import Services
from copycat_executor.state.feed import Feed


async def follow_configs(services: Services, feed: Feed) -> None:
    """Follow the connectors until cancelled."""
    await follow(
        lambda after: services.config.WatchConnectors(
            config_service_pb2.WatchConnectorsRequest(after_revision=after)
        ),
        snapshot=feed.connectors,
        change=feed.connector_changed,
    )


async def follow_assignments(services: Services, feed: Feed) -> None:
    """Follow the assignments until cancelled."""
    await follow(
        lambda after: services.scheduler.WatchAssignments(
            scheduler_service_pb2.WatchAssignmentsRequest(after_revision=after)
        ),
        snapshot=feed.assignments,
        change=feed.assignment_changed,
    )
