"""The REST application: every route, with what each request passes through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from http import HTTPMethod
from typing import Any

from litestar import Litestar, Response, Router, route
from litestar.config.cors import CORSConfig
from litestar.di import Provide
from litestar.enums import HttpMethod, MediaType
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from copycat_gateway.access.admission import Admission
from copycat_gateway.access.calls import Audited, RememberingCallers
from copycat_gateway.access.foreign_pages import ForeignPages
from copycat_gateway.clients import Services
from copycat_gateway.edge.answers import answer_error
from copycat_gateway.edge.headers import ResponseHeaders
from copycat_gateway.edge.intake import RequestLimit, check_media_types
from copycat_gateway.edge.openapi.document import openapi_config
from copycat_gateway.edge.paths import HeadAsGet, RawPaths
from copycat_gateway.edge.progress import deadline
from copycat_gateway.edge.protocol import OneLength
from copycat_gateway.edge.spans import RequestSpans
from copycat_gateway.extensions.guard import ExtensionGuard
from copycat_gateway.extensions.loading import Extensions
from copycat_gateway.routes import (
    connectors,
    health,
    history,
    internal,
    loggers,
    metrics,
    offsets,
    plugins,
    root,
    states,
    statuses,
    tasks,
    topics,
)
from copycat_gateway.routes.health import ServiceHealth
from copycat_gateway.routes.loggers import WorkerLoggers
from copycat_gateway.settings import GatewaySettings


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


ADMIN: Sequence[HTTPRouteHandler] = loggers.HANDLERS
REST: Sequence[HTTPRouteHandler] = (
    *root.HANDLERS,
    *health.HANDLERS,
    *metrics.HANDLERS,
    *connectors.HANDLERS,
    *statuses.HANDLERS,
    *states.HANDLERS,
    *tasks.HANDLERS,
    *topics.HANDLERS,
    *offsets.HANDLERS,
    *history.HANDLERS,
    *plugins.HANDLERS,
    *internal.HANDLERS,
)
#: Method and path of whatever answers, which no extension may replace.
TAKEN: Sequence[tuple[str, str]] = (
    *((method, path) for each in (*REST, *ADMIN) for path in each.paths for method in each.http_methods),
    *(("GET", path) for path in ("/openapi", "/openapi/openapi.json")),
)
#: Kafka Connect's CORS filter allows these.
CORS_HEADERS = ["X-Requested-With", "Content-Type", "Accept", "Origin"]


class Applications:
    """Makes the applications of one process; they share clients, health and logger levels."""

    def __init__(
        self, settings: GatewaySettings, services: Services, extensions: Extensions, admission: Admission
    ) -> None:
        self._settings = settings
        self._extensions = extensions
        self._admission = admission
        self._provided = {
            "services": services,
            "settings": settings,
            "access": admission.access,
            "loggers": WorkerLoggers(),
            "scrape": services.scrape,
            "health": ServiceHealth(services, patience=settings.health_timeout),
        }

    def rest(self) -> ASGIApp:
        """Return the interface; /admin is part of it unless it has listeners of its own or none."""
        shared = self._settings.admin_listeners is None
        return self._application((*REST, *ADMIN) if shared else REST)

    def admin(self) -> ASGIApp:
        """Return /admin, with what REST extensions add everywhere."""
        return self._application(ADMIN)

    def _application(self, handlers: Sequence[HTTPRouteHandler]) -> ASGIApp:
        settings = self._settings
        router = Router(
            path="/",
            route_handlers=[*options_handlers(handlers), *handlers],
            before_request=check_media_types,
            middleware=[deadline(settings.request_timeout), RememberingCallers],
        )
        app = Litestar(
            route_handlers=[router],
            guards=[self._admission.access.guard],
            dependencies={name: _always(given) for name, given in self._provided.items()},
            exception_handlers={Exception: answer_error},
            cors_config=_cors(settings),
            openapi_config=openapi_config(settings.version),
            request_max_body_size=None,  # intake bounds it, and answers
            logging_config=None,
        )
        served: Any = HeadAsGet(RequestSpans(app))
        admission, extensions = self._admission, self._extensions
        if admission.authentication.is_wanted or extensions.are_any:
            served = ExtensionGuard(
                served,
                admission.authentication,
                admission.access,
                extensions,
                cors=app.cors_config,
            )
        served = ForeignPages(served, settings.trusted_pages, app.cors_config)
        wrapped: Any = RawPaths(Audited(served, admission.audit))
        if settings.header_rules:
            wrapped = ResponseHeaders(wrapped, settings.header_rules)
        return RequestLimit(OneLength(wrapped))


def _always(given: object) -> Provide:
    return Provide(lambda: given, sync_to_thread=False)


def _cors(settings: GatewaySettings) -> CORSConfig | None:
    if not settings.allow_origins:
        return None
    methods: Any = list(settings.allow_methods)
    return CORSConfig(
        allow_origins=list(settings.allow_origins), allow_methods=methods, allow_headers=CORS_HEADERS
    )
