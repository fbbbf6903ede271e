"""What flows through a connector on Spark: numbers from 1 on, how they get in, and where they arrive."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from confluent_kafka import Producer
from copycat_testkit.arrivals import Tally
from copycat_testkit.counted_system import STRING, CountedSystem
from deltalake import DeltaTable
from pyarrow import compute

JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
#: How many numbers a round has.
NUMBERS: Final = 40_000
FILES: Final = 16
PARTITIONS: Final = 2
WRITE_SECONDS: Final = 60.0
_SCHEMA: Final = {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}
EXACTLY_ONCE: Final = {"tasks.max": "2", "delivery.guarantee": "exactly_once"}


class Flow(ABC):
    """One connector, which is named as its flow; `tally` counts what has gone wrong since the beginning."""

    name: str
    config: Mapping[str, str]
    """Of the connector, beside what it has of its flow: `in` and `out` stand for the flow's topics."""

    def __init__(self, system: CountedSystem) -> None:
        """Begin with the number 1."""
        self.system = system
        self.fed = 0

    def feed(self) -> None:
        """Feed the numbers of a round."""
        self.fed += NUMBERS
        self.put(range(self.fed - NUMBERS + 1, self.fed + 1))

    def has_all(self) -> bool:
        """Tell whether every number has arrived."""
        return not self.tally().lost

    @abstractmethod
    def put(self, numbers: range) -> None:
        """Put numbers where the connector reads them."""

    @abstractmethod
    def tally(self) -> Tally:
        """Return what is lost and repeated so far; only what has been fed can be lost."""


class FeedsFiles(Flow):
    """Numbers are lines of files in the folder `in`."""

    def put(self, numbers: range) -> None:
        """Write files, each whole at once."""
        folder = self.system.folder / "in"
        folder.mkdir(exist_ok=True)
        step = len(numbers) // FILES
        for first in range(0, len(numbers), step):
            some = numbers[first : first + step]
            hidden = folder / f".{some[0]}"  # is not read
            hidden.write_text("".join(f"{number}\n" for number in some))
            hidden.rename(folder / f"{some[0]:012}.txt")


class FeedsTopic(Flow):
    """Numbers are structs {id} in the topic `in-NAME`."""

    def put(self, numbers: range) -> None:
        """Write records, each once."""
        servers = self.system.broker.bootstrap
        producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "log_level": 2})
        for number in numbers:
            value = json.dumps({"schema": _SCHEMA, "payload": {"id": number}})
            producer.produce(f"in-{self.name}", value, partition=number % PARTITIONS)
        if left := producer.flush(WRITE_SECONDS):
            raise TimeoutError(f"{left} records could not be written")


class ArrivesInTopic(Flow):
    """Numbers arrive in the topic of the connector's name, which has one partition."""

    def tally(self) -> Tally:
        """Count what was read with read_committed."""
        found = self.system.reader.sequences[self.name][0]
        return Tally(len(found.missing) + self.fed - found.highest, found.repeated)


class ArrivesInTable(Flow):
    """Numbers arrive in the column `id` of a Delta table."""

    def tally(self) -> Tally:
        """Read the table anew."""
        if not DeltaTable.is_deltatable(str(self.folder)):
            return Tally(self.fed)
        ids = DeltaTable(str(self.folder)).to_pyarrow_table(columns=["id"]).column("id")
        different = compute.count_distinct(ids).as_py()
        return Tally(self.fed - different, len(ids) - different)

    @property
    def folder(self) -> Path:
        """Of the table."""
        return self.system.folder / "lake" / "table"


class SourceFlow(FeedsFiles, ArrivesInTopic):
    """SparkSource: files in, a topic out."""

    name = "spark_source"
    config: Mapping[str, str] = {
        "connector.class": "SparkSource",
        "topic": name,
        "store.url": "file://{folder}/in",
        "format": "text",
        "object.poll.interval.ms": "200",
        "value.converter": STRING,
    }


class SinkFlow(FeedsTopic, ArrivesInTable):
    """SparkSink: a topic in, a Delta table out."""

    name = "spark_sink"
    config: Mapping[str, str] = {
        "connector.class": "SparkSink",
        "topics": f"in-{name}",
        "store.url": "file://{folder}/lake",
        "prefix": "table",
        "commit.interval.ms": "200",
        "flush.size": "4000",
        "value.converter": JSON,
        "value.converter.schemas.enable": "true",
    }


#: Numbers in, their texts out: read by SparkQuery as structs.
QUERY: Final = {
    "connector.class": "SparkQuery",
    "input.columns": "id BIGINT",
    "input.value.converter": JSON,
    "input.value.converter.schemas.enable": "true",
    "input.max.records": "4000",
    "value.converter": STRING,
}


class QueryFlow(FeedsTopic, ArrivesInTopic):
    """SparkQuery without state: a topic in, a topic out."""

    name = "spark_query"
    config: Mapping[str, str] = {
        **QUERY,
        "topic": name,
        "input.topics": f"in-{name}",
        "sql": "SELECT CAST(id AS STRING) AS value FROM records",
    }


class StateFlow(FeedsTopic, ArrivesInTopic):
    """SparkQuery with state: each number is a group, which is given once."""

    name = "spark_state"
    config: Mapping[str, str] = {
        **QUERY,
        "topic": name,
        "input.topics": f"in-{name}",
        "sql": "SELECT CAST(id AS STRING) AS value FROM records GROUP BY id",
        "output.mode": "update",
        "state.interval.ms": "100",
        "state.url": "file://{folder}/state",
    }


FLOWS: Final[Mapping[str, type[Flow]]] = {
    flow.name: flow for flow in (SourceFlow, QueryFlow, StateFlow, SinkFlow)
}
