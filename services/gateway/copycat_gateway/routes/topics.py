"""`/connectors/{name}/topics`: the topics a connector used (KIP-558)."""

from __future__ import annotations

from copycat.status.v1 import status_service_pb2 as status_pb2
from copycat_rest.answers import ActiveTopics
from litestar import Response, get, put
from litestar.di import NamedDependency

from copycat_gateway.changes import log_request
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer, nothing
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.errors import RESET_DISABLED, ForbiddenError, answering_refusals
from copycat_gateway.routes.dependencies import CONNECTOR
from copycat_gateway.settings import GatewaySettings

TAGS = ["topics"]


@get(
    "/connectors/{name:str}/topics",
    summary="List the topics a connector used since creation or reset",
    tags=TAGS,
    dependencies=CONNECTOR,
    operation_class=documented(refused={403: "Topics are not tracked."}),
)
async def get_topics(
    services: NamedDependency[Services], connector: NamedDependency[str]
) -> Response[dict[str, ActiveTopics]]:
    """List the topics, none for an unknown connector; the status service says whether they are tracked."""
    request = status_pb2.ListTopicsRequest(connector=connector, min_revision=services.written_status.floor())
    listed = await services.status.ListTopics(request)
    return answer({connector: ActiveTopics(topics=list(listed.topics))})


@put(
    "/connectors/{name:str}/topics/reset",
    summary="Forget the topics a connector used",
    tags=TAGS,
    dependencies=CONNECTOR,
    status_code=202,
    operation_class=documented(refused={403: "Topics are not tracked, or may not be reset."}),
)
async def reset_topics(
    services: NamedDependency[Services],
    settings: NamedDependency[GatewaySettings],
    connector: NamedDependency[str],
) -> Response[None]:
    """Forget the topics; those still in use come back with the next record."""
    # KIP-558 writes the refusal without a full stop; Kafka Connect was released with one.
    refusals = (
        {RESET_DISABLED: ForbiddenError("Topic tracking reset is disabled")} if settings.kip_strict else {}
    )
    with answering_refusals(refusals):
        reply = await services.status.ResetTopics(status_pb2.ResetTopicsRequest(connector=connector))
    services.written_status.note(reply.revision)
    log_request("active topics reset", connector=connector)
    return nothing(200 if settings.kip_strict else 202)


HANDLERS = (get_topics, reset_topics)
