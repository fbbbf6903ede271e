"""Why the status service refuses a call."""

from __future__ import annotations

from copycat_connect.errors import ConfigError, CopycatError, ErrorCode


class UnknownStatusError(CopycatError):
    """The connector has no status yet, or none any more."""

    code = ErrorCode("status.unknown", grpc="NOT_FOUND", http=404)

    def __init__(self, connector: str) -> None:
        super().__init__(f"No status found for connector {connector}", connector=connector)


class InvalidReportError(ConfigError):
    """A report cannot be a record; the text says why."""

    code = ErrorCode("status.invalid", grpc="INVALID_ARGUMENT", http=400)


class TrackingDisabledError(CopycatError):
    """Active topics are not tracked on this cluster (`topic.tracking.enable`)."""

    code = ErrorCode("topic.tracking_disabled", grpc="FAILED_PRECONDITION", http=403)

    def __init__(self) -> None:
        super().__init__("Topic tracking is disabled.")


class ResetDisabledError(CopycatError):
    """Active topics may not be reset on this cluster (`topic.tracking.allow.reset`)."""

    code = ErrorCode("topic.reset_disabled", grpc="FAILED_PRECONDITION", http=403)

    def __init__(self) -> None:
        super().__init__("Topic tracking reset is disabled.")
