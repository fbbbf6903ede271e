"""The whole document: its frame, its components, and what paths and parameters mean."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from litestar import Litestar, Request, Router
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.openapi.spec import (
    Components,
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    Parameter,
    Reference,
    Schema,
)
from litestar.openapi.spec.enums import OpenAPIType

from copycat_gateway.edge.answers import JSON
from copycat_gateway.edge.openapi.operations import SCHEMAS, named


class _Page(OpenAPIRenderPlugin):
    """Renders the document; needs nothing from the network."""

    def render(self, request: Request[Any, Any, State], openapi_schema: dict[str, Any]) -> bytes:
        """Return the page."""
        title = escape(openapi_schema["info"]["title"])
        rows = "".join(
            f"<tr><td>{method.upper()}</td><td><code>{escape(path)}</code></td>"
            f"<td>{escape(operation.get('summary', ''))}</td><td>{_statuses(operation)}</td></tr>"
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


def _statuses(operation: dict[str, Any]) -> str:
    return ", ".join(sorted(operation["responses"]))


ABOUT: Final = (
    "Kafka Connect's REST interface, status for status and field for field. Every error is"
    ' `{"error_code", "message"}`. As in Kafka Connect, a body that cannot be read is answered with 500,'
    " and so is a configuration whose connector class nobody knows."
)
#: Path parameters; each is one segment, percent-encoded, whatever characters it has.
SEGMENTS: Final = {
    "name": Schema(type=OpenAPIType.STRING, min_length=1, description="A connector."),
    "plugin": Schema(type=OpenAPIType.STRING, min_length=1, description="Class name or alias of a plugin."),
    "logger": Schema(type=OpenAPIType.STRING, min_length=1, description="A logger, `root` for all."),
    "task_id": Schema(type=OpenAPIType.INTEGER, minimum=0, maximum=2**31 - 1, description="Index of a task."),
}
#: In the state of an application: its document is complete.
DESCRIBED: Final = "openapi_document_is_complete"
BAD_PATH: Final = "The path is not UTF-8 text in percent-encoding."


def openapi_config(version: str) -> OpenAPIConfig:
    """Describe the interface; the page is at `/openapi`, the document at `/openapi/openapi.json`."""
    return OpenAPIConfig(
        title="Copycat: Kafka Connect's REST interface",
        version=version,
        description=ABOUT,
        use_handler_docstrings=True,
        openapi_router=Router(
            "/openapi",
            route_handlers=[],
            include_in_schema=False,
            before_request=_describe,
            dto=None,
            return_dto=None,
        ),
        operation_id_creator=lambda handler, _method, _path: handler.handler_name,
        render_plugins=[_Page(path="/"), JsonRenderPlugin()],
    )


async def _describe(request: Request[Any, Any, State]) -> None:
    """Complete the document when it is first asked for: to make it takes a quarter of a gateway's start."""
    state = request.app.state
    if not state.get(DESCRIBED):
        _complete_document(request.app)
        state[DESCRIBED] = True


def _complete_document(app: Litestar) -> None:
    """Say in the document what the framework cannot know."""
    document = app.openapi_schema
    components = document.components or Components()
    for schema in (components.schemas or {}).values():
        schema.properties = {
            name: _only_one(each) for name, each in (schema.properties or {}).items()
        } or schema.properties
    components.schemas = {**(components.schemas or {}), **SCHEMAS}
    document.components = components
    for item in (document.paths or {}).values():
        for operation in (item.get, item.put, item.post, item.patch, item.delete):
            if operation is not None:
                _complete(operation)


def _complete(operation: Operation) -> None:
    in_path = False
    for parameter in operation.parameters or ():
        if isinstance(parameter, Parameter):
            parameter.schema = SEGMENTS.get(parameter.name) or _without_null(parameter.schema)
            in_path = in_path or parameter.param_in == "path"
    responses = operation.responses or {}
    for response in responses.values():
        if isinstance(response, OpenAPIResponse):
            _complete_answer(response)
    if in_path and "400" not in responses:
        media = OpenAPIMediaType(schema=named("Error"))
        responses["400"] = OpenAPIResponse(description=BAD_PATH, content={JSON: media})


def _complete_answer(response: OpenAPIResponse) -> None:
    for media in (response.content or {}).values():
        media.schema = _without_null(media.schema)
        if media.schema is None:
            response.content = None


def _only_one(schema: Schema | Reference) -> Schema | Reference:
    """Return the schema of a field that is sent or not, which is a choice of one for the framework."""
    several = isinstance(schema, Schema) and schema.one_of
    return several[0] if several and len(several) == 1 else schema


def _without_null(schema: Schema | Reference | None) -> Schema | Reference | None:
    """Return the schema of what is sent: `None` in a handler's types means that nothing is."""
    if not isinstance(schema, Schema):
        return schema
    if schema.type is OpenAPIType.NULL:
        return None
    left = [each for each in schema.one_of or () if _without_null(each) is not None]
    return left[0] if len(left) == 1 else schema
