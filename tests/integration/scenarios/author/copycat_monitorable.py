"""Connectors that report what happens to them, and go wrong when a test wants it."""

from __future__ import annotations

import errno
import json
import logging
import os
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from copycat_connect.config import HIGH, INT, LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.data import STRING_SCHEMA, ConnectRecord, Header, SinkBatch, SourceRecord, TopicPartition
from copycat_connect.errors import ConnectError, OffsetsUnmodifiableError, RetriableError
from copycat_connect.plugin import (
    ExactlyOnceSupport,
    PluginKind,
    PluginSpec,
    SinkConnector,
    SinkTask,
    SourceConnector,
    SourceTask,
    Transformation,
)
from copycat_connect.plugin.contexts import (
    ConnectorContext,
    SourceOffset,
    SourcePartition,
    TransactionContext,
)


class Boundaries:
    """Ends transactions of 1, 1, 2, 3, 5, 8 ... records: commits those of odd size, aborts those of even."""

    def __init__(self, transaction: TransactionContext) -> None:
        """Begin with the first record."""
        self._transaction = transaction
        self._size, self._next_size, self._end = 1, 1, 1

    def mark(self, number: int, record: SourceRecord) -> None:
        """End the transaction with this record if it is the last of one."""
        while self._end < number:
            self._advance()
        if number == self._end:
            odd = self._size % 2
            (self._transaction.commit_transaction if odd else self._transaction.abort_transaction)(record)

    def _advance(self) -> None:
        self._size, self._next_size = self._next_size, self._size + self._next_size
        self._end += self._size


POLL_SECONDS = 0.02


class Monitor:
    """Writes down what happens to one connector or task, and obeys orders to go wrong."""

    def __init__(self, folder: str, who: str) -> None:
        """`who` is `connector` or `task <index>`."""
        self._journal = Path(folder) / "journal"
        self._orders = Path(folder) / "orders"
        self._who = who

    def happens(self, what: str, **details: Any) -> None:
        """Write something down, then raise or block if that was ordered for it."""
        self.note(what, **details)
        self.obey(what)

    def note(self, what: str, **details: Any) -> None:
        """Write something down, in one piece: several processes write."""
        line = json.dumps({"who": self._who, "what": what, **details}) + "\n"
        descriptor = os.open(self._journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)

    def obey(self, what: str) -> None:
        """Raise or block if that was ordered; a system can also be away."""
        if f"{self._who} {what} raises" in self._ordered():
            message = f"{self._who} was told to fail in {what}"
            raise ConnectError(message)
        if f"{self._who} {what} finds nobody" in self._ordered():
            message = f"{self._who} was told to find nobody in {what}"
            raise ConnectError(message) from ConnectionRefusedError(errno.ECONNREFUSED, "refused")
        if f"{self._who} {what} is away" in self._ordered():
            message = f"{self._who} finds nothing at {self._orders.parent} in {what}"
            raise RetriableError(message) from ConnectionRefusedError(errno.ECONNREFUSED, "refused")
        if f"{self._who} {what} blocks" in self._ordered():
            self.note(f"{what} blocked")
        while f"{self._who} {what} blocks" in self._ordered():
            time.sleep(POLL_SECONDS)  # deaf on purpose: author code that hangs does not ask whether it may

    def _ordered(self) -> list[str]:
        try:
            return self._orders.read_text().splitlines()
        except FileNotFoundError:
            return []


def takes_part(said: str | None) -> bool:
    """Answer whether a connector takes part in a change of its offsets, or refuse it."""
    if said == "unsupported":
        message = "The system beyond moves on by itself"
        raise OffsetsUnmodifiableError(message)
    if said == "fails":
        message = "The system beyond is away"
        raise ConnectError(message)
    return said == "true"


