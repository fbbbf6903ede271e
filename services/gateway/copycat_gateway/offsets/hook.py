"""The connector's own say in a change of its offsets (`alterOffsets`), called before anything changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from copycat.executor.v1 import executor_service_pb2 as executor_pb2
from copycat.types.v1 import types_pb2
from copycat_connect.errors import CopycatError, OffsetsUnmodifiableError
from copycat_rpc.errors import RemoteError

from copycat_gateway.clients import Services
from copycat_gateway.edge.progress import left
from copycat_gateway.errors import PLUGIN_HANGS, FailedRequestError, answering_refusals
from copycat_gateway.offsets.target import Target

INTERNAL: Final = CopycatError.code.name


async def call_hook(
    services: Services,
    target: Target,
    *,
    source: Sequence[types_pb2.SourceOffset] = (),
    sink: Sequence[types_pb2.TopicPartitionOffset] = (),
) -> bool:
    """Return whether the connector has taken the change into account itself.

    Raises:
        FailedRequestError: It refuses; to Kafka Connect that is a failure, not the caller's mistake.
    """
    request = executor_pb2.AlterOffsetsRequest(
        config=target.connector.config, source_offsets=source, sink_offsets=sink
    )
    try:
        with answering_refusals(_texts(target)):
            reply = await services.workers.ask(
                lambda executor: executor.AlterOffsets(request, timeout=left())
            )
    except RemoteError as error:
        raise FailedRequestError(error.message) from error
    return reply.handled


def _texts(target: Target) -> dict[str, CopycatError]:
    of = f"{target.kind} connector {target.name}"
    return {
        OffsetsUnmodifiableError.code.name: FailedRequestError(
            f"Failed to modify offsets for connector {target.name} because it doesn't support external"
            " modification of offsets"
        ),
        PLUGIN_HANGS: FailedRequestError(f"Timed out while calling the 'alterOffsets' method for {of}"),
        INTERNAL: FailedRequestError(f"Failed to modify offsets for {of}"),
    }
