"""Why the status service refuses a call."""

from __future__ import annotations

from typing import Final

from copycat_connect.errors import ConfigError, CopycatError, ErrorCode, UnavailableError

#: More of a wrong name is no use to anybody.
MAX_SHOWN_CHARACTERS: Final = 300


class UnknownStatusError(CopycatError):
    """The connector has no status yet, or none any more."""

    code = ErrorCode("status.unknown", grpc="NOT_FOUND", http=404)

    def __init__(self, connector: str) -> None:
        super().__init__(f"No status found for connector {connector}", connector=connector)


class UpdateGivenUpError(UnavailableError):
    """The log was away for longer than updates are tried; the service writes this one when it is back."""

    code = ErrorCode("status.given_up", grpc="UNAVAILABLE", http=503)

    def __init__(self, retries: int, cause: str) -> None:
        super().__init__(f"The status log is away: gave up after {retries} retries ({cause})")


class InvalidReportError(ConfigError):
    """A report cannot be a record; its subclasses say why."""

    code = ErrorCode("status.invalid", grpc="INVALID_ARGUMENT", http=400)


class UnnamedConnectorError(InvalidReportError):
    """A report does not say which connector it is about."""

    def __init__(self) -> None:
        super().__init__("A report without a connector cannot be recorded: name the connector")


class InvalidTaskError(InvalidReportError):
    """A number cannot be the index of a task."""

    def __init__(self, task: int) -> None:
        super().__init__(f"{task} is not a task index: tasks count from 0", task=str(task))


class InvalidTopicError(InvalidReportError):
    """Kafka does not allow this topic name, and a key with it could not be read back."""

    def __init__(self, topic: str) -> None:
        shown = topic[:MAX_SHOWN_CHARACTERS]
        super().__init__(
            f"{shown!r} is not a topic name: Kafka allows neither an empty one nor a colon", topic=shown
        )


class MissingStateError(InvalidReportError):
    """A report does not say what the connector or task does."""

    def __init__(self, connector: str) -> None:
        super().__init__(f"The status of connector {connector!r} has no state: set one", connector=connector)


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