class Monitored:
    """A connector under observation: its tasks get their index and the keys named in `handed_on`."""

    handed_on: tuple[str, ...] = ("name", "monitor")
    context: ConnectorContext

    def validate(self, config: Mapping[str, str | None]) -> None:
        """Find nothing wrong beyond what the definition says."""
        if config.get("monitor"):
            Monitor(config["monitor"] or "", "connector").obey("validate")

    def start(self, config: Mapping[str, str]) -> None:
        """Begin."""
        self.config = config
        self.monitor = Monitor(config["monitor"], "connector")
        self.monitor.happens("start")
        threading.Timer(0.1, self._watch).start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Make the tasks that were asked for, too many if so."""
        self.monitor.happens("task configs", max_tasks=max_tasks)
        shared = {key: self.config[key] for key in self.handed_on if key in self.config}
        count = int(self.config.get("task.count", max_tasks))
        return [{**shared, "index": str(index)} for index in range(count)]

    def stop(self) -> None:
        """End."""
        self.monitor.happens("stop")

    def _watch(self) -> None:
        """Fail outside of every call, if that was ordered."""
        try:
            self.monitor.obey("watch")
        except ConnectError as error:
            self.context.raise_error(error)


PAUSE_SECONDS = 0.05
log = logging.getLogger(__name__)


class MonitorableSource(Monitored, SourceConnector):
    """Makes sources of numbered records."""

    handed_on = ("name", "monitor", "topic", "max.messages", "messages.per.poll")

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport | None:
        """Answer what the configuration says."""
        said = _said(config.get("exactly.once"))
        return (
            None if said is None else ExactlyOnceSupport.SUPPORTED if said else ExactlyOnceSupport.UNSUPPORTED
        )

    def can_define_transaction_boundaries(self, config: Mapping[str, str]) -> bool | None:  # type: ignore[override]
        """Answer what the configuration says, even what may not be answered."""
        return _said(config.get("boundaries"))

    def alter_offsets(
        self,
        config: Mapping[str, str],
        offsets: Sequence[tuple[SourcePartition | None, SourceOffset | None]],
    ) -> bool:
        """Answer what the configuration says."""
        del offsets
        return takes_part(config.get("alters.offsets"))


def _said(answer: str | None) -> bool | None:
    if answer == "fails":
        message = "this connector was told to fail when it is asked"
        raise ConnectError(message)
    return {"supported": True, "unsupported": False}.get(answer or "")


class MonitorableSourceTask(SourceTask):
    """Numbers records from 1 in a source partition of its own: {task.id: <connector>-<index>}."""

    def start(self, config: Mapping[str, str]) -> None:
        """Continue after the saved number."""
        index = config["index"]
        self._monitor = Monitor(config["monitor"], f"task {index}")
        self._monitor.happens("start")
        self._topic = config["topic"]
        self._id = f"{config['name']}-{index}"
        self._most = int(config.get("max.messages", "10"))
        self._at_once = int(config.get("messages.per.poll", "10"))
        saved = self.context.offset({"task.id": self._id})
        self._number = int(saved["saved"]) if saved else 0
        transaction = self.context.transaction
        self._boundaries = None if transaction is None else Boundaries(transaction)

    def poll(self) -> list[SourceRecord] | None:
        """Make the next records until there are enough."""
        self._monitor.obey("poll")
        log.debug("a task of monitorable polls")
        self.context.wait(PAUSE_SECONDS)
        last = min(self._most, self._number + self._at_once)
        records = [self._record(number) for number in range(self._number + 1, last + 1)]
        self._number = last
        for number, record in enumerate(records, last + 1 - len(records)):
            if self._boundaries is not None:
                self._boundaries.mark(number, record)
        return records or None

    def commit(self) -> None:
        """Note it."""
        self._monitor.note("commit", saved=self._number)

    def stop(self) -> None:
        """End."""
        self._monitor.happens("stop")

    def _record(self, number: int) -> SourceRecord:
        return SourceRecord(
            {"task.id": self._id},
            {"saved": number},
            self._topic,
            f"value-{self._id}-{number}",
            value_schema=STRING_SCHEMA,
            key=f"key-{self._id}-{number}",
            key_schema=STRING_SCHEMA,
            headers=(Header(f"header-{number % 2}", f"of {number}", STRING_SCHEMA),),
        )


class MonitorableSink(Monitored, SinkConnector):
    """Makes sinks that write down what they are given; their configuration never changes."""

    handed_on = ("monitor", "reports.errors")

    def alter_offsets(self, config: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Answer what the configuration says."""
        del offsets
        return takes_part(config.get("alters.offsets"))


