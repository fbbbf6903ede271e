"""`/`: what answers here."""

from __future__ import annotations

from typing import TypedDict

from litestar import Response, get
from litestar.di import NamedDependency

from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.settings import Settings


class ServerInfo(TypedDict):
    """Version, build and Kafka cluster."""

    version: str
    commit: str
    kafka_cluster_id: str | None


@get(
    "/",
    summary="Version of this worker and id of its Kafka cluster",
    tags=["worker"],
    operation_class=documented(local=True),
)
async def server_info(
    settings: NamedDependency[Settings], services: NamedDependency[Services]
) -> Response[ServerInfo]:
    """Say which version answers; the id is null while no broker tells it."""
    info: ServerInfo = {
        "version": settings.version,
        "commit": settings.commit,
        "kafka_cluster_id": await services.kafka.cluster_id(),
    }
    return answer(info)


HANDLERS = (server_info,)
