"""Resources by which Kafka Connect's workers call each other: refused, as to a caller without a key.

Copycat's services talk gRPC among themselves, so no session key exists that could sign such a request.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, post, put
from litestar.datastructures import State
from litestar.params import FromPath

from copycat_gateway.edge.openapi.operations import documented
from copycat_gateway.errors import BadRequestError, ForbiddenError

TAGS: Final = ["internal"]
SUMMARY: Final = "Refused: what Kafka Connect's workers ask of each other"
REFUSING: Final = documented(
    refused={400: "The request is not signed.", 403: "Its signature is not that of a worker."},
    local=True,
    succeeds=False,
)
SIGNATURE: Final = ("x-connect-authorization", "x-connect-request-signature-algorithm")


@post("/connectors/{name:str}/tasks", summary=SUMMARY, tags=TAGS, operation_class=REFUSING)
async def publish_tasks(request: Request[Any, Any, State], name: FromPath[str]) -> Response[Any]:
    """Refuse task configurations from outside, whatever the connector."""
    raise _refusal(request)


@put("/connectors/{name:str}/fence", summary=SUMMARY, tags=TAGS, operation_class=REFUSING)
async def fence(request: Request[Any, Any, State], name: FromPath[str]) -> Response[Any]:
    """Refuse a round of zombie fencing from outside, whatever the connector."""
    raise _refusal(request)


def _refusal(request: Request[Any, Any, State]) -> BadRequestError | ForbiddenError:
    if any(header not in request.headers for header in SIGNATURE):
        return BadRequestError("Internal request missing required signature")
    return ForbiddenError("Internal request contained invalid signature.")


HANDLERS = (publish_tasks, fence)
