"""SchemaSource's task: structs of a known shape."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from copycat_connect.data import (
    BOOLEAN_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    SourceRecord,
    Struct,
)
from copycat_connect.plugin import SourceTask

from copycat_plugins.connectors.numbered import ID, SEQNO, next_seqno, number_of
from copycat_plugins.connectors.pace import Pace
from copycat_plugins.connectors.printed import print_line
from copycat_plugins.connectors.schema_source.spec import (
    CONFIG,
    MULTIPLE_SCHEMA,
    NUM_MESSAGES,
    PARTITION_COUNT,
    THROUGHPUT,
    TOPIC,
)

_IDLE_SECONDS = 1.0
_FLOAT32: float = struct.unpack("f", struct.pack("f", 12.2))[0]
_SAME: dict[str, ConnectValue] = {"boolean": True, "int": 12, "long": 12, "float": _FLOAT32, "double": 12.2}


def _schema(version: int) -> Schema:
    builder = SchemaBuilder.struct().version(version).name("record")
    builder.field("boolean", BOOLEAN_SCHEMA).field("int", INT32_SCHEMA).field("long", INT64_SCHEMA)
    builder.field("float", FLOAT32_SCHEMA).field("double", FLOAT64_SCHEMA).field("partitioning", INT32_SCHEMA)
    if version > 1:
        builder.field("string", SchemaBuilder(STRING_SCHEMA.type).default_value("abc").build())
    return builder.field("id", INT32_SCHEMA).field("seqno", INT64_SCHEMA).build()


SCHEMA = _schema(1)
SCHEMA_2 = _schema(2)


class SchemaSourceTask(SourceTask):
    """Gives one record a poll, as Kafka's does."""

    def start(self, config: Mapping[str, str]) -> None:
        """Take the configuration, and the number to go on from."""
        parsed = CONFIG.parse(config)
        self._number = number_of(config)
        self._topic: str = parsed[TOPIC]
        self._left: int = parsed[NUM_MESSAGES]
        self._two: bool = parsed[MULTIPLE_SCHEMA]
        self._cycle: int = parsed[PARTITION_COUNT]
        self._partition = {ID: self._number}
        self._seqno = next_seqno(self.context, self._partition)
        self._second = False
        self._pace = Pace(parsed[THROUGHPUT])

    def poll(self) -> list[SourceRecord] | None:
        """Return the next struct, once it is due, and print its number; nothing when all are given."""
        if not self._left:
            self.context.wait(_IDLE_SECONDS)
            return None
        if not self._pace.take(1, self.context.wait):
            return None
        value = self._value()
        record = SourceRecord(
            self._partition,
            {SEQNO: self._seqno},
            self._topic,
            value,
            key="key",
            key_schema=STRING_SCHEMA,
            value_schema=value.schema,
            kafka_partition=self._number,
        )
        print_line(f'{{"task": {self._number}, "seqno": {self._seqno}}}')
        self._seqno += 1
        self._left -= 1
        self._second = self._two and not self._second
        return [record]

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _value(self) -> Struct:
        own = {"partitioning": self._seqno % self._cycle, "id": self._number, "seqno": self._seqno}
        if self._second:
            return Struct(SCHEMA_2, {**_SAME, **own, "string": "def"})
        return Struct(SCHEMA, {**_SAME, **own})
