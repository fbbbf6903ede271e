"""The connector an offsets request is about, whether its offsets may change, and how that is refused.

Former tasks of an exactly-once source may not commit any more once its offsets are changed from outside.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat.offset.v1 import offset_service_pb2 as offset_pb2
from copycat.types.v1 import types_pb2
from copycat_connect.cluster import TargetState, sink_group
from copycat_connect.config.client_overrides import overrides_of
from copycat_connect.config.delivery import ExactlyOnceSources, Guarantee, guarantee_of_source
from copycat_connect.config.offsets_store import store_keys
from copycat_connect.errors import CopycatError
from copycat_rpc.errors import RemoteError
from copycat_rpc.messages import config_from_proto, config_to_proto, target_state_from_proto
from copycat_telemetry.changes import log_change

from copycat_gateway.catalogue import SINK, SOURCE, connector_class
from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.errors import BadRequestError, FailedRequestError, answering_refusals

log = logging.getLogger(__name__)

GROUP_ACTIVE: Final = "group.active"


@contextmanager
def otherwise(text: str) -> Iterator[None]:
    """Answer a failing offset service with this text, Kafka Connect's; the reason goes into the log.

    A refusal with a code of its own status (the service is away, say) is passed on.
    """
    try:
        yield
    except RemoteError as error:
        if error.remote_code.http == FailedRequestError.code.http and error.remote_code.name != GROUP_ACTIVE:
            log_change(log, "offsets request failed", logging.ERROR, answered=text, why=error.message)
            raise FailedRequestError(text) from error
        raise


def tasks_left(connector: str, kind: str, verb: str) -> FailedRequestError:
    """Return the answer for a connector of which some task has not ended; `verb` is alter or reset."""
    what = "consumer group offsets" if kind == SINK else "source offsets"
    return FailedRequestError(
        f"Failed to {verb} {what} for connector {connector} either because its tasks haven't"
        f" stopped completely yet or the connector was resumed before the request to {verb} its offsets could"
        " be successfully completed. If the connector is in a stopped state, this operation can be safely"
        " retried. If it doesn't eventually succeed, the Connect cluster may need to be restarted to get rid"
        f" of the zombie {kind} tasks."
    )


def members_left(connector: str, verb: str) -> AbstractContextManager[None]:
    """Answer a consumer group that still has members, with its tasks or without."""
    return answering_refusals({GROUP_ACTIVE: tasks_left(connector, SINK, verb)})


@dataclass(frozen=True, slots=True)
class Target:
    """A connector whose offsets are asked for or changed."""

    connector: config_pb2.Connector
    """As the config service holds it."""
    kind: str
    """source or sink."""
    sources: ExactlyOnceSources
    """Which sources of the worker deliver exactly once."""

    @property
    def name(self) -> str:
        """The connector's name."""
        return self.connector.name

    @property
    def is_sink(self) -> bool:
        """Whether its offsets are those of a consumer group."""
        return self.kind == SINK

    @property
    def unready(self) -> str:
        """Why its offsets may not be changed now, in words for a user; empty where they may."""
        state = target_state_from_proto(self.connector.target_state)
        if state is TargetState.STOPPED and not self.connector.tasks:
            return ""
        return (
            "The connector is not stopped: its tasks may move on, and its offsets can be changed only after a"
            f" PUT request to /connectors/{self.name}/stop"
        )

    @property
    def group(self) -> str:
        """The consumer group of a sink."""
        return sink_group(self.name, config_from_proto(self.connector.config))

    @property
    def overrides(self) -> types_pb2.Config:
        """A sink's client overrides, as written: on which cluster its group is, and who asks for it."""
        return config_to_proto(overrides_of(config_from_proto(self.connector.config)))

    @property
    def store(self) -> offset_pb2.OffsetsStore | None:
        """Where a source keeps its offsets, as written; None for the worker's topic only."""
        keys = store_keys(config_from_proto(self.connector.config), self.sources)
        if keys is None:
            return None
        return offset_pb2.OffsetsStore(config=config_to_proto(keys.config), exactly_once=keys.exactly_once)


async def find_target(services: Services, name: str) -> Target:
    """Return a connector that exists and whose type is known."""
    return await _typed(services, await services.connector(name))


async def find_stopped_target(services: Services, name: str) -> Target:
    """Return a connector whose offsets may be changed: it is STOPPED and has no tasks.

    Raises:
        BadRequestError: It is not.
    """
    connector = await services.connector(name)
    if target_state_from_proto(connector.target_state) is not TargetState.STOPPED or connector.tasks:
        raise BadRequestError(
            "Connectors must be in the STOPPED state before their offsets can be modified."
            " This can be done for the specified connector by issuing a 'PUT' request to the"
            f" '/connectors/{name}/stop' endpoint"
        )
    return await _typed(services, connector)


async def await_end_of_tasks(services: Services, target: Target, verb: str) -> None:
    """Wait until the last task of a stopped connector has ended: what it commits would undo the change.

    Raises:
        FailedRequestError: One does not end; `verb` says what cannot be done, alter or reset.
    """
    if not await services.workers.released(target.name):
        raise tasks_left(target.name, target.kind, verb)


@dataclass(frozen=True, slots=True)
class ChangeRules:
    """What the worker properties say about changes of offsets."""

    exactly_once_sources: ExactlyOnceSources
    """Which source connectors deliver exactly once; only those have producers to fence (KIP-618)."""
    kip_strict: bool
    """Whether answers are the KIP's, rather than those of Kafka Connect as released."""


async def find_changeable_target(services: Services, rules: ChangeRules, connector: str, verb: str) -> Target:
    """Return a connector whose offsets can be changed: none of its former tasks commits any more (KIP-875).

    Args:
        services: The other services.
        rules: What the worker properties say.
        connector: Its name.
        verb: What its offsets are about to be: alter or reset.

    Raises:
        BadRequestError: It is not stopped, or was resumed meanwhile.
        FailedRequestError: A task does not end, or former ones cannot be fenced; the log has the reason.
    """
    target = await find_stopped_target(services, connector)
    if not _may_have_transactions(target, rules.exactly_once_sources):
        return target
    # Tasks that still drain commit what they have delivered; fencing would take it back.
    await await_end_of_tasks(services, target, verb)
    try:
        request = config_pb2.FenceTasksRequest(connector=target.name)
        await services.config.FenceTasks(request, timeout=left())
    except CopycatError as error:
        what = "former tasks could not be fenced"
        log_change(log, what, logging.ERROR, connector=target.name, why=error.message)
        raise FailedRequestError(
            "Failed to perform zombie fencing for source connector prior to modifying offsets"
        ) from error
    return await find_stopped_target(services, target.name)


async def _typed(services: Services, connector: config_pb2.Connector) -> Target:
    kind = await services.catalogue.type_of(connector)
    if kind not in {SOURCE, SINK}:
        raise FailedRequestError(
            "Failed to find any class that implements Connector and which name matches"
            f" {connector_class(connector)}: no live worker has it"
        )
    return Target(connector, kind, services.exactly_once_sources)


def _may_have_transactions(target: Target, sources: ExactlyOnceSources) -> bool:
    if target.kind != SOURCE:
        return False
    config = config_from_proto(target.connector.config)
    now = guarantee_of_source(config, sources) is Guarantee.EXACTLY_ONCE
    return now or target.connector.fencing_recorded
