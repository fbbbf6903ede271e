"""Former tasks of exactly-once sources: none may commit any more once offsets are changed from outside."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat_connect.config.delivery import ExactlyOnceSources, Guarantee, guarantee_of_source
from copycat_connect.errors import CopycatError
from copycat_rpc.messages import config_from_proto
from copycat_telemetry.changes import log_change

from copycat_gateway.catalogue import SOURCE
from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.errors import FailedRequestError
from copycat_gateway.offsets.target import Target, await_end_of_tasks, find_stopped_target

log = logging.getLogger(__name__)


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


def _may_have_transactions(target: Target, sources: ExactlyOnceSources) -> bool:
    if target.kind != SOURCE:
        return False
    config = config_from_proto(target.connector.config)
    now = guarantee_of_source(config, sources) is Guarantee.EXACTLY_ONCE
    return now or target.connector.fencing_recorded
