"""Which failed calls may be sent again: those without effect, and those whose repetition changes nothing."""

from __future__ import annotations

from typing import Any, Final

import grpc
from copycat.config.v1 import config_service_pb2 as config_pb2
from copycat_connect.errors import CopycatError, NotWriterError, UnavailableError

from copycat_rpc.errors import RemoteError
from copycat_rpc.gate import DrainingError

#: What an instance says that has not begun with a call.
REFUSAL_CODES: Final = frozenset({NotWriterError.code.name, DrainingError.code.name})
#: With this gRPC ends what is left at a server that has stopped. By then ours has ended every call that it
#: has begun with; rarely there is one that gRPC took and never handed over.
LEFT_BEHIND: Final = "Cancelling all calls"
#: Calls whose names begin so have no effect: whether one was carried out makes no difference.
READING_CALL_PREFIXES: Final = ("Get", "List", "Read")
#: Writes that state the whole of what is to be: the same one again changes nothing.
IDEMPOTENT_WRITES: Final = frozenset({"PutConnector", "SetTargetState"})


def was_refused(failure: grpc.aio.AioRpcError, error: CopycatError) -> bool:
    """Return whether no instance has begun with the call.

    A server of ours ends each call that it has taken with a status of its own, or its connection breaks
    (UNAVAILABLE). CANCELLED, where it was not us who cancelled, is what gRPC answers for a server that stops
    to calls which it has not handed over yet.
    """
    if isinstance(error, RemoteError):
        return error.remote_code.name in REFUSAL_CODES
    return failure.code() is grpc.StatusCode.CANCELLED or failure.details() == LEFT_BEHIND


def may_be_repeated(
    method: str | bytes, request: Any, failure: grpc.aio.AioRpcError, error: CopycatError
) -> bool:
    """Return whether to send a call again though it may have been carried out: its instance went away."""
    lost = isinstance(error, UnavailableError) and failure.code() is grpc.StatusCode.UNAVAILABLE
    if not lost:
        return False
    name = (method.decode() if isinstance(method, bytes) else method).rpartition("/")[2]
    if isinstance(request, config_pb2.PutConnectorRequest) and request.create_only:
        return False
    return name.startswith(READING_CALL_PREFIXES) or name in IDEMPOTENT_WRITES
