"""Kafka messages as batches of sink records.

Messages whose converters work on columns become a lazy batch: no object per record until one is asked for.
Where a converter cannot, or fails, or a transformation needs records, it is made record by record, with
tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, repeat
from typing import Final, TypeVar, cast

from copycat_connect.data.batches import SinkBatch, SinkPositions
from copycat_connect.data.headers import Header, Headers
from copycat_connect.data.records import SinkRecord, TimestampType
from copycat_connect.data.schema import ConnectValue, Schema
from copycat_connect.plugin.converters import Converter, HeaderConverter

from copycat_executor.pipeline.records.chain import Chain
from copycat_executor.pipeline.records.converters import Converters
from copycat_executor.pipeline.records.receiver import KafkaMessage, TracedRecord
from copycat_executor.pipeline.records.tolerate import Tolerance
from copycat_executor.pipeline.task.stages import RecordSkippedError, Stage
from copycat_executor.pipeline.task.topic_ledger import TopicLedger

T = TypeVar("T")
Column = tuple[list[Schema | None], Sequence[ConnectValue]]
Run = tuple[str, int]

#: Looked up and not called: an enum's call costs as much as half a record.
_TIMESTAMP_TYPES: Final = tuple(TimestampType)


class Decoder:
    """Makes the batches of one sink task."""

    def __init__(
        self,
        converters: Converters,
        chain: Chain,
        tolerance: Tolerance,
        topics: TopicLedger,
        *,
        traced: bool = False,
    ) -> None:
        """Compose the decoder; `traced` records remember their messages, for a reporter of failed records."""
        self._converters = converters
        self._chain = chain
        self._tolerance = tolerance
        self._topics = topics
        self._record_class: type[SinkRecord] = TracedRecord if traced else SinkRecord
        self._only_topic: str | None = None

    def expect(self, topics: Iterable[str]) -> None:
        """Set the topics that messages can come from."""
        distinct = set(topics)
        self._only_topic = distinct.pop() if len(distinct) == 1 else None

    def batch(self, messages: Sequence[KafkaMessage]) -> SinkBatch:
        """Convert and transform messages.

        Raises:
            ToleranceExceededError: One of them failed and that is not tolerated; nothing of them may be put.
            DrainedError: The task must end.
        """
        columns = _decode_columns(messages, self._converters, self._only_topic, self._record_class)
        if columns is not None:
            for topic in set(columns.topics):
                self._topics.meet(topic)
            return self._transformed_batch(columns)
        return SinkBatch.of(self._one_by_one(messages))

    def _transformed_batch(self, columns: _DecodedColumns) -> SinkBatch:
        done = 0
        if self._chain and columns.has_one_schema:
            schemas, values = columns.values
            try:
                changed = self._chain.apply_to_values(schemas[0], values)
            except BaseException:
                # Which record it was shows when they go one by one, from the start: values may have changed.
                return SinkBatch.of(self._one_by_one(columns.messages))
            done = changed.done
            if changed.places is not None:
                columns = columns.at(changed.places)
            columns = columns.with_values(changed.schema, changed.values)
        if done == len(self._chain):
            schemas, values = columns.values
            key_schemas, keys = columns.keys
            return SinkBatch(
                values,
                columns.record_at,
                keys=keys,
                topics=columns.topics,
                value_schemas=schemas,
                key_schemas=key_schemas,
                positions=columns.positions,
            )
        return SinkBatch.of(self._transformed(columns.records(), columns.messages, done))

    def _transformed(
        self, records: Iterable[SinkRecord], messages: Sequence[KafkaMessage], done: int = 0
    ) -> list[SinkRecord]:
        if self._chain.takes_records:
            return self._transformed_at_once(records, messages, done)
        kept: list[SinkRecord] = []
        for record, message in zip(records, messages, strict=True):
            try:
                result = self._chain.apply(record, message, done)
            except RecordSkippedError:
                continue
            if result is not None:
                kept.append(result)
        return kept

    def _transformed_at_once(
        self, records: Iterable[SinkRecord], messages: Sequence[KafkaMessage], done: int
    ) -> list[SinkRecord]:
        outcomes = self._chain.apply_to_records(records, messages, done)
        if outcomes.failure is not None:
            raise outcomes.failure
        return [record for _, record in outcomes.records]

    def _one_by_one(self, messages: Sequence[KafkaMessage]) -> list[SinkRecord]:
        kept: list[SinkRecord] = []
        waiting: list[tuple[SinkRecord, KafkaMessage]] = []
        for message in messages:
            try:
                record = self._record(message)
            except RecordSkippedError:
                continue
            self._topics.meet(message.topic())
            if self._chain.takes_records:
                waiting.append((record, message))
            else:
                kept += self._transformed((record,), (message,)) if self._chain else (record,)
        if waiting:
            kept = self._transformed((record for record, _ in waiting), [each for _, each in waiting])
        return kept

    def _record(self, message: KafkaMessage) -> SinkRecord:
        converters, topic = self._converters, message.topic()
        raw = message.headers()
        headers = Headers(Header(name, data) for name, data in raw) if raw else None  # undecoded yet
        key_of = partial(converters.key.to_connect, topic, headers, message.key())
        key = self._attempt(message, Stage.KEY_CONVERTER, converters.key_name, key_of)
        value_of = partial(converters.value.to_connect, topic, headers, message.value())
        value = self._attempt(message, Stage.VALUE_CONVERTER, converters.value_name, value_of)
        headers_of = partial(_decode_headers, converters.header, topic, message)
        decoded = self._attempt(message, Stage.HEADER_CONVERTER, converters.header_name, headers_of)
        return _sink_record(message, topic, *key, *value, decoded, self._record_class)

    def _attempt(self, message: KafkaMessage, stage: Stage, plugin: str, operation: Callable[[], T]) -> T:
        try:
            return operation()
        except BaseException as error:
            return self._tolerance.recover(error, message, stage, plugin, operation)

    def close(self) -> None:
        """Close the transformations and converters."""
        self._chain.close()
        self._converters.close()


@dataclass(frozen=True, slots=True)
class _DecodedColumns:
    """Decoded messages, column by column."""

    messages: Sequence[KafkaMessage]
    """The messages as they were consumed, in the order of all columns."""
    topics: list[str]
    """Topic of each message."""
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

    def with_values(self, schema: Schema | None, values: Sequence[ConnectValue]) -> _DecodedColumns:
        """Return columns with other values."""
        return replace(self, values=([schema] * len(values), values))

    def at(self, places: Sequence[int]) -> _DecodedColumns:
        """Return the columns of some of the messages, except their values, which are as many already."""
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
        return _sink_record(
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
        return map(_sink_record, self.messages, self.topics, *self.keys, *self.values, headers, classes)


def _sink_record(  # noqa: PLR0917  # one argument a column, so that `map` can call it
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


def _decode_columns(
    messages: Sequence[KafkaMessage],
    converters: Converters,
    topic: str | None,
    record_class: type[SinkRecord],
) -> _DecodedColumns | None:
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
    return _DecodedColumns(messages, topics, keys, values, headers, record_class)


def _decode_headers(converter: HeaderConverter, topic: str, message: KafkaMessage) -> tuple[Header, ...]:
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
    # A list is quicker than what stops at the first: mostly nothing is found.
    if not any([each.headers() for each in messages]):  # noqa: C419
        return None
    return [_decode_headers(converter, topic, each) for topic, each in zip(topics, messages, strict=True)]
