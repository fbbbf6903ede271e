"""Errors across gRPC: a code and its fields go out as trailing metadata and come back as an exception.

The only place that turns an `ErrorCode` into a status. Errors without a code leave as `internal`, their
text kept from the caller.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import grpc
from copycat_connect.errors import CopycatError, ErrorCode, UnavailableError

CODE_KEY = "copycat-error"
FIELDS_KEY = "copycat-error-bin"
#: gRPC refuses metadata beyond the peer's limit, so a long text is cut well below `MAX_METADATA_BYTES`.
MAX_TEXT_CHARACTERS = 16_000
MAX_METADATA_BYTES = 64 * 1024
#: A call that no service has answered ends with these. A service that stops cancels the calls it still has.
NO_ANSWER_CODES = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)
Status: TypeAlias = tuple[grpc.StatusCode, str, tuple[tuple[str, str | bytes], ...]]
"""Code, text and trailing metadata of a call that failed."""


class RemoteError(CopycatError):
    """A service refused or failed; `remote_code` is what it said."""

    def __init__(self, remote_code: ErrorCode, message: str, **fields: str) -> None:
        """Keep the code the service gave beside its text."""
        super().__init__(message, **fields)
        self.remote_code = remote_code


def code_of(error: CopycatError) -> ErrorCode:
    """Return the code an error has for the outside: a remote one's own."""
    return error.remote_code if isinstance(error, RemoteError) else error.code


def to_status(error: CopycatError) -> Status:
    """Return what a call that raised an error ends with."""
    code = code_of(error)
    fields = {name: value[:1000] for name, value in error.fields.items()}
    detail = json.dumps({"http": code.http, "fields": fields}).encode()
    return (
        grpc.StatusCode[code.grpc],
        error.message[:MAX_TEXT_CHARACTERS],
        ((CODE_KEY, code.name), (FIELDS_KEY, detail)),
    )


def from_rpc_error(error: grpc.aio.AioRpcError, target: str) -> CopycatError:
    """Return the exception a failed call stands for."""
    metadata: Any = error.trailing_metadata() or ()
    trailing: dict[str, Any] = dict(metadata)
    if CODE_KEY in trailing:
        detail = json.loads(trailing.get(FIELDS_KEY, b"{}"))
        code = ErrorCode(str(trailing[CODE_KEY]), error.code().name, int(detail.get("http", 500)))
        return RemoteError(code, error.details() or "", **detail.get("fields", {}))
    if error.code() in NO_ANSWER_CODES:
        return UnavailableError(
            f"No answer from {target} ({error.code().name.lower()}): is the service running there?"
        )
    return CopycatError(f"Call to {target} failed ({error.code().name.lower()}): {error.details()}")
