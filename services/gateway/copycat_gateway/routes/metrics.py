"""`/metrics`: the metrics of all services, for Prometheus."""

from __future__ import annotations

import asyncio
from typing import Any

from litestar import Request, Response, get
from litestar.datastructures import State
from litestar.di import NamedDependency

from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.metrics.page import CONTENT_TYPE, page
from copycat_gateway.metrics.scrape import Scrape


async def take_any_caller(_: Request[Any, Any, State]) -> None:
    """Let every caller pass: all other resources ask for one that takes JSON."""


@get(
    "/metrics",
    summary="Metrics of every service, as Prometheus reads them",
    tags=["worker"],
    media_type="text/plain",
    before_request=take_any_caller,
    operation_class=documented(local=True),
)
async def read_metrics(scrape: NamedDependency[Scrape]) -> Response[bytes]:
    """Answer with what can be read now; a service that is away is said to be."""
    written = await asyncio.to_thread(page, await scrape.read())  # tens of milliseconds in a large cluster
    return Response(written, media_type=CONTENT_TYPE)


HANDLERS = (read_metrics,)
