"""`/workers`: the live workers; an addition to Kafka Connect's resources."""

from __future__ import annotations

from copycat_rest.answers import WorkerInfo
from litestar import Response, get
from litestar.di import NamedDependency

from copycat_gateway.access.authorisation import Access
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.views.workers import worker_info


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


HANDLERS = (list_workers,)
