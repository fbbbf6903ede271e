"""A plain page of every operation; the usual viewers load scripts from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any

from litestar import Request
from litestar.datastructures import State
from litestar.openapi.plugins import OpenAPIRenderPlugin


class Page(OpenAPIRenderPlugin):
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
