"""Answers of extensions as they go over the wire."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from copycat_connect.plugin import RestAnswer
from litestar.config.cors import CORSConfig

NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
BODILESS: Final = frozenset({204, 304})
#: What follows from the rest of an answer.
FRAMING: Final = frozenset({"content-length", "content-type", "transfer-encoding", "connection"})
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Rendered:
    """An answer that the server can send."""

    status: int
    """HTTP status."""
    headers: Headers
    """All of them."""
    body: bytes
    """The body."""


def rendered(answer: RestAnswer) -> Rendered:
    """Return what to send.

    Raises:
        ValueError: It is no answer of HTTP.
        TypeError: Its body is neither text nor bytes.
    """
    if not 200 <= answer.status <= 599:
        message = f"a REST extension answered with the status {answer.status}"
        raise ValueError(message)
    body = answer.body.encode("utf-8", "replace") if isinstance(answer.body, str) else answer.body
    if not isinstance(body, bytes):
        message = f"a REST extension answered with a body of the type {type(body).__name__}"
        raise TypeError(message)
    named = {name: value for name, value in answer.headers.items() if name.lower() not in FRAMING}
    if answer.status in BODILESS:
        return Rendered(answer.status, _headers(named), b"")
    length = [(b"content-length", str(len(body)).encode())]
    typed = {"content-type": answer.content_type} if answer.content_type else {}
    return Rendered(answer.status, [*_headers(typed), *length, *_headers(named)], body)


def cors_headers(cors: CORSConfig | None, origin: str | None) -> Headers:
    """Return what a browser needs to show an answer to the page that asked."""
    if cors is None or not origin or not cors.is_origin_allowed(origin):
        return []
    shown = "*" if cors.is_allow_all_origins else origin
    return [(b"access-control-allow-origin", shown.encode("latin-1")), (b"vary", b"Origin")]


def _headers(named: dict[str, str]) -> Headers:
    for name, value in named.items():
        if NAME.fullmatch(name) is None or VALUE.fullmatch(value) is None:
            message = f"a REST extension answered with a header {name!r} that HTTP cannot carry"
            raise ValueError(message)
    return [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in named.items()]
