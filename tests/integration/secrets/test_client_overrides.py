"""Client overrides of a task, as the broker sees them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.cimpl import NewTopic
from copycat.types.v1 import types_pb2
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import unique

from tests.integration.emitting.bench import Bench, bench

pytestmark = pytest.mark.long

#: Place and meaning of a record batch's compression, from the batch's attributes.
ATTRIBUTES = 21
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the broker keeps its topics."""
    return tmp_path_factory.mktemp("overrides")


@pytest.fixture(scope="module")
def tasks(place: Path) -> Iterator[Bench]:
    """Tasks on a broker whose files can be read."""
    with EmbeddedKafka(place) as kafka, bench(kafka.bootstrap, place) as running:
        yield running


def codec(place: Path, topic: str) -> str:
    """Return how the first batch of a topic was compressed by its producer."""
    written = (place / "log" / f"{topic}-0" / f"{0:020}.log").read_bytes()
    (attributes,) = struct.unpack_from(">h", written, ATTRIBUTES)
    return CODECS[attributes & 7]


@pytest.mark.parametrize("wanted", ["gzip", "zstd", "none"])
def test_records_are_compressed_as_the_connector_says_whatever_the_worker_says(
    tasks: Bench, place: Path, wanted: str
) -> None:
    name = unique("compressed")

    tasks.run(
        *[f"{name} {'x' * 100}"] * 100,
        config={"producer.override.compression.type": wanted},
        worker={"producer.compression.type": "lz4"},
    )

    tasks.written(name, 100)
    assert codec(place, name) == wanted


def test_the_worker_says_how_where_the_connector_does_not(tasks: Bench, place: Path) -> None:
    name = unique("compressed")

    tasks.run(*[f"{name} {'x' * 100}"] * 100, worker={"producer.compression.type": "lz4"})

    tasks.written(name, 100)
    assert codec(place, name) == "lz4"


def test_fewer_acknowledgements_are_enough_where_the_connector_says_so(tasks: Bench) -> None:
    patient, content = unique("patient"), unique("content")
    for name in (patient, content):
        topic = NewTopic(name, 1, 1, config={"min.insync.replicas": "2"})
        tasks.admin.create_topics([topic])[name].result(60)

    waiting = tasks.run(patient)
    tasks.run(content, config={"producer.override.acks": "1"})

    assert tasks.written(content, 1) == ["v"]
    assert patient not in tasks.executor.topics
    assert [each.state for each in tasks.executor.states if each.task == waiting] == [types_pb2.STATE_RUNNING]
