"""Errors: what went wrong, coded once for every border it crosses.

A class says what the caller or the engine does; its code is stable and holds both mappings, gRPC and HTTP.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A stable name of a kind of failure, with the status it has over gRPC and over HTTP."""

    name: str
    """Dotted lower case, `<service or subject>.<what>`; never reused."""
    grpc: str
    """Name of a gRPC status code, e.g. `NOT_FOUND`."""
    http: int
    """HTTP status the gateway answers."""


class CopycatError(Exception):
    """The root of every error Copycat raises on purpose."""

    code: ClassVar[ErrorCode] = ErrorCode("internal", grpc="INTERNAL", http=500)

    def __init__(self, message: str, **fields: str) -> None:
        """Keep the text for people and the typed fields for programs."""
        super().__init__(message)
        self.message = message
        self.fields = fields


class ConfigError(CopycatError):
    """A configuration is wrong; the text names the key, the shape of the value and the fix."""

    code = ErrorCode("config.invalid", grpc="INVALID_ARGUMENT", http=400)


class ConnectError(CopycatError):
    """A plugin or the engine failed for good: the task fails (Kafka's ConnectException)."""

    code = ErrorCode("connect.failed", grpc="INTERNAL", http=500)


class OffsetsUnmodifiableError(ConnectError):
    """A connector's offsets may not be changed from outside; raised by its `alter_offsets`.

    The counterpart of the UnsupportedOperationException of a Java connector (KIP-875): the request is
    answered with 500, and nothing is changed.
    """

    code = ErrorCode("connector.alter_unsupported", grpc="UNIMPLEMENTED", http=500)


class OffsetLostError(ConnectError):
    """What an offset stands for is gone: only other offsets help, which a user has to set."""

    code = ErrorCode("connect.offset_lost", grpc="FAILED_PRECONDITION", http=500)


class RetriableError(ConnectError):
    """The system is away for the moment: the engine calls again later (Kafka's RetriableException)."""

    code = ErrorCode("connect.retriable", grpc="UNAVAILABLE", http=503)


class DataError(ConnectError):
    """A record cannot be read, converted or stored (Kafka's DataException)."""

    code = ErrorCode("connect.data", grpc="INVALID_ARGUMENT", http=400)


class UnavailableError(CopycatError):
    """A service cannot answer now; the same call may succeed later."""

    code = ErrorCode("service.unavailable", grpc="UNAVAILABLE", http=503)


class NotWriterError(CopycatError):
    """Another instance of this service owns the log; the call had no effect and may be sent there."""

    code = ErrorCode("log.not_writer", grpc="UNAVAILABLE", http=503)


class OutcomeUnknownError(CopycatError):
    """An append may or may not have happened; read before trying again."""

    code = ErrorCode("log.outcome_unknown", grpc="UNKNOWN", http=500)


class LogLostError(CopycatError):
    """The topic of a log was deleted, or is another one than was folded: an operator must say how to go on.

    Nothing was appended, and nothing will be before the service is started again.
    """

    code = ErrorCode("log.topic.lost", grpc="UNAVAILABLE", http=503)


class LogCompactedError(CopycatError):
    """The point a watch wants to resume from is gone: ask for a new snapshot."""

    code = ErrorCode("log.compacted", grpc="OUT_OF_RANGE", http=500)


class StaleGenerationError(CopycatError):
    """A newer assignment of the same instance exists (I2)."""

    code = ErrorCode("generation.stale", grpc="ABORTED", http=409)
