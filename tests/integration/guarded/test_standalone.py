"""`copycat standalone` on a broker that asks for a password and checks what each may do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.cimpl import NewTopic
from copycat_connect.config.properties import format_properties
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import Commands
from copycat_testkit.kafka import unique, wait_until

from tests.integration.guarded.broker import SECURE, GuardedKafka, client_of, login
from tests.plain_hosts import on_plain_hosts

STRING = "org.apache.kafka.connect.storage.StringConverter"


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    running = Commands(tmp_path, on_plain_hosts())
    yield running
    running.close()


@pytest.mark.timeout(300)
def test_k26_75_standalone_needs_the_rights_on_its_data_topics_and_no_other(
    walls: GuardedKafka, commands: Commands, tmp_path: Path
) -> None:
    topic, source, target = unique("k158"), tmp_path / "in.txt", tmp_path / "out.txt"
    walls.admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(60)
    source.write_text("one\ntwo\n")
    before = set(walls.admin.list_topics(timeout=60).topics)
    writer, reader = (
        {**SECURE, "sasl.jaas.config": login("alice")},
        {**SECURE, "sasl.jaas.config": login("dave")},
    )
    properties = {
        "bootstrap.servers": walls.bootstrap,
        "key.converter": STRING,
        "value.converter": STRING,
        "offset.storage.file.filename": str(tmp_path / "offsets"),
        "offset.flush.interval.ms": "500",
        "listeners": f"http://127.0.0.1:{free_ports(1)[0]}",
        **writer,
        **{f"producer.{key}": value for key, value in writer.items()},
        **{f"consumer.{key}": value for key, value in reader.items()},
    }
    connectors = {
        "in": {"connector.class": "FileStreamSource", "file": str(source), "topic": topic},
        "out": {"connector.class": "FileStreamSink", "file": str(target), "topics": topic},
    }
    files = [tmp_path / "worker.properties"]
    files[0].write_text(format_properties(properties), "utf-8")
    for name, config in connectors.items():
        files.append(tmp_path / f"{name}.properties")
        files[-1].write_text(format_properties({"name": unique(name), **config}), "utf-8")

    process = commands.start("standalone", *files)

    wait_until(lambda: target.exists() and target.read_text() == "one\ntwo\n", 180, "both lines in the sink")
    assert process.end() == 0, process.said()
    assert set(walls.admin.list_topics(timeout=60).topics) - before <= {"__consumer_offsets"}
    consumer = Consumer({**client_of("admin"), "bootstrap.servers": walls.bootstrap, "group.id": topic})
    assert consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=60) == (0, 2)
    consumer.close()
