"""Why the offset service refuses."""

from __future__ import annotations

from copycat_connect.errors import CopycatError, ErrorCode, StaleGenerationError


class OffsetFormatError(CopycatError):
    """A partition or an offset cannot be one; its subclasses say why."""

    code = ErrorCode("offset.format", grpc="INVALID_ARGUMENT", http=400)


class NotJsonError(OffsetFormatError):
    """A source partition or offset is not JSON in UTF-8."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(f"A source partition or offset is not JSON: {reason}")


class NotAMapError(OffsetFormatError):
    """A source partition or offset is JSON, but no object."""

    def __init__(self) -> None:
        super().__init__("Offsets must be specified as a Map")


class NestedOffsetError(OffsetFormatError):
    """A source partition or offset has a list or an object among its values."""

    def __init__(self, field: str, kind: str) -> None:
        super().__init__(
            f"Offsets may only contain primitive types as values, but field '{field}' contains {kind}",
            field=field,
        )


class PaddedPartitionError(OffsetFormatError):
    """A source partition has blanks around it; its bytes are part of a key."""

    def __init__(self) -> None:
        super().__init__("A source partition is compact JSON without blanks around it")


class UnnamedTopicError(OffsetFormatError):
    """A partition of Kafka is given without its topic."""

    def __init__(self, partition: int) -> None:
        super().__init__(f"Partition {partition} is of a topic without a name")


class NegativePartitionError(OffsetFormatError):
    """The number of a partition of Kafka is negative."""

    def __init__(self, topic: str, partition: int) -> None:
        super().__init__(f"Partition {partition} of topic {topic} must not be negative")


class NegativePositionError(OffsetFormatError):
    """A position in a partition of Kafka is negative."""

    def __init__(self, topic: str, partition: int, offset: int) -> None:
        super().__init__(f"Position {offset} of {topic}-{partition} must not be negative")


class StaleCommitError(StaleGenerationError):
    """A task commits that has been given to somebody else since (I2)."""

    def __init__(self, connector: str, task: int, generation: int, newest: int) -> None:
        super().__init__(
            f"Task {connector}-{task} runs under generation {generation}, but {newest} was assigned since:"
            " its commit is refused and the newer task continues from the last accepted one",
            connector=connector,
            task=str(task),
            generation=str(generation),
            newest=str(newest),
        )


class OffsetsMovedError(CopycatError):
    """A task commits from an offset that is not the committed one any more."""

    code = ErrorCode("offsets.moved", grpc="ABORTED", http=409)

    def __init__(self, connector: str, partition: bytes) -> None:
        super().__init__(
            f"Another task of connector {connector} has committed an offset of its source partition "
            f"{partition.decode(errors='replace')} since: the commit is refused, and the task begins again "
            "from there",
            connector=connector,
        )


class TasksAssignedError(CopycatError):
    """Tasks of the connector run, so its offsets cannot be changed from outside: they would undo it."""

    code = ErrorCode("offsets.in_use", grpc="ABORTED", http=409)

    def __init__(self, connector: str) -> None:
        super().__init__(
            f"Connector {connector} has tasks again: its offsets were not changed. Stop it, then try again",
            connector=connector,
        )


class GroupActiveError(CopycatError):
    """The consumer group has members, so its positions cannot be changed from outside."""

    code = ErrorCode("group.active", grpc="FAILED_PRECONDITION", http=500)

    def __init__(self, group: str) -> None:
        super().__init__(
            f"Consumer group {group} has active members: stop the consumers in it, then try again",
            group=group,
        )


class GroupError(CopycatError):
    """Kafka refused an operation on a consumer group."""

    code = ErrorCode("group.failed", grpc="FAILED_PRECONDITION", http=500)

    def __init__(self, group: str, reason: str) -> None:
        super().__init__(f"Kafka refused to change or read consumer group {group}: {reason}", group=group)


class PartitionGoneError(GroupError):
    """A position is of a partition that is not there; those of others were committed."""


class OffsetsTopicError(CopycatError):
    """Kafka refused to read or write a connector's own offsets topic."""

    code = ErrorCode("offsets.topic_failed", grpc="FAILED_PRECONDITION", http=500)

    def __init__(self, topic: str, servers: str, reason: str) -> None:
        super().__init__(
            f"Kafka at {servers} refused to read or write the offsets topic {topic}: {reason}. Correct the "
            "connector's producer.override.*, consumer.override.* or admin.override.*, or the rights of "
            "their principals",
            topic=topic,
        )


class TransactionRefusedError(CopycatError):
    """The connector's producer may not use the transactional id of its first task."""

    code = ErrorCode("offsets.transaction_refused", grpc="PERMISSION_DENIED", http=500)

    def __init__(self, transactional_id: str, servers: str) -> None:
        super().__init__(
            f"Kafka at {servers} does not allow the connector's producer the transactional id "
            f"{transactional_id}: allow its principal WRITE and DESCRIBE on that transactional id, or give "
            "another principal in producer.override.sasl.jaas.config",
            transactional_id=transactional_id,
        )
