"""What routes are given: the connector or task their path names, and the request body."""

from __future__ import annotations

from typing import Any

from litestar import Request
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import MethodNotAllowedException
from litestar.params import FromPath

from copycat_gateway.edge.intake import read_body
from copycat_gateway.edge.paths import segment, task_number


async def connector(name: FromPath[str]) -> str:
    """Return the connector the path names."""
    return segment(name)


async def connector_in_query(request: Request[Any, Any, State]) -> str:
    """Return the connector that the parameter `name` names.

    Raises:
        MethodNotAllowedException: It has no body: Kafka Connect knows no such request.
    """
    name = request.query_params.get("name")
    if name is None:
        raise MethodNotAllowedException(headers={"allow": "GET, HEAD, OPTIONS, POST"})
    return str(name)


async def task(task_id: FromPath[str]) -> int:
    """Return the task index the path names."""
    return task_number(task_id)


async def payload(request: Request[Any, Any, State]) -> bytes:
    """Return the request body."""
    return await read_body(request)


async def site(request: Request[Any, Any, State]) -> str:
    """Return scheme and host as the caller wrote them."""
    return str(request.base_url).rstrip("/")


CONNECTOR = {"connector": Provide(connector)}
CONNECTOR_IN_QUERY = {"connector": Provide(connector_in_query)}
TASK = {**CONNECTOR, "task": Provide(task)}
SITE = {"site": Provide(site)}
BODY = {"payload": Provide(payload)}


def flag(value: str | None, default: bool = False) -> bool:
    """Return a boolean query parameter as Java reads it: anything but `true` is false."""
    return default if value is None else value.lower() == "true"
