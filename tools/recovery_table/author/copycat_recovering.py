"""The counting source and a sink of its numbers, whose calls do harm when a file asks for it.

The folder of a connector holds `harm-<call>`, with the harm to do, until the call has taken it: so a harm is
done once, by one task. What it did then is in `done-<call>`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from copycat_connect.config import HIGH, INT, LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.data import SinkBatch, SourceRecord, TopicPartition
from copycat_connect.plugin import PluginKind, PluginSpec, SinkConnector, SinkTask

if TYPE_CHECKING:  # hosts find it as a package of its own
    from tools.crash_matrix.author.copycat_counting import CountingSource, CountingTask
else:
    from copycat_counting import CountingSource, CountingTask

MEGABYTE = 1 << 20
FULL_DISK = "/dev/full"
#: A disk that is full takes what fits into the last page of a file: with this, a few lines.
PADDING = "." * 150
LEAKED: list[bytes] = []
CONFIG = ConfigDef(
    ConfigKey("folder", STRING, HIGH, doc="Where harm is asked for."),
    ConfigKey("topic", STRING, LOW, default="", doc="Topic of the numbers."),
    ConfigKey("partitions", INT, LOW, default=2, doc="How many source partitions there are."),
    ConfigKey("at.once", INT, LOW, default=1, doc="How many numbers of a partition a poll returns."),
)


def do_harm(config: Mapping[str, str], call: str) -> None:
    """Do the harm that is asked for in this call, if any."""
    folder = Path(config["folder"])
    done = folder / f"done-{call}"
    try:
        (folder / f"harm-{call}").rename(done)
    except FileNotFoundError:
        return
    if done.read_text() == "leak":
        while True:
            LEAKED.append(b"\1" * MEGABYTE)
            time.sleep(0.002)
    threading.Event().wait()


def note_process(config: Mapping[str, str], task: str) -> None:
    """Write down which process runs a task."""
    (Path(config["folder"]) / f"pid-{task}").write_text(str(os.getpid()))


class RecoveringSource(CountingSource):
    """Divides the partitions among the tasks."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        super().start(config)
        do_harm(config, "connector-start")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Divide the partitions."""
        do_harm(self._config, "connector-taskConfigs")
        return super().task_configs(max_tasks)

    def stop(self) -> None:
        """Hold nothing."""
        do_harm(self._config, "connector-stop")


class RecoveringSourceTask(CountingTask):
    """Counts on from the committed numbers."""

    def start(self, config: Mapping[str, str]) -> None:
        """Read where to go on."""
        self._config = config
        note_process(config, config["share"])
        do_harm(config, "start")
        super().start(config)

    def poll(self) -> list[SourceRecord] | None:
        """Return the next numbers of every partition."""
        do_harm(self._config, "poll")
        return super().poll()

    def commit(self) -> None:
        """Note nothing."""
        do_harm(self._config, "commit")

    def stop(self) -> None:
        """Hold nothing."""
        do_harm(self._config, "stop")


class RecoveringSink(SinkConnector):
    """Has as many tasks as it may."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = config

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Number the tasks."""
        return [{**self._config, "number": str(number)} for number in range(max_tasks)]

    def stop(self) -> None:
        """Hold nothing."""


class RecoveringSinkTask(SinkTask):
    """Appends `<partition> <number>` lines to a file of its own; a line that is torn has no end."""

    def start(self, config: Mapping[str, str]) -> None:
        """Begin a file."""
        self._config = config
        note_process(config, config["number"])
        do_harm(config, "start")
        path = Path(config["folder"]) / "disk" / "lines" / f"{os.getpid()}-{time.monotonic_ns()}"
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def put(self, records: SinkBatch) -> None:
        """Append the numbers."""
        do_harm(self._config, "put")
        lines = "".join(f"{record.kafka_partition} {record.value} {PADDING}\n" for record in records).encode()
        if (Path(self._config["folder"]) / "disk" / "write-to-dev-full").exists():
            with open(FULL_DISK, "wb", buffering=0) as full:  # noqa: PTH123 - no file but a device
                full.write(lines)
        while lines:
            lines = lines[os.write(self._file, lines) :]

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Hold nothing back."""
        del offsets
        do_harm(self._config, "flush")

    def stop(self) -> None:
        """Close the file."""
        do_harm(self._config, "stop")
        os.close(self._file)


PLUGINS = (
    PluginSpec(
        "recovering.RecoveringSource",
        PluginKind.SOURCE,
        "1.0",
        "Counts, or does harm.",
        CONFIG,
        RecoveringSource,
        "recovering.RecoveringSourceTask",
        RecoveringSourceTask,
    ),
    PluginSpec(
        "recovering.RecoveringSink",
        PluginKind.SINK,
        "1.0",
        "Writes lines, or does harm.",
        CONFIG,
        RecoveringSink,
        "recovering.RecoveringSinkTask",
        RecoveringSinkTask,
    ),
)
