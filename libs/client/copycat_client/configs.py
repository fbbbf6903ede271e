"""The config service: configurations, target states, task configurations, restarts, log levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from copycat.config.v1 import config_service_pb2 as pb
from copycat.config.v1.config_service_pb2_grpc import ConfigServiceStub
from copycat_connect.cluster import Config, TargetState
from copycat_rpc.messages import config_to_proto, target_state_to_proto

from copycat_client.connectors import Connector, ConnectorChange, connector_change, connector_of
from copycat_client.revisions import At, Revision, revision_message, revision_of
from copycat_client.watching import Watch, watch

if TYPE_CHECKING:
    import grpc
    from copycat.config.v1.config_service_pb2_grpc import ConfigServiceAsyncStub


@dataclass(frozen=True, slots=True)
class Put:
    """What a `put` did."""

    created: bool
    """The connector was not there before."""
    connector: Connector
    """The connector as it is now."""
    revision: Revision
    """Where that is visible."""


class Configs:
    """Every write returns once reads show it, with the revision from which on they do."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self._stub: ConfigServiceAsyncStub = ConfigServiceStub(channel)

    async def put(
        self,
        name: str,
        config: Config,
        *,
        initial_state: TargetState | None = None,
        create_only: bool = False,
        expected: Config | None = None,
        timeout: float | None = None,
    ) -> Put:
        """Create a connector or replace its configuration; the same again writes nothing.

        The configuration is stored as it is: `executors` validates, as the REST interface does before.

        Args:
            name: The connector.
            config: The whole configuration, its `name` included.
            initial_state: Written with it in one transaction.
            create_only: Refuse when the connector is there.
            expected: Refuse when its configuration is neither this nor `config`.
            timeout: Seconds; 10 when nothing is said.

        Raises:
            RemoteError: connector.exists (`create_only`), connector.config_changed (`expected`),
                connector.unknown (`expected` of no connector), connector.name_invalid.
        """
        request = pb.PutConnectorRequest(
            name=name,
            config=config_to_proto(config),
            initial_state=target_state_to_proto(initial_state),
            create_only=create_only,
            expected=None if expected is None else config_to_proto(expected),
        )
        reply = await self._stub.PutConnector(request, timeout=timeout)
        return Put(reply.created, connector_of(reply.connector), revision_of(reply.revision))

    async def delete(self, name: str, *, timeout: float | None = None) -> Revision:
        """Remove a connector; its tasks stop a moment later, its offsets stay.

        Raises:
            RemoteError: connector.unknown, also when it was deleted before.
        """
        reply = await self._stub.DeleteConnector(pb.DeleteConnectorRequest(name=name), timeout=timeout)
        return revision_of(reply.revision)

    async def set_target_state(
        self, name: str, state: TargetState, *, timeout: float | None = None
    ) -> Revision:
        """Say what a connector should do; STOPPED also empties its task set. The same again writes nothing.

        Raises:
            RemoteError: connector.unknown.
        """
        request = pb.SetTargetStateRequest(name=name, target_state=target_state_to_proto(state))
        return revision_of((await self._stub.SetTargetState(request, timeout=timeout)).revision)

    async def put_task_configs(
        self,
        connector: str,
        tasks: Sequence[Config],
        *,
        applied_config: Config,
        timeout: float | None = None,
    ) -> tuple[bool, Revision]:
        """Publish the task set of a connector; return whether it changed, and where it is visible.

        The worker that runs the connector does this; all or nothing of a set is ever seen.

        Args:
            connector: The connector.
            tasks: The configurations by task number.
            applied_config: The connector's configuration the set was made from.
            timeout: Seconds; 10 when nothing is said.

        Raises:
            RemoteError: connector.unknown, connector.stopped, connector.config_changed (another
                configuration is in force).
        """
        request = pb.PutTaskConfigsRequest(
            connector=connector,
            tasks=map(config_to_proto, tasks),
            applied_config=config_to_proto(applied_config),
        )
        reply = await self._stub.PutTaskConfigs(request, timeout=timeout)
        return reply.changed, revision_of(reply.revision)

    async def request_restart(
        self,
        connector: str,
        *,
        include_tasks: bool = False,
        only_failed: bool = False,
        timeout: float | None = None,
    ) -> Revision:
        """Log a restart request, which the workers carry out once; every call is a request of its own.

        Raises:
            RemoteError: connector.unknown.
        """
        request = pb.RequestRestartRequest(
            connector=connector, include_tasks=include_tasks, only_failed=only_failed
        )
        return revision_of((await self._stub.RequestRestart(request, timeout=timeout)).revision)

    async def set_logger_level(self, logger: str, level: str, *, timeout: float | None = None) -> Revision:
        """Set a log level on every worker that runs now; later ones begin with their own."""
        request = pb.SetLoggerLevelRequest(logger=logger, level=level)
        return revision_of((await self._stub.SetLoggerLevel(request, timeout=timeout)).revision)

    async def get(
        self, name: str, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> At[Connector]:
        """Return a connector.

        Args:
            name: The connector.
            min_revision: Wait until the answering instance shows this much, e.g. an own write.
            timeout: Seconds; 10 when nothing is said.

        Raises:
            RemoteError: connector.unknown.
            UnavailableError: `min_revision` was not reached in time.
        """
        request = pb.GetConnectorRequest(name=name, min_revision=revision_message(min_revision))
        reply = await self._stub.GetConnector(request, timeout=timeout)
        return At(connector_of(reply.connector), revision_of(reply.revision))

    async def list(
        self, *, min_revision: Revision | None = None, timeout: float | None = None
    ) -> At[tuple[Connector, ...]]:
        """Return every connector by name, all as of one revision; `min_revision` as for `get`."""
        request = pb.ListConnectorsRequest(min_revision=revision_message(min_revision))
        reply = await self._stub.ListConnectors(request, timeout=timeout)
        return At(tuple(map(connector_of, reply.connectors)), revision_of(reply.revision))

    def watch(self, after: Revision | None = None) -> Watch[Connector, ConnectorChange]:
        """Yield every connector, then every change in log order, for ever.

        A lost stream goes on where it ended: nothing is left out or sent twice. Where the log is compacted
        beyond that point, a new snapshot comes. Restart requests and log levels are never in a snapshot.
        """
        return watch(
            lambda revision: self._stub.WatchConnectors(pb.WatchConnectorsRequest(after_revision=revision)),
            after,
            item=lambda message: connector_of(message.connector),
            change=connector_change,
        )
