"""Errors of the REST interface, and what any error looks like over HTTP.

The only place that turns an `ErrorCode` into an HTTP status. Texts are Kafka Connect's where it has one.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from copycat_connect.errors import CopycatError, ErrorCode
from copycat_rpc.errors import RemoteError, code_of
from litestar.exceptions import HTTPException

log = logging.getLogger(__name__)

CONNECTOR_UNKNOWN = "connector.unknown"
CONFIG_CHANGED = "connector.config_changed"
CONNECTOR_EXISTS = "connector.exists"
STATUS_UNKNOWN = "status.unknown"
PLUGIN_HANGS = "plugin.hangs"
INSTANCE_UNASSIGNED = "instance.unassigned"
OUTCOME_UNKNOWN = "log.outcome_unknown"
RESET_DISABLED = "topic.reset_disabled"


class BadRequestError(CopycatError):
    """The request can be read but asks for something that cannot be."""

    code = ErrorCode("gateway.bad_request", grpc="INVALID_ARGUMENT", http=400)


class NotFoundError(CopycatError):
    """What the request names does not exist."""

    code = ErrorCode("gateway.not_found", grpc="NOT_FOUND", http=404)


class ForbiddenError(CopycatError):
    """The worker's settings do not allow the request."""

    code = ErrorCode("gateway.forbidden", grpc="PERMISSION_DENIED", http=403)


class ConflictError(CopycatError):
    """The request collides with something else under way or already there."""

    code = ErrorCode("gateway.conflict", grpc="ABORTED", http=409)


class TooLargeError(CopycatError):
    """The request body is longer than the gateway reads."""

    code = ErrorCode("gateway.too_large", grpc="RESOURCE_EXHAUSTED", http=413)


class UnsupportedMediaTypeError(CopycatError):
    """The request body is not declared as JSON."""

    code = ErrorCode("gateway.unsupported_media_type", grpc="INVALID_ARGUMENT", http=415)


class NotAcceptableError(CopycatError):
    """The caller does not take JSON."""

    code = ErrorCode("gateway.not_acceptable", grpc="INVALID_ARGUMENT", http=406)


class FailedRequestError(CopycatError):
    """The request failed; Kafka Connect answers 500 here, also for bodies it cannot read."""

    code = ErrorCode("gateway.failed", grpc="INTERNAL", http=500)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a failed request answers."""

    status: int
    """HTTP status, also `error_code` of the body."""
    message: str
    """For people; never a stack."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers, e.g. `allow`."""


def problem_of(error: Exception) -> Problem:
    """Return the answer to a request that raised."""
    match error:
        case CopycatError():
            return Problem(code_of(error).http, error.message)
        case HTTPException():
            return Problem(error.status_code, http_text(error.status_code), error.headers or {})
        case _:
            log.error("a request failed unexpectedly", exc_info=error)
            return Problem(500, f"Internal error ({type(error).__name__}); the gateway's log has the trace")


def http_text(status: int) -> str:
    """Return Kafka Connect's text for a refusal by the HTTP layer itself."""
    return f"HTTP {status} {HTTPStatus(status).phrase}"


@contextmanager
def answering_refusals(texts: Mapping[str, CopycatError]) -> Iterator[None]:
    """Answer a service's refusal with the text this resource has for it, chosen by its code."""
    try:
        yield
    except RemoteError as error:
        if error.remote_code.name in texts:
            raise texts[error.remote_code.name] from error
        raise


@contextmanager
def writing_config() -> Iterator[None]:
    """Tell a caller that a write to the config topic whose outcome is unknown may be repeated."""
    unknown = FailedRequestError(
        "Failed to write to config topic; this may be due to a transient error and the request can be"
        " safely retried"
    )
    with answering_refusals({OUTCOME_UNKNOWN: unknown}):
        yield
