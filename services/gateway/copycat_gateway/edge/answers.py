"""Answers: JSON as Kafka Connect writes it, or no body at all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from copycat_rest.answers import ErrorMessage
from litestar import Request, Response
from litestar.datastructures import State
from litestar.response.base import ASGIResponse
from litestar.types import Send

from copycat_gateway.errors import problem_of

T = TypeVar("T")
JSON = "application/json"


class JsonAnswer(Response[T]):
    """A response in compact JSON, keys in the order of the view; `None` has no body."""

    def render(self, content: Any, media_type: str, enc_hook: Any = None) -> bytes:
        """Return the body."""
        if content is None:
            return b""
        try:
            return msgspec.json.encode(content)  # in an eighth of json's time: answers grow with the cluster
        except UnicodeEncodeError:
            return to_json(content)

    def to_asgi_response(self, app: Any, request: Any, **given: Any) -> ASGIResponse:
        """Return the response to send; without a body it has no type either."""
        made = super().to_asgi_response(app, request, **given)
        if self.content is None:
            made.headers.pop("content-type", None)
        return made


def to_json(content: object) -> bytes:
    """Encode a view; numbers of any size pass, text that UTF-8 cannot hold shows `?`."""
    plain = msgspec.to_builtins(content)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def answer(content: T, status: int = 200, headers: Mapping[str, str] | None = None) -> Response[T]:
    """Answer with a JSON body."""
    return JsonAnswer(content, status_code=status, headers=dict(headers or {}), media_type=JSON)


def nothing(status: int, headers: Mapping[str, str] | None = None) -> Response[Any]:
    """Answer without a body."""
    return JsonAnswer(None, status_code=status, headers=dict(headers or {}), media_type=JSON)


def answer_error(_request: Request[Any, Any, State], error: Exception) -> Response[ErrorMessage]:
    """Answer a request that raised."""
    problem = problem_of(error)
    return answer(ErrorMessage(problem.status, problem.message), problem.status, problem.headers)


async def refuse(
    send: Send, status: HTTPStatus, message: str, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Answer a request that goes no further, where there is no application yet."""
    body = to_json(ErrorMessage(status.value, message))
    own = [(b"content-type", JSON.encode()), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status.value, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": body, "more_body": False})
