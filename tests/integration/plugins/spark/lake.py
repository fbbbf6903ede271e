"""A folder of files that connectors of a running system read with Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import httpx2
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka import Message
from copycat_testkit.kafka import consume_all, wait_until
from copycat_testkit.spans import OtlpReceiver
from copycat_testkit.system import CopycatUp

JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
#: A driver compiles Spark's code anew, on a busy machine.
SECONDS: Final = 200.0
TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"
#: Makes a record one of that trace.
TRACED: Final[dict[str, str | bytes | None]] = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}


def traced(spans: OtlpReceiver, connector: str, name: str) -> int:
    """Return how many records of that trace a connector's spans of a name stand for."""
    found = [each for each in spans.spans(trace=TRACE, connector=connector) if each.name == name]
    return sum(int(each.attributes["messaging.batch.message_count"]) for each in found)


class Lake:
    """A folder, and connectors of this system that read it."""

    def __init__(self, system: CopycatUp, kafka: str, folder: Path) -> None:
        self.folder = folder
        self._system = system
        self.kafka = kafka
        folder.mkdir()

    def add(self, name: str, rows: pa.Table, **options: int) -> None:
        """Add a Parquet file, whole at once: who reads the folder never sees half of one."""
        hidden = self.folder / f".{name}"
        pq.write_table(rows, hidden, **options)
        hidden.rename(self.folder / name)

    def put(self, name: str, **config: str) -> None:
        """Create a connector, or change it; its topic bears its name."""
        given = {
            "topic": name,
            "store.url": f"file://{self.folder}",
            "object.poll.interval.ms": "200",
            "value.converter": JSON,
            "value.converter.schemas.enable": "true",
            **config,
        }
        url = f"{self._system.url}/connectors/{name}/config"
        httpx2.put(url, json=given, timeout=90).raise_for_status()

    def ask(self, verb: str, path: str, body: object = None) -> object:
        """Call REST; returns what it answers."""
        reply = httpx2.request(verb, f"{self._system.url}/connectors/{path}", json=body, timeout=90)
        reply.raise_for_status()
        return reply.json() if reply.content else None

    def state(self, name: str) -> str:
        """The state of a connector's one task; empty without one."""
        status = self.ask("GET", f"{name}/status")
        assert isinstance(status, dict)
        return next((task["state"] for task in status["tasks"]), "")

    def stop(self, name: str) -> None:
        """Stop a connector, and wait until its task is gone."""
        self.ask("PUT", f"{name}/stop")
        wait_until(lambda: self.state(name) == "", SECONDS, "it stops")

    def done(self, name: str) -> list[int]:
        """The files and partitions that are committed whole, as the number of their records."""
        reply = self.ask("GET", f"{name}/offsets")
        assert isinstance(reply, dict)
        offsets = [each["offset"] for each in reply["offsets"] if "table" not in each["partition"]]
        return [offset["record"] for offset in offsets if offset["done"]]

    def version(self, name: str) -> int:
        """The version of the Delta table that is read whole; -1 before the first is."""
        reply = self.ask("GET", f"{name}/offsets")
        assert isinstance(reply, dict)
        offsets = [each["offset"] for each in reply["offsets"] if "table" in each["partition"]]
        return next((offset["version"] for offset in offsets if offset["done"]), -1)

    def records(self, topic: str) -> list[Message]:
        """What arrived."""
        return consume_all(self.kafka, topic)

    def values(self, topic: str) -> list[bytes]:
        """The values that arrived."""
        return [message.value() or b"" for message in self.records(topic)]

    def waits_for(self, topic: str, count: int) -> list[bytes]:
        """Wait until so many records have arrived; returns them."""
        wait_until(lambda: len(self.values(topic)) >= count, SECONDS, f"{count} records in {topic}")
        return self.values(topic)

    def drivers(self) -> list[psutil.Process]:
        """The drivers of Spark of this system."""
        launcher = psutil.Process(self._system.pid)
        found = []
        for process in launcher.children(recursive=True):
            try:
                if "copycat_executor.driverhost" in process.cmdline():
                    found.append(process)
            except psutil.NoSuchProcess:
                continue
        return found

    def kill(self, what: str) -> None:
        """Kill the only driver, or the process of one of its partitions."""
        wait_until(lambda: len(self.drivers()) == 1, SECONDS, "one driver, those of deleted connectors ended")
        (driver,) = self.drivers()
        forked = [each for each in driver.children(recursive=True) if "daemon" in " ".join(each.cmdline())]
        (driver if what == "driver" else forked[-1]).kill()  # the last forked, or who forks them
