"""SchemaSource: structs of one schema, or of two in turn."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from copycat_connect.config import (
    HIGH,
    LONG,
    MEDIUM,
    all_of,
    at_least,
    non_empty,
    non_null,
    topic_name,
)
from copycat_connect.config.settings import Settings, key
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
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, SourceTask

from copycat_plugins.connectors.pace import RecordPace
from copycat_plugins.connectors.system_tests import (
    ID,
    SEQNO,
    NumberedSource,
    next_seqno,
    number_of,
    print_line,
)

_CLASS_NAME = "org.apache.kafka.connect.tools.SchemaSourceConnector"
_TASK_CLASS_NAME = "org.apache.kafka.connect.tools.SchemaSourceTask"

_SUMMARY = "Writes so many structs that are alike but for their number, of one schema or of two in turn."
_GUARANTEES = (
    "At least once, in order per task: records go to the Kafka partition with the task's number, so the "
    "topic needs as many partitions as there are tasks. The source partition is {id}, the task's number; "
    "the source offset is {seqno}, the last record's number. A restarted task writes as many records as are "
    "asked for once more. Made for system tests: numbers are printed on the standard output of the task's "
    "process."
)


class SchemaSourceSettings(Settings):
    """How many structs are written, how fast, of how many schemas."""

    topic: str = key(
        HIGH,
        check=all_of((non_empty, topic_name)),
        doc="Topic that receives the structs.",
    )
    num_messages: int = key(
        HIGH,
        type=LONG,
        check=at_least(0),
        doc="Records of each task, from its start on.",
    )
    throughput: int = key(
        HIGH,
        type=LONG,
        check=non_null,
        doc="Records per second of each task; -1 for as many as go through, 0 for none.",
    )
    multiple_schema: bool = key(
        MEDIUM,
        default=False,
        doc="Whether every other record has version 2 of the schema, with a field more.",
    )
    partition_count: int = key(
        MEDIUM,
        default=1,
        check=at_least(1),
        doc="The field partitioning counts from 0 to below this, again and again.",
    )


_EXAMPLES = {
    "A thousand records of two schemas": {
        "topic": "structs",
        "num.messages": "1000",
        "throughput": "-1",
        "multiple.schema": "true",
    },
}


class _SchemaSourceConnector(NumberedSource):
    """Numbers its tasks."""

    definition = SchemaSourceSettings.config_def()


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
        """Start with the configuration, and the number to go on from."""
        self._settings = settings = SchemaSourceSettings.parse(config)
        self._number = number_of(config)
        self._left = settings.num_messages
        self._partition = {ID: self._number}
        self._seqno = next_seqno(self.context, self._partition)
        self._second = False
        self._pace = RecordPace(settings.throughput)

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
            self._settings.topic,
            value,
            key="key",
            key_schema=STRING_SCHEMA,
            value_schema=value.schema,
            kafka_partition=self._number,
        )
        print_line(f'{{"task": {self._number}, "seqno": {self._seqno}}}')
        self._seqno += 1
        self._left -= 1
        self._second = self._settings.multiple_schema and not self._second
        return [record]

    def stop(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _value(self) -> Struct:
        partitioning = self._seqno % self._settings.partition_count
        own = {"partitioning": partitioning, "id": self._number, "seqno": self._seqno}
        if self._second:
            return Struct(SCHEMA_2, {**_SAME, **own, "string": "def"})
        return Struct(SCHEMA, {**_SAME, **own})


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=SchemaSourceSettings.config_def(),
    factory=_SchemaSourceConnector,
    task_class_name=_TASK_CLASS_NAME,
    task_factory=SchemaSourceTask,
    guarantees=_GUARANTEES,
    tested_with="nothing",
    examples=_EXAMPLES,
)
