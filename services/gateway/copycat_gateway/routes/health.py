"""`/health`: whether this worker is fit to serve (KIP-1017)."""

from __future__ import annotations

from typing import TypedDict

from litestar import Response, get
from litestar.di import NamedDependency

from copycat_gateway.edge.answers import answer
from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.health import Health


class HealthStatus(TypedDict):
    """healthy, starting or unhealthy, and what is missing or passed over."""

    status: str
    message: str


@get(
    "/health",
    summary="Say whether requests would be answered",
    tags=["worker"],
    operation_class=documented(shown={500: "Unhealthy, though it was well before.", 503: "Still starting."}),
)
async def check_health(health: NamedDependency[Health]) -> Response[HealthStatus]:
    """Answer 200 when all is well, 503 while starting, 500 when it was well before."""
    known = health.was_ready
    obstacle = await health.obstacle()
    if not obstacle:
        text = "Worker has completed startup and is ready to handle requests."
        return answer(_shown("healthy", f"{text} {await health.passed_over()}".rstrip()))
    if known:
        text = (
            f"Worker was unable to handle this request and may be unable to handle other requests. {obstacle}"
        )
        return answer(_shown("unhealthy", text), 500)
    return answer(_shown("starting", f"Worker is still starting up. {obstacle}"), 503)


def _shown(status: str, message: str) -> HealthStatus:
    return {"status": status, "message": message}


HANDLERS = (check_health,)
