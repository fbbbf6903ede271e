"""The OpenAPI document: request bodies, and a page that needs nothing from the network."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Final

from litestar import Litestar, Request
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIResponse, Operation, Reference, RequestBody, Schema
from litestar.openapi.spec.enums import OpenAPIType

from copycat_gateway.edge.answers import JSON

_TEXT: Final = Schema(type=[OpenAPIType.STRING, OpenAPIType.NULL])
_CONFIG: Final = Schema(
    type=OpenAPIType.OBJECT,
    additional_properties=_TEXT,
    description="Keys of a configuration; null removes one.",
)
_COMPLETE: Final = Schema(
    type=OpenAPIType.OBJECT,
    required=["connector.class"],
    additional_properties=_TEXT,
    description="A connector configuration, complete.",
)
_MAP: Final = Schema(type=OpenAPIType.OBJECT)
_NULLABLE_MAP: Final = Schema(type=[OpenAPIType.OBJECT, OpenAPIType.NULL])
BODIES: Final = {
    "Config": _COMPLETE,
    "ConfigPatch": _CONFIG,
    "CreateConnectorRequest": Schema(
        type=OpenAPIType.OBJECT,
        required=["name", "config"],
        additional_properties=False,
        properties={
            "name": Schema(type=OpenAPIType.STRING, min_length=1),
            "config": _COMPLETE,
            "initial_state": Schema(type=OpenAPIType.STRING, enum=["RUNNING", "PAUSED", "STOPPED"]),
        },
    ),
    "ConnectorOffsets": Schema(
        type=OpenAPIType.OBJECT,
        required=["offsets"],
        additional_properties=False,
        properties={
            "offsets": Schema(
                type=OpenAPIType.ARRAY,
                min_items=1,
                items=Schema(
                    type=OpenAPIType.OBJECT,
                    required=["partition", "offset"],
                    additional_properties=False,
                    properties={"partition": _MAP, "offset": _NULLABLE_MAP},
                ),
            )
        },
    ),
    "LoggerLevel": Schema(
        type=OpenAPIType.OBJECT, required=["level"], properties={"level": Schema(type=OpenAPIType.STRING)}
    ),
}
_ERROR: Final = Schema(
    type=OpenAPIType.OBJECT,
    required=["error_code", "message"],
    properties={
        "error_code": Schema(type=OpenAPIType.INTEGER, description="The HTTP status."),
        "message": Schema(type=OpenAPIType.STRING),
    },
)


def expects(body: str) -> type[Operation]:
    """Return the operation class of a route that reads one of `BODIES`; the route parses it itself."""

    @dataclass
    class Expecting(Operation):
        """An operation with a request body."""

        def __post_init__(self) -> None:
            content = {JSON: OpenAPIMediaType(schema=BODIES[body])}
            self.request_body = RequestBody(content=content, required=True)

    return Expecting


class Page(OpenAPIRenderPlugin):
    """A plain page of every operation; the usual viewers load scripts from elsewhere."""

    def render(self, request: Request[Any, Any, State], openapi_schema: dict[str, Any]) -> bytes:
        """Return the page."""
        title = escape(openapi_schema["info"]["title"])
        rows = "".join(
            f"<tr><td>{method.upper()}</td><td><code>{escape(path)}</code></td>"
            f"<td>{escape(operation.get('summary', ''))}</td></tr>"
            for path, item in sorted(openapi_schema["paths"].items())
            for method, operation in item.items()
            if isinstance(operation, dict)
        )
        return (
            f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
            "<style>body{font:15px system-ui;margin:2em}td{padding:.3em 1em .3em 0}</style>"
            f"<h1>{title}</h1><p>The whole document: <a href=openapi/openapi.json>openapi.json</a></p>"
            f"<table>{rows}</table></html>"
        ).encode()


def openapi_config(version: str) -> OpenAPIConfig:
    """Describe the interface; the page is at `/openapi`, the document at `/openapi/openapi.json`."""
    return OpenAPIConfig(
        title="Copycat: Kafka Connect's REST interface",
        version=version,
        use_handler_docstrings=True,
        path="/openapi",
        render_plugins=[Page(path="/"), JsonRenderPlugin()],
    )


def complete_document(app: Litestar) -> None:
    """Say in the document what the framework cannot know: error bodies, and answers without a body."""
    failed = OpenAPIResponse(
        description="The request failed.", content={JSON: OpenAPIMediaType(schema=_ERROR)}
    )
    for item in (app.openapi_schema.paths or {}).values():
        for operation in (item.get, item.put, item.post, item.patch, item.delete):
            if operation is not None:
                documented = operation.responses or {}
                documented.pop("400", None)  # the framework's own error body, which is never sent
                for response in documented.values():
                    _without_null(response)
                operation.responses = {**documented, "default": failed}


def _without_null(response: OpenAPIResponse | Reference) -> None:
    content = response.content if isinstance(response, OpenAPIResponse) else None
    schemas = [media.schema for media in (content or {}).values()]
    if any(isinstance(schema, Schema) and schema.type is OpenAPIType.NULL for schema in schemas):
        response.content = None  # type: ignore[union-attr] # narrowed above
