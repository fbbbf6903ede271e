"""`/`: which version answers, and for which Kafka cluster; and `/workers`, which Kafka Connect has not."""

from __future__ import annotations

from copycat_connect.kafka_version import KAFKA_COMMIT, KAFKA_VERSION
from copycat_rest.answers import ServerInfo, WorkerInfo
from litestar import Response, get
from litestar.di import NamedDependency

from copycat_gateway.access.authorisation import Access
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.settings import GatewaySettings
from copycat_gateway.views.connectors import worker_info


@get(
    "/",
    summary="Version of Kafka Connect's interface offered here, of this worker, and id of its Kafka cluster",
    tags=["worker"],
    operation_class=documented(local=True),
)
async def server_info(
    settings: NamedDependency[GatewaySettings], services: NamedDependency[Services]
) -> Response[ServerInfo]:
    """Report the Kafka release whose interface is offered, and Copycat's own version beside it.

    Clients compare `version` with the release that brought a feature and do not use it on an older one.
    The cluster id is null until a broker has been reached.
    """
    return answer(
        ServerInfo(
            version=KAFKA_VERSION,
            commit=KAFKA_COMMIT,
            kafka_cluster_id=await services.kafka.cluster_id(),
            copycat_version=settings.version,
            copycat_commit=settings.commit,
        )
    )


@get(
    "/workers",
    summary="List the live workers and what they hold",
    tags=["worker"],
    operation_class=documented(),
)
async def list_workers(
    services: NamedDependency[Services], access: NamedDependency[Access]
) -> Response[list[WorkerInfo]]:
    """List the workers whose lease holds, with what the caller may see of what they hold."""
    shown = access.shown()
    return answer([worker_info(worker, shown) for worker in await services.workers.listed()])


HANDLERS = (
    server_info,
    list_workers,
)
