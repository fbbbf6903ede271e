"""Resources by which Kafka Connect's workers call each other: refused, as to a caller without a key.

Copycat's services talk gRPC among themselves, so no session key exists that could sign such a request.
"""

from __future__ import annotations

from typing import Any, Final

from litestar import Request, Response, post, put
from litestar.datastructures import State

from copycat_gateway.errors import BadRequestError, ForbiddenError

SIGNATURE: Final = ("x-connect-authorization", "x-connect-request-signature-algorithm")


@post("/connectors/{name:str}/tasks", include_in_schema=False)
async def publish_tasks(request: Request[Any, Any, State]) -> Response[Any]:
    """Refuse task configurations from outside."""
    raise _refusal(request)


@put("/connectors/{name:str}/fence", include_in_schema=False)
async def fence(request: Request[Any, Any, State]) -> Response[Any]:
    """Refuse a round of zombie fencing from outside."""
    raise _refusal(request)


def _refusal(request: Request[Any, Any, State]) -> BadRequestError | ForbiddenError:
    if any(header not in request.headers for header in SIGNATURE):
        return BadRequestError("Internal request missing required signature")
    return ForbiddenError("Internal request contained invalid signature.")


HANDLERS = (publish_tasks, fence)
