"""What should run, as the config service's watch says."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import grpc
from copycat.config.v1.config_service_pb2 import Connector, WatchConnectorsRequest, WatchConnectorsResponse
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.client_overrides import other_cluster
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import ConfigError
from copycat_rpc.following import follow
from copycat_rpc.messages import config_from_proto
from copycat_telemetry.changes import log_change
from copycat_telemetry.recent_spans import RecentSpans

from copycat_scheduler.domain.commands import DesiredConnector
from copycat_scheduler.domain.partitions import TOPICS, TOPICS_REGEX, Subscription, subscription_of

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConnectorToPlace:
    """One connector, as far as placing it goes."""

    tasks: int
    """Size of its task set."""
    subscription: Subscription | None
    """What a sink reads."""


class Connectors:
    """Every configured connector."""

    def __init__(
        self, changed: Callable[[], None], placeholders: Placeholders, worker: Mapping[str, str]
    ) -> None:
        """Follow nothing before `follow`.

        Args:
            changed: Called after every change that matters for placing.
            placeholders: The worker's: the topics of a sink may be written as one, and are no secret here,
                since their partitions are assigned.
            worker: The worker's properties, as written.
        """
        self._changed = changed
        self._placeholders = placeholders
        self._worker = worker
        self._configured: dict[str, ConnectorToPlace] = {}
        self.spans = RecentSpans(time.monotonic)
        """Which spans led to the newest changes."""
        self.known = False
        """Whether a whole snapshot has arrived."""

    @property
    def subscriptions(self) -> set[Subscription]:
        """What all sinks ask for."""
        return {each.subscription for each in self._configured.values() if each.subscription is not None}

    def desired(
        self, partitions: Callable[[Subscription], tuple[TopicPartition, ...] | None]
    ) -> dict[str, DesiredConnector]:
        """Return what should run; `partitions` finds what a sink reads, None while it does not know."""
        return {
            name: DesiredConnector(each.tasks, partitions(each.subscription) if each.subscription else ())
            for name, each in self._configured.items()
        }

    def faults(self, fault: Callable[[Subscription], str | None]) -> dict[str, str]:
        """Return what is wrong with what sinks ask for, by connector; `fault` knows it of a subscription.

        A connector without tasks, since it is stopped, reads nothing.
        """
        asked = {name: each.subscription for name, each in self._configured.items() if each.tasks}
        found = {name: fault(each) for name, each in asked.items() if each is not None and each.pattern}
        return {name: reason for name, reason in found.items() if reason is not None}

    async def follow(self, channel: grpc.aio.Channel) -> None:
        """Follow the config service until cancelled."""
        stub = ConfigServiceStub(channel)
        await follow(
            lambda after: stub.WatchConnectors(WatchConnectorsRequest(after_revision=after)),
            snapshot=self.replace,
            change=self.apply,
        )

    def replace(self, messages: Sequence[WatchConnectorsResponse]) -> None:
        """Replace all that is known by a snapshot."""
        self._configured = {each.connector.name: self._configure(each.connector) for each in messages}
        self.known = True
        self._changed()

    def apply(self, message: WatchConnectorsResponse) -> None:
        """Apply one change; restarts and log levels place nothing."""
        self.spans.heard(message.connector.name or message.removed, message.traceparent)
        match message.WhichOneof("change"):
            case "connector":
                name, configured = message.connector.name, self._configure(message.connector)
                if self._configured.get(name) != configured:
                    self._configured[name] = configured
                    self._changed()
            case "removed":
                self._configured.pop(message.removed, None)
                self._changed()
            case _:
                pass

    def _configure(self, connector: Connector) -> ConnectorToPlace:
        if not _reads_topics(connector):
            return ConnectorToPlace(len(connector.tasks), None)
        config = config_from_proto(connector.config)
        named = {key: config.get(key) for key in (TOPICS, TOPICS_REGEX)}
        try:
            subscription = subscription_of(self._placeholders.resolve(named))
        except ConfigError as error:
            log_change(
                log,
                "topics of a sink are not known",
                logging.WARNING,
                connector=connector.name,
                why=error.message,
            )
            known = self._configured.get(connector.name)
            subscription = None if known is None else known.subscription
        if subscription is not None:
            cluster = other_cluster(self._worker, config) or {}
            subscription = replace(subscription, cluster=tuple(sorted(cluster.items())))
        return ConnectorToPlace(len(connector.tasks), subscription)


def _reads_topics(connector: Connector) -> bool:
    """Tell a sink from a source with a key of the same name, as mirrors have it.

    The configurations of a sink's tasks say what they read, here as in Kafka Connect; those of a source may
    not have these keys.
    """
    return any(entry.key in (TOPICS, TOPICS_REGEX) for task in connector.tasks for entry in task.entries)
