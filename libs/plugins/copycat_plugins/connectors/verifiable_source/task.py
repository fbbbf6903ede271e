"""VerifiableSource's task: counts on from the last number that is committed."""

from __future__ import annotations

import time
from collections.abc import Mapping

from copycat_connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    RecordMetadata,
    SchemaBuilder,
    SourceRecord,
    Struct,
)
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.numbered import ID, SEQNO, next_seqno, number_of
from copycat_plugins.connectors.pace import Pace
from copycat_plugins.connectors.printed import print_json
from copycat_plugins.connectors.verifiable_source.spec import (
    COMPLETE_RECORD_DATA,
    CONFIG,
    NAME,
    THROUGHPUT,
    TOPIC,
)

COMPLETE_SCHEMA = (
    SchemaBuilder.struct()
    .field("name", STRING_SCHEMA)
    .field("task", INT32_SCHEMA)
    .field("topic", STRING_SCHEMA)
    .field("time_ms", INT64_SCHEMA)
    .field("seqno", INT64_SCHEMA)
    .build()
)


class VerifiableSourceTask(SourceTask):
    """Gives one record a poll, as Kafka's does; the lines have the order of Kafka's keys too."""

    def start(self, config: Mapping[str, str]) -> None:
        """Take the configuration, and the number to go on from."""
        parsed = CONFIG.parse(config)
        self._name = config.get(NAME)
        self._number = number_of(config)
        self._topic: str = parsed[TOPIC]
        self._complete: bool = parsed[COMPLETE_RECORD_DATA]
        self._partition = {ID: self._number}
        self._seqno = next_seqno(self.context, self._partition)
        self._pace = Pace(parsed[THROUGHPUT])

    def poll(self) -> list[SourceRecord] | None:
        """Return the next number, once it is due, and print it."""
        if not self._pace.take(1, self.context.wait):
            return None
        data = self._data(self._seqno)
        print_json(data)
        record = SourceRecord(
            self._partition,
            {SEQNO: self._seqno},
            self._topic,
            Struct(COMPLETE_SCHEMA, data) if self._complete else self._seqno,
            key=self._number,
            key_schema=INT32_SCHEMA,
            value_schema=COMPLETE_SCHEMA if self._complete else INT64_SCHEMA,
        )
        self._seqno += 1
        return [record]

    def commit_record(self, record: SourceRecord, metadata: RecordMetadata | None) -> None:
        """Print that a record is safe."""
        del metadata
        offset = record.source_offset or {}
        print_json({"committed": True, **self._data(offset.get(SEQNO))})

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _data(self, seqno: ConnectValue) -> dict[str, ConnectValue]:
        return {
            "task": self._number,
            "seqno": seqno,
            "time_ms": time.time_ns() // 1_000_000,
            "name": self._name,
            "topic": self._topic,
        }
