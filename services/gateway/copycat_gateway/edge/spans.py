"""A span for each request, where spans are exported; a caller's trace goes on in any case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from copycat_telemetry.tracing import Span, beginning, tracing
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from copycat_gateway.edge.paths import segment

#: Asked for all the time, and leading to nothing: they are part of a trace only where the caller has one.
_ASKED_OFTEN: Final = frozenset({"/", "/health", "/metrics"})
_CONNECTOR: Final = "/connectors/{name}"
_TRACEPARENT: Final = b"traceparent"
_CONTEXT_HEADERS: Final = frozenset({_TRACEPARENT, b"tracestate", b"baggage"})


class RequestSpans:
    """Runs each request under a span named by its method and route; never by what is in its path or body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the request."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        headers = {name: value for name, value in scope["headers"] if name in _CONTEXT_HEADERS}
        if _TRACEPARENT in headers or (tracing() and scope["path"] not in _ASKED_OFTEN):
            await self._traced(scope, receive, send, headers)
        else:
            await self._app(scope, receive, send)

    async def _traced(
        self, scope: HTTPScope, receive: Receive, send: Send, headers: dict[bytes, bytes]
    ) -> None:
        method = str(scope["method"])
        carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()}
        with beginning(method, carrier) as span:

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self._app(scope, receive, noting)
            finally:
                span.set_attribute("http.request.method", method)
                _name(span, method, dict(scope))


def _name(span: Span, method: str, routed: Mapping[str, Any]) -> None:
    """Name a span by the route that the application found, with the connector it is about."""
    route = routed.get("path_template")
    if not route:
        return
    span.update_name(f"{method} {route}")
    span.set_attribute("http.route", route)
    if route.startswith(_CONNECTOR):
        span.set_attribute("copycat.connector", segment(routed["path_params"]["name"]))
