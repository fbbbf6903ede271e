"""Records: what tasks, transformations and converters hand to each other.

Plain slotted classes and not dataclasses: several hundred thousand are made a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple, TypeVar

from copycat_connect.data.headers import Header, Headers
from copycat_connect.data.java import to_text, to_text_under
from copycat_connect.data.schema import ConnectValue, Schema

R = TypeVar("R", bound="ConnectRecord")
_new = object.__new__
_COMMON = ("topic", "kafka_partition", "key", "value", "key_schema", "value_schema", "timestamp")


class TimestampType(IntEnum):
    """What a record's timestamp says; the numbers are librdkafka's."""

    NO_TIMESTAMP = 0
    CREATE_TIME = 1
    LOG_APPEND_TIME = 2

    @property
    def java_name(self) -> str:
        """The name Kafka prints in its texts."""
        return ("NoTimestampType", "CreateTime", "LogAppendTime")[self]


class ConnectRecord:
    """What source and sink records share.

    A transformation never changes a record: it makes another with `replace`.
    """

    __slots__ = (
        "_headers",
        "kafka_partition",
        "key",
        "key_schema",
        "timestamp",
        "topic",
        "value",
        "value_schema",
    )

    topic: str
    kafka_partition: int | None
    key: ConnectValue
    value: ConnectValue
    key_schema: Schema | None
    value_schema: Schema | None
    timestamp: int | None
    _headers: Iterable[Header]

    @property
    def headers(self) -> Headers:
        """The headers; made on first use, since most records have none."""
        headers = self._headers
        if not isinstance(headers, Headers):
            headers = self._headers = Headers(headers)
        return headers

    @headers.setter
    def headers(self, headers: Iterable[Header]) -> None:
        self._headers = headers

    @property
    def has_headers(self) -> bool:
        """True when there is a header; cheaper than asking `headers`."""
        headers = self._headers
        return bool(headers) if isinstance(headers, (tuple, Headers)) else bool(self.headers)

    def replace(self: R, **changes: ConnectValue) -> R:
        """Return a copy with some attributes changed; headers are copied unless given.

        Args:
            changes: Attributes of the record by name, and `headers`.
        """
        copy = self._copy()
        for name, value in changes.items():
            setattr(copy, name, value)
        return copy

    def with_key(self: R, schema: Schema | None, key: ConnectValue) -> R:
        """Return a copy with another key."""
        copy = self._copy()
        copy.key_schema = schema
        copy.key = key
        return copy

    def with_value(self: R, schema: Schema | None, value: ConnectValue) -> R:
        """Return a copy with another value."""
        copy = self._copy()
        copy.value_schema = schema
        copy.value = value
        return copy

    def private(self: R) -> R:
        """Return a copy to change in place: a schemaless map that is the key or value is copied too."""
        copy = self._copy()
        if type(copy.value) is dict:
            copy.value = dict(copy.value)
        if type(copy.key) is dict:
            copy.key = dict(copy.key)
        return copy

    def _copy(self: R) -> R:
        raise NotImplementedError

    @classmethod
    def _attributes(cls) -> tuple[str, ...]:
        raise NotImplementedError

    def __str__(self) -> str:
        headers = ", ".join(
            f"ConnectHeader(key={header.key}, value={to_text_under(header.schema, header.value)}, "
            f"schema={to_text(header.schema)})"
            for header in self._headers
        )
        return (
            f"ConnectRecord{{topic='{self.topic}', kafkaPartition={to_text(self.kafka_partition)}, "
            f"key={to_text_under(self.key_schema, self.key)}, keySchema={to_text(self.key_schema)}, "
            f"value={to_text_under(self.value_schema, self.value)}, "
            f"valueSchema={to_text(self.value_schema)}, timestamp={to_text(self.timestamp)}, "
            f"headers=ConnectHeaders(headers={headers})}}"
        )

    def __repr__(self) -> str:
        body = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._attributes())
        return f"{type(self).__name__}({body}, headers={list(self._headers)!r})"


class SourceRecord(ConnectRecord):
    """A record a source task read, with where it came from."""

    __slots__ = ("source_offset", "source_partition")

    def __init__(
        self,
        source_partition: Mapping[str, ConnectValue] | None,
        source_offset: Mapping[str, ConnectValue] | None,
        topic: str,
        value: ConnectValue,
        *,
        key: ConnectValue = None,
        key_schema: Schema | None = None,
        value_schema: Schema | None = None,
        kafka_partition: int | None = None,
        timestamp: int | None = None,
        headers: Iterable[Header] = (),
    ) -> None:
        """Make a record.

        Args:
            source_partition: Names the stream within the system; string keys, primitive values.
            source_offset: Where to continue after this record; string keys, primitive values.
            topic: Kafka topic to write to.
            value: The value; its Python type fits `value_schema` when there is one.
            key: The key.
            key_schema: Schema of the key; None for schemaless.
            value_schema: Schema of the value; None for schemaless.
            kafka_partition: Kafka partition; None lets the producer choose by key.
            timestamp: Milliseconds since the epoch; None means now.
            headers: The headers.
        """
        self.source_partition = source_partition
        self.source_offset = source_offset
        self.topic = topic
        self.value = value
        self.key = key
        self.key_schema = key_schema
        self.value_schema = value_schema
        self.kafka_partition = kafka_partition
        self.timestamp = timestamp
        self._headers = headers

    def __str__(self) -> str:
        origin = (
            f"sourcePartition={to_text(self.source_partition)}, sourceOffset={to_text(self.source_offset)}"
        )
        return f"SourceRecord{{{origin}}} {super().__str__()}"

    def _copy(self) -> SourceRecord:
        copy: SourceRecord = _new(type(self))
        copy.source_partition = self.source_partition
        copy.source_offset = self.source_offset
        copy.topic = self.topic
        copy.value = self.value
        copy.key = self.key
        copy.key_schema = self.key_schema
        copy.value_schema = self.value_schema
        copy.kafka_partition = self.kafka_partition
        copy.timestamp = self.timestamp
        headers = self._headers
        copy._headers = headers if type(headers) is tuple else tuple(self.headers)
        return copy

    @classmethod
    def _attributes(cls) -> tuple[str, ...]:
        return (*_COMMON, "source_partition", "source_offset")


class SinkRecord(ConnectRecord):
    """A record read from Kafka.

    The `original_*` attributes are where it was, whatever transformations did to it.
    """

    __slots__ = ("offset", "original_offset", "original_partition", "original_topic", "timestamp_type")

    def __init__(  # noqa: PLR0917  # made for every record: positional arguments are the cheap ones
        self,
        topic: str,
        partition: int,
        offset: int,
        key: ConnectValue = None,
        value: ConnectValue = None,
        key_schema: Schema | None = None,
        value_schema: Schema | None = None,
        timestamp: int | None = None,
        timestamp_type: TimestampType = TimestampType.NO_TIMESTAMP,
        headers: Iterable[Header] = (),
    ) -> None:
        """Make a record.

        Args:
            topic: Kafka topic it was read from.
            partition: Kafka partition it was read from.
            offset: Its offset there.
            key: The key.
            value: The value.
            key_schema: Schema of the key; None for schemaless.
            value_schema: Schema of the value; None for schemaless.
            timestamp: Milliseconds since the epoch, if it has one.
            timestamp_type: What the timestamp says.
            headers: The headers.
        """
        self.topic = self.original_topic = topic
        self.kafka_partition = self.original_partition = partition
        self.offset = self.original_offset = offset
        self.key = key
        self.value = value
        self.key_schema = key_schema
        self.value_schema = value_schema
        self.timestamp = timestamp
        self.timestamp_type = timestamp_type
        self._headers = headers

    @property
    def partition(self) -> int | None:
        """The Kafka partition; another name of `kafka_partition`."""
        return self.kafka_partition

    def __str__(self) -> str:
        origin = (
            f"kafkaOffset={self.offset}, timestampType={self.timestamp_type.java_name}, "
            f"originalTopic={self.original_topic}, originalKafkaPartition={self.original_partition}, "
            f"originalKafkaOffset={self.original_offset}"
        )
        return f"SinkRecord{{{origin}}} {super().__str__()}"

    def _copy(self) -> SinkRecord:
        copy: SinkRecord = _new(type(self))
        copy.topic = self.topic
        copy.kafka_partition = self.kafka_partition
        copy.offset = self.offset
        copy.key = self.key
        copy.value = self.value
        copy.key_schema = self.key_schema
        copy.value_schema = self.value_schema
        copy.timestamp = self.timestamp
        copy.timestamp_type = self.timestamp_type
        copy.original_topic = self.original_topic
        copy.original_partition = self.original_partition
        copy.original_offset = self.original_offset
        headers = self._headers
        copy._headers = headers if type(headers) is tuple else tuple(self.headers)
        return copy

    @classmethod
    def _attributes(cls) -> tuple[str, ...]:
        return (
            *_COMMON,
            "offset",
            "timestamp_type",
            "original_topic",
            "original_partition",
            "original_offset",
        )


class RecordMetadata(NamedTuple):
    """Where Kafka put a record."""

    topic: str
    """Topic name."""
    partition: int
    """Partition number."""
    offset: int
    """Offset within the partition; -1 when it is not known."""
    timestamp: int | None = None
    """Milliseconds since the epoch the broker stored; None when it is not known."""


class UnreadableRecord(SourceRecord):
    """Something a source task found and cannot make a record of: a line, a row, the rest of a file.

    It takes the place of the record among those that `poll` returns. When all before it were handed over, it
    is reported as any failed record is (`errors.tolerance`, counters, log), and never written to its topic.
    Tolerated, its source offset counts as that of a record: the task goes on behind it. Not tolerated, the
    task fails, and begins with it again when it is restarted.

    A dead letter holds what was found: bytes as they are, text in UTF-8, else JSON; its headers name source
    partition, source offset and the error.
    """

    __slots__ = ("error",)

    def __init__(  # as its parent
        self,
        source_partition: Mapping[str, ConnectValue] | None,
        source_offset: Mapping[str, ConnectValue] | None,
        topic: str,
        value: ConnectValue,
        error: Exception,
        *,
        value_schema: Schema | None = None,
    ) -> None:
        """Make one.

        Args:
            source_partition: As that of a record.
            source_offset: Where to continue behind it.
            topic: Where a record would have gone.
            value: What was found, best as bytes; None where it is too much to keep.
            error: Why it cannot be read, with the place: it is what a user sees.
            value_schema: The schema of a value that is neither bytes nor text.
        """
        super().__init__(source_partition, source_offset, topic, value, value_schema=value_schema)
        self.error = error
