"""Following what other services say; nothing stops here because they are away.

Assignments count while the worker's lease holds: after that another worker may have been given them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from copycat.config.v1 import config_service_pb2
from copycat.host.v1 import host_service_pb2
from copycat.scheduler.v1 import scheduler_service_pb2
from copycat_connect.first import first
from copycat_connect.log_levels import level_named
from copycat_rpc.following import follow
from copycat_rpc.services import ServiceStubs
from copycat_telemetry.changes import log_change
from copycat_telemetry.logs import set_level
from copycat_telemetry.recent_spans import RecentSpans

from copycat_executor.children.connector_processes import ConnectorProcesses
from copycat_executor.children.query_engine import Queries
from copycat_executor.hosts.host_pools import HostPools
from copycat_executor.outbox.status_outbox import StatusOutbox
from copycat_executor.outbox.topic_outbox import TopicOutbox
from copycat_executor.state.feed import AssignmentChange, ConfigChange, Feed
from copycat_executor.state.lease import WorkerLease
from copycat_executor.worker.restarting import Restarting

log = logging.getLogger(__name__)


class LogLevels:
    """Sets levels here, in all child processes and in all hosts, also in later ones."""

    def __init__(self, processes: ConnectorProcesses, queries: Queries, hosts: HostPools) -> None:
        self._processes = processes
        self._queries = queries
        self._hosts = hosts

    def set(self, request: config_service_pb2.SetLoggerLevelRequest) -> None:
        """Set a logger's level everywhere; a level that does not exist is logged and changes nothing."""
        level = level_named(request.level)
        if level is None:
            log.warning("there is no log level %s", request.level)
            return
        set_level(request.logger, level)
        self._processes.set_level(request.logger, level)
        self._queries.set_level(request.logger, level)
        command = host_service_pb2.SetLevel(logger=request.logger, level=level)
        self._hosts.broadcast(request.logger, host_service_pb2.AttachResponse(set_level=command))


class ConfigWatch:
    """Follows the config service: configurations, deletions, restarts a user asks for, log levels."""

    def __init__(
        self,
        services: ServiceStubs,
        feed: Feed,
        *,
        restarting: Restarting,
        levels: LogLevels,
        statuses: StatusOutbox,
        topics: TopicOutbox,
        spans: RecentSpans,
    ) -> None:
        self._spans = spans
        self._services = services
        self._feed = feed
        self._restarting = restarting
        self._levels = levels
        self._statuses = statuses
        self._topics = topics

    async def run(self) -> None:
        """Follow the config service's watch until cancelled."""
        await follow(
            lambda after: self._services.config.WatchConnectors(
                config_service_pb2.WatchConnectorsRequest(after_revision=after)
            ),
            snapshot=self._all,
            change=self._changed,
        )

    def _all(self, snapshot: Sequence[ConfigChange]) -> None:
        for name in self._feed.connectors(snapshot):
            self._removed(name)

    def _changed(self, message: ConfigChange) -> None:
        about = message.connector.name or message.restart.connector or message.removed
        self._spans.heard(about, message.traceparent)
        self._feed.connector_changed(message)
        match message.WhichOneof("change"):
            case "removed":
                self._removed(message.removed)
            case "restart":
                self._restarting.requested(message.restart)
            case "logger_level":
                self._levels.set(message.logger_level)

    def _removed(self, connector: str) -> None:
        """Forget a connector that is gone: what was still to be said of it would bring its status back."""
        self._statuses.forget(connector)
        self._topics.forget(connector)
        self._restarting.removed(connector)


async def follow_assignments(services: ServiceStubs, feed: Feed, lease: WorkerLease) -> None:
    """Follow the assignments until cancelled, anew after each lapse of the lease: what was known is over."""
    while True:
        await lease.answered()
        lapses = lease.lapses
        following, _ = await first(_follow_assignments(services, feed, lease, lapses), lease.lapsed(lapses))
        if not following.cancelled():
            following.result()
        log_change(
            log,
            "worker stops its tasks",
            logging.WARNING,
            why="the scheduler has not answered for a lease, and may have given them to another worker",
        )
        feed.forget_assignments()


async def _follow_assignments(services: ServiceStubs, feed: Feed, lease: WorkerLease, lapses: int) -> None:
    def snapshot(messages: Sequence[AssignmentChange]) -> None:
        lease.assignments_known(lapses)
        feed.assignments(messages)

    await follow(
        lambda after: services.scheduler.WatchAssignments(
            scheduler_service_pb2.WatchAssignmentsRequest(after_revision=after)
        ),
        snapshot=snapshot,
        change=feed.assignment_changed,
    )
