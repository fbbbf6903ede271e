"""OPTIONS: which methods a path has; the framework's own answer forgets all but the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from http import HTTPMethod, HTTPStatus

from litestar import Response, route
from litestar.enums import HttpMethod
from litestar.handlers import HTTPRouteHandler

from copycat_gateway.edge.answers import nothing


def options_handlers(handlers: Iterable[HTTPRouteHandler]) -> Sequence[HTTPRouteHandler]:
    """Return a handler of OPTIONS for each path of these."""
    methods: dict[str, set[str]] = defaultdict(lambda: {HTTPMethod.OPTIONS.value})
    for handler in handlers:
        for path in handler.paths:
            methods[path].update(handler.http_methods)
    return [_options(path, ", ".join(sorted(allowed))) for path, allowed in methods.items()]


def _options(path: str, allow: str) -> HTTPRouteHandler:
    @route(path, http_method=HttpMethod.OPTIONS, include_in_schema=False, status_code=HTTPStatus.NO_CONTENT)
    async def options() -> Response[None]:
        return nothing(HTTPStatus.NO_CONTENT, {"Allow": allow})

    return options
