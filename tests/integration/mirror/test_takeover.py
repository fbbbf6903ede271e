"""A MirrorMaker 2 that ran is stopped, and Copycat goes on in its place, from where it stood."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import httpx2
import pytest
from confluent_kafka import Consumer, TopicPartition
from copycat_mirror.records import Checkpoint, Heartbeat, OffsetSync
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import consume_all, create_topic, produce, unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.integration.mirror.conftest import SECONDS, Pair, consumed
from tests.plain_hosts import on_plain_hosts

pytestmark = [pytest.mark.timeout(500), pytest.mark.long]

TOPICS = {
    f"{what}.storage.topic": f"mm2-{name}.rome.internal"
    for what, name in (("config", "configs"), ("offset", "offsets"), ("status", "status"))
}
"""As MirrorMaker names them when it runs on its own."""
GROUP = "rome-mm2"
FIRST, SECOND = 500, 800


def commit(bootstrap: str, group: str, topic: str, offset: int) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    consumer.close()


def checkpoints(bootstrap: str, group: str) -> list[Checkpoint]:
    found = consume_all(bootstrap, "rome.checkpoints.internal")
    read = [Checkpoint.read(each.key() or b"", each.value() or b"") for each in found]
    for each, message in zip(read, found, strict=True):
        assert (each.key(), each.value()) == (message.key(), message.value())
    return [each for each in read if each.group == group]


def awaited(ask: Callable[[], bool], what: str) -> None:
    wait_until(ask, SECONDS, what)


def put(url: str, configs: Mapping[str, Mapping[str, str]]) -> None:
    for name, config in configs.items():
        reply = httpx2.put(f"{url}/connectors/{name}/config", json=dict(config), timeout=90)
        assert reply.status_code in (200, 201), reply.text


@pytest.mark.row("K26-72")
def test_a_running_mirrormaker_is_taken_over_in_place(pair: Pair, tmp_path: Path) -> None:
    topic, group = create_topic(pair.source, unique("orders")), unique("group")
    produce(pair.source, topic, [b"%d" % n for n in range(FIRST)])
    commit(pair.source, group, topic, 400)
    only = {"topics": topic, "groups": group, "offset.lag.max": "10"}
    often = {"emit.checkpoints.interval.seconds": "1", "refresh.groups.interval.seconds": "1"}
    configs = {
        "MirrorSourceConnector": pair.config("Source", "rome", "oslo", only),
        "MirrorCheckpointConnector": pair.config("Checkpoint", "rome", "oslo", {**only, **often}),
        "MirrorHeartbeatConnector": pair.config("Heartbeat", "rome", "oslo", {}),
    }
    with ConnectPeer(
        pair.target, tmp_path / "connect", group=GROUP, properties=TOPICS, jars=("mirror",)
    ) as theirs:
        put(theirs.url, configs)
        awaited(lambda: len(consumed(pair.target, f"rome.{topic}")) == FIRST, "MirrorMaker mirrors")
        awaited(lambda: len(checkpoints(pair.target, group)) > 0, "MirrorMaker writes checkpoints")
        awaited(lambda: len(consumed(pair.target, "heartbeats")) > 0, "MirrorMaker writes heartbeats")
    before = checkpoints(pair.target, group)
    _are_written_alike(pair.source, "mm2-offset-syncs.oslo.internal", OffsetSync)
    _are_written_alike(pair.target, "heartbeats", Heartbeat)
    produce(pair.source, topic, [b"%d" % n for n in range(FIRST, SECOND)])
    commit(pair.source, group, topic, 700)
    settings = {"group.id": GROUP, **TOPICS}
    with CopycatUp(
        tmp_path / "copycat", pair.target, settings=settings, environment=on_plain_hosts()
    ) as ours:
        awaited(lambda: len(consumed(pair.target, f"rome.{topic}")) >= SECOND, "Copycat mirrors on")
        awaited(lambda: len(checkpoints(pair.target, group)) > len(before), "Copycat writes checkpoints")
        stored = httpx2.get(f"{ours.url}/connectors/MirrorSourceConnector/offsets", timeout=60).json()
        for name in configs:
            httpx2.delete(f"{ours.url}/connectors/{name}", timeout=90).raise_for_status()
    values = [value for _, _, value, _, _ in consumed(pair.target, f"rome.{topic}")]
    assert values == [b"%d" % n for n in range(SECOND)]
    assert [each["partition"] for each in stored["offsets"] if each["partition"]["topic"] == topic] == [
        {"cluster": "rome", "partition": 0, "topic": topic}
    ]
    after = checkpoints(pair.target, group)
    assert after[: len(before)] == before
    last = after[-1]
    assert (last.topic, last.upstream) == (f"rome.{topic}", 700)
    assert before[-1].downstream < last.downstream <= 700


def _are_written_alike(bootstrap: str, topic: str, kind: type[OffsetSync | Heartbeat]) -> None:
    """Compare what MirrorMaker wrote, byte by byte, with what would be written of what is read from it."""
    for message in consume_all(bootstrap, topic):
        record = kind.read(message.key() or b"", message.value() or b"")
        assert (record.key(), record.value()) == (message.key(), message.value())
