"""OPTIONS: which methods a path has, said as JAX-RS does; the framework's own answer has only the first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from http import HTTPMethod

from litestar import Response, route
from litestar.enums import HttpMethod, MediaType
from litestar.handlers import HTTPRouteHandler


def options_handlers(handlers: Iterable[HTTPRouteHandler]) -> Sequence[HTTPRouteHandler]:
    """Return a handler of OPTIONS for each path of these; it names the methods that the document has."""
    methods: dict[str, set[str]] = defaultdict(lambda: {HTTPMethod.OPTIONS.value})
    for handler in filter(_is_told, handlers):
        for path in handler.paths:
            methods[path].update(handler.http_methods)
            if HttpMethod.GET in handler.http_methods:
                methods[path].add(HTTPMethod.HEAD.value)
    return [_options(path, ", ".join(sorted(allowed))) for path, allowed in methods.items()]


def _is_told(handler: HTTPRouteHandler) -> bool:
    return handler.include_in_schema is not False


def _options(path: str, allow: str) -> HTTPRouteHandler:
    @route(path, http_method=HttpMethod.OPTIONS, include_in_schema=False, status_code=200)
    async def options() -> Response[str]:
        return Response(allow, headers={"Allow": allow}, media_type=MediaType.TEXT)

    return options
