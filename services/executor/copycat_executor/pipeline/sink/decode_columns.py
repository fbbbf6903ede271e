"""Columns of Kafka messages, decoded without an object per record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, repeat
from typing import Final, cast

from copycat_connect.data.batches import SinkPositions
from copycat_connect.data.headers import Header
from copycat_connect.data.records import SinkRecord, TimestampType
from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue
from copycat_connect.plugin.converters import Converter, HeaderConverter

from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.receiver import KafkaMessage
from copycat_executor.pipeline.records.traced import TracedRecord

Column = tuple[list[Schema | None], Sequence[ConnectValue]]
Run = tuple[str, int]

#: Looked up and not called: an enum's call costs as much as half a record.
_TIMESTAMP_TYPES: Final = tuple(TimestampType)


@dataclass(frozen=True, slots=True)
class DecodedColumns:
    """Decoded messages, column by column."""

    messages: Sequence[KafkaMessage]
    """The messages."""
    topics: list[str]
    """Topic of each."""
    keys: Column
    """Key schemas and keys."""
    values: Column
    """Value schemas and values."""
    headers: list[tuple[Header, ...]] | None
    """Headers of each; None when no message has any."""
    record_class: type[SinkRecord]
    """What the records become: `TracedRecord` remembers its message."""

    @property
    def has_one_schema(self) -> bool:
        """True when all values have the same schema, or all none."""
        schemas = self.values[0]
        return bool(schemas) and schemas.count(schemas[0]) == len(schemas)

    def with_values(self, schema: Schema | None, values: Sequence[ConnectValue]) -> DecodedColumns:
        """Return columns with other values."""
        return replace(self, values=([schema] * len(values), values))

    def at(self, places: Sequence[int]) -> DecodedColumns:
        """Return the columns of some of the messages, their values apart, which are as many already."""
        schemas, keys = self.keys
        return replace(
            self,
            messages=[self.messages[place] for place in places],
            topics=[self.topics[place] for place in places],
            keys=([schemas[place] for place in places], [keys[place] for place in places]),
            headers=None if self.headers is None else [self.headers[place] for place in places],
        )

    def record_at(self, place: int) -> SinkRecord:
        """Make the record of one place, 0 for the first message."""
        return sink_record(
            self.messages[place],
            self.topics[place],
            self.keys[0][place],
            self.keys[1][place],
            self.values[0][place],
            self.values[1][place],
            () if self.headers is None else self.headers[place],
            self.record_class,
        )

    def positions(self) -> SinkPositions:
        """Return where the messages were read."""
        messages = self.messages
        stamps = [each.timestamp() for each in messages]
        return SinkPositions(
            self.topics,
            [each.partition() for each in messages],
            [each.offset() for each in messages],
            [stamp if kind and stamp >= 0 else None for kind, stamp in stamps],
        )

    def records(self) -> Iterator[SinkRecord]:
        """Make all records, as fast as that goes."""
        headers = self.headers or ((),) * len(self.messages)
        classes = repeat(self.record_class)
        return map(sink_record, self.messages, self.topics, *self.keys, *self.values, headers, classes)


def sink_record(  # noqa: PLR0917  # one argument a column, so that `map` can call it
    message: KafkaMessage,
    topic: str,
    key_schema: Schema | None,
    key: ConnectValue,
    value_schema: Schema | None,
    value: ConnectValue,
    headers: Sequence[Header],
    record_class: type[SinkRecord],
) -> SinkRecord:
    """Make the sink record of a message from its decoded parts; a `TracedRecord` remembers the message."""
    kind, stamp = message.timestamp()
    record = record_class(
        topic,
        message.partition(),
        message.offset(),
        key,
        value,
        key_schema,
        value_schema,
        stamp if kind and stamp >= 0 else None,
        _TIMESTAMP_TYPES[kind],
        headers,
    )
    if record_class is TracedRecord:
        cast("TracedRecord", record).message = message
    return record


def decode_columns(
    messages: Sequence[KafkaMessage],
    converters: Converters,
    topic: str | None,
    record_class: type[SinkRecord],
) -> DecodedColumns | None:
    """Decode many messages at once; `topic` is their topic when they can have only one.

    None when they must be decoded one by one: a converter cannot do many at once, or failed.
    """
    topics = [topic] * len(messages) if topic is not None else [each.topic() for each in messages]
    runs = [(topic, len(messages))] if topic is not None else _runs(topics)
    try:
        values = _column(converters.value, runs, [each.value() for each in messages])
        keys = _column(converters.key, runs, [each.key() for each in messages])
        headers = _headers(converters.header, topics, messages)
    except BaseException:
        return None
    if values is None or keys is None:
        return None
    return DecodedColumns(messages, topics, keys, values, headers, record_class)


def decode_headers(converter: HeaderConverter, topic: str, message: KafkaMessage) -> tuple[Header, ...]:
    """Decode the headers of one message."""
    decoded: list[Header] = []
    for name, data in message.headers() or ():
        schema, value = converter.to_connect_header(topic, name, data)
        decoded.append(Header(name, value, schema))
    return tuple(decoded)


def _runs(topics: list[str]) -> list[Run]:
    return [(topic, sum(1 for _ in run)) for topic, run in groupby(topics)]


def _column(converter: Converter, runs: list[Run], datas: list[bytes | None]) -> Column | None:
    schemas: list[Schema | None] = []
    values: Sequence[ConnectValue] = []
    start = 0
    for topic, count in runs:
        part = datas if count == len(datas) else datas[start : start + count]
        start += count
        value: ConnectValue = part
        if not any(part) and b"" not in part:
            # Mostly keys: a column of nulls is decoded once, unless they share something that can be changed.
            schema, value = converter.to_connect(topic, None, None)
        if value is None:
            column: Sequence[ConnectValue] = [None] * count
        else:
            decoded = converter.to_connect_batch(topic, part)
            if decoded is None:
                return None
            schema, column = decoded
        schemas += [schema] * count
        values = column if count == len(datas) else [*values, *column]
    return schemas, values


def _headers(
    converter: HeaderConverter, topics: list[str], messages: Sequence[KafkaMessage]
) -> list[tuple[Header, ...]] | None:
    # A list is quicker than what stops at the first: mostly there is none.
    if not any([each.headers() for each in messages]):  # noqa: C419
        return None
    return [decode_headers(converter, topic, each) for topic, each in zip(topics, messages, strict=True)]
