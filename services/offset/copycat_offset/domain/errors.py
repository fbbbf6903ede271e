"""Why the offset service refuses."""

from __future__ import annotations

from copycat_connect.errors import CopycatError, ErrorCode


class OffsetFormatError(CopycatError):
    """A source partition or offset is not a flat JSON object."""

    code = ErrorCode("offset.format", grpc="INVALID_ARGUMENT", http=400)


class GroupActiveError(CopycatError):
    """The consumer group has members, so its positions cannot be changed from outside."""

    code = ErrorCode("group.active", grpc="FAILED_PRECONDITION", http=500)

    def __init__(self, group: str) -> None:
        """Name the group."""
        super().__init__(
            f"Consumer group {group} has active members: stop the consumers in it, then try again",
            group=group,
        )


class GroupError(CopycatError):
    """Kafka refused an operation on a consumer group."""

    code = ErrorCode("group.failed", grpc="FAILED_PRECONDITION", http=500)

    def __init__(self, group: str, reason: str) -> None:
        """Name the group and give the broker's reason."""
        super().__init__(f"Kafka refused to change or read consumer group {group}: {reason}", group=group)


class PartitionGoneError(GroupError):
    """A position is of a partition that is not there; those of others were committed."""