class MonitorableSinkTask(SinkTask):
    """Writes down every call and every record."""

    def start(self, config: Mapping[str, str]) -> None:
        """Begin."""
        self._monitor = Monitor(config["monitor"], f"task {config['index']}")
        self._monitor.happens("start")
        self._reports = config.get("reports.errors") == "true"

    def open(self, partitions: Collection[TopicPartition]) -> None:
        """Note the partitions."""
        self._monitor.note("open", partitions=sorted(map(list, map(_pair, partitions))))

    def put(self, records: SinkBatch) -> None:
        """Note every record; report them as errors if the configuration says so."""
        self._monitor.obey("put")
        for record in records:
            self._monitor.note(
                "put",
                topic=record.topic,
                partition=record.partition,
                offset=record.offset,
                value=record.value,
            )
            if self._reports and self.context.errant_record_reporter is not None:
                self.context.errant_record_reporter.report(record, ConnectError("this sink wants none"))

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Note the commit."""
        self._monitor.obey("flush")
        self._monitor.note("flush", offsets=[[*_pair(each), offset] for each, offset in offsets.items()])

    def close(self, partitions: Collection[TopicPartition]) -> None:
        """Note the partitions."""
        self._monitor.note("close", partitions=sorted(map(list, map(_pair, partitions))))

    def stop(self) -> None:
        """End."""
        self._monitor.happens("stop")


def _pair(partition: TopicPartition) -> tuple[str, int]:
    return partition.topic, partition.partition


class FaultyPassthrough(Transformation):
    """Asks to be tried again, for ever, when it sees its value; passes all else."""

    def configure(self, config: Mapping[str, str | None]) -> None:
        """Replace the record by its value."""
        self._value = config.get("value")

    def apply(self, record: ConnectRecord) -> ConnectRecord:  # type: ignore[override]
        """Pass or fail."""
        if record.value == self._value:
            message = f"Error when value='{record.value}'"
            raise RetriableError(message)
        return record


SHARED = (
    ConfigKey("monitor", STRING, HIGH, doc="Folder of the journal and of the orders to go wrong."),
    ConfigKey("task.count", INT, LOW, default=None, doc="How many tasks to make; tasks.max by default."),
    ConfigKey(
        "alters.offsets", STRING, LOW, default="false", doc="Whether it takes part in changed offsets."
    ),
)
SAYS = "supported, unsupported, null, or it fails"
SOURCE = ConfigDef(
    *SHARED,
    ConfigKey("topic", STRING, HIGH, doc="Topic of the records."),
    ConfigKey("max.messages", INT, LOW, default=10, doc="How many records a task makes in all."),
    ConfigKey("messages.per.poll", INT, LOW, default=10, doc="How many it makes at once."),
    ConfigKey("exactly.once", STRING, LOW, default="null", doc=f"Says of exactly-once: {SAYS}."),
    ConfigKey("boundaries", STRING, LOW, default="null", doc=f"Says of boundaries of its own: {SAYS}."),
)
PLUGINS = (
    PluginSpec(
        "monitorable.MonitorableSourceConnector",
        PluginKind.SOURCE,
        "1.0",
        "Numbers records.",
        SOURCE,
        MonitorableSource,
        "monitorable.MonitorableSourceTask",
        MonitorableSourceTask,
    ),
    PluginSpec(
        "monitorable.MonitorableSinkConnector",
        PluginKind.SINK,
        "1.0",
        "Writes records down.",
        ConfigDef(*SHARED),
        MonitorableSink,
        "monitorable.MonitorableSinkTask",
        MonitorableSinkTask,
    ),
    PluginSpec(
        "monitorable.FaultyPassthrough",
        PluginKind.TRANSFORMATION,
        "1.0",
        "Fails for one value.",
        ConfigDef(ConfigKey("value", STRING, HIGH, doc="The value it fails for.")),
        FaultyPassthrough,
    ),
)
