"""VerifiableSource: numbers as records, each printed when it is sent and when it is safe."""

from __future__ import annotations

import time
from collections.abc import Mapping

from copycat_connect.config import (
    HIGH,
    LONG,
    LOW,
    all_of,
    non_empty,
    non_null,
    topic_name,
)
from copycat_connect.config.settings import Settings, key, taken_from
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
from copycat_connect.kafka_version import KAFKA_VERSION
from copycat_connect.plugin import PluginKind, PluginSpec, SourceTask

from copycat_plugins.connectors.pace import RecordPace
from copycat_plugins.connectors.system_tests import (
    ID,
    SEQNO,
    NumberedSource,
    next_seqno,
    number_of,
    print_json,
)

_CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSourceConnector"
_TASK_CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSourceTask"

_SUMMARY = (
    "Counts, one record a number, and prints a line of JSON for each: once sent, and again once it is safe."
)
_GUARANTEES = (
    "At least once, in order per task. The source partition is {id}, the task's number, which is the key of "
    "its records too; the source offset is {seqno}, the last record's number. Made for system tests: it "
    "prints to the standard output of the task's process, the executor's log."
)


class VerifiableSourceSettings(Settings):
    """How fast is counted, and what is written."""

    topic: str = key(
        HIGH,
        check=all_of((non_empty, topic_name)),
        doc="Topic that receives the numbers.",
    )
    throughput: int = key(
        HIGH,
        type=LONG,
        check=non_null,
        doc="Records per second of each task; -1 for as many as go through, 0 for none.",
    )
    complete_record_data: bool = key(
        LOW,
        default=False,
        doc="Whether values are structs of all that is printed, and not the number alone.",
    )
    connector: str | None = taken_from(lambda config: config.get("name"))


_EXAMPLES = {
    "Two tasks, a thousand records per second each": {
        "tasks.max": "2",
        "topic": "verifiable",
        "throughput": "1000",
    },
}


class VerifiableSourceConnector(NumberedSource):
    """Numbers its tasks."""

    definition = VerifiableSourceSettings.config_def()


_COMPLETE_SCHEMA = (
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
        """Start with the configuration, and the number to go on from."""
        self._settings = VerifiableSourceSettings.parse(config)
        self._number = number_of(config)
        self._partition = {ID: self._number}
        self._seqno = next_seqno(self.context, self._partition)
        self._pace = RecordPace(self._settings.throughput)

    def poll(self) -> list[SourceRecord] | None:
        """Return the next number, once it is due, and print it."""
        if not self._pace.take(1, self.context.wait):
            return None
        data, complete = self._data(self._seqno), self._settings.complete_record_data
        print_json(data)
        record = SourceRecord(
            self._partition,
            {SEQNO: self._seqno},
            self._settings.topic,
            Struct(_COMPLETE_SCHEMA, data) if complete else self._seqno,
            key=self._number,
            key_schema=INT32_SCHEMA,
            value_schema=_COMPLETE_SCHEMA if complete else INT64_SCHEMA,
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
            "name": self._settings.connector,
            "topic": self._settings.topic,
        }


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SOURCE,
    version=KAFKA_VERSION,
    summary=_SUMMARY,
    config=VerifiableSourceSettings.config_def(),
    factory=VerifiableSourceConnector,
    task_class_name=_TASK_CLASS_NAME,
    task_factory=VerifiableSourceTask,
    guarantees=_GUARANTEES,
    tested_with="nothing",
    examples=_EXAMPLES,
)
