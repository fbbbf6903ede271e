"""Three brokers with replicas: what a user asks for is done, and counted, though one of them is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx2
import pytest
from confluent_kafka.admin import (
    AdminClient,
    TopicMetadata,
)
from copycat_testkit.kafka import consume_all, unique, wait_until

from tools.containers.box import Box
from tools.containers.fleet import Fleet

pytestmark = pytest.mark.timeout(1800, func_only=True)

SECONDS: Final = 240.0
ADMIN_SECONDS: Final = 60.0


class Lines:
    """A connector that reads a file, and how far it came."""

    def __init__(self, fleet: Fleet, **config: str) -> None:
        """Create it, with a first line in its file; `a__b` stands for the key `a.b`."""
        self.fleet, self.name = fleet, unique("replicas")
        self._file = fleet.data / f"{self.name}.txt"
        self._file.touch(mode=0o666)
        given = {key.replace("__", "."): text for key, text in config.items()}
        source = {"connector.class": "FileStreamSource", "file": f"/data/{self.name}.txt", "topic": self.name}
        fleet.create(self.name, {**source, **given})
        self.write("one")

    def write(self, line: str) -> None:
        """Add a line to its file."""
        with self._file.open("a") as file:
            file.write(f"{line}\n")

    def records(self) -> list[str]:
        """Return what its topic has."""
        if topic(self.fleet, self.name) is None:
            return []
        found = consume_all(self.fleet.brokers.outside, self.name)
        return [(message.value() or b"").decode() for message in found]

    def ask(self, method: str, what: str, body: object = None) -> Any:
        """Send a request about it; returns what it says."""
        return self.fleet.ask(method, f"/connectors/{self.name}/{what}", body)

    def have(self, what: str) -> None:
        """Have something done to it; while leaders of logs change, the answer may be to ask again."""
        path = f"/connectors/{self.name}/{what}"

        def done() -> bool:
            reply = httpx2.put(f"{self.fleet.url}{path}", timeout=ADMIN_SECONDS)
            assert reply.is_success or reply.status_code == httpx2.codes.SERVICE_UNAVAILABLE, reply.text
            return reply.is_success

        wait_until(done, SECONDS, f"PUT {path}")

    def state(self) -> str:
        """Return the state of the connector that REST shows."""
        return str(self.fleet.status(self.name).get("connector", {}).get("state"))

    def offsets(self) -> list[dict[str, Any]]:
        """Return its offsets."""
        found: list[dict[str, Any]] = (self.ask("GET", "offsets") or {"offsets": []})["offsets"]
        return found


def admin(fleet: Fleet) -> AdminClient:
    return AdminClient({"bootstrap.servers": fleet.brokers.outside, "log_level": 0})


def topic(fleet: Fleet, name: str) -> TopicMetadata | None:
    """Return what the brokers say of a topic; nothing where they have no such topic."""
    found: TopicMetadata | None = admin(fleet).list_topics(timeout=ADMIN_SECONDS).topics.get(name)
    return found


def replicas(fleet: Fleet, name: str) -> list[int]:
    """Return how many replicas each partition of a topic has."""
    found = topic(fleet, name)
    return [len(set(each.replicas)) for each in found.partitions.values()] if found else []


def broker_of(fleet: Fleet, name: str) -> Box:
    """Return the broker that leads most partitions of a topic."""
    found = topic(fleet, name)
    assert found is not None
    leaders = [each.leader for each in found.partitions.values()]
    return fleet.brokers.boxes[max(leaders, key=leaders.count) - 1]


@contextmanager
def away(fleet: Fleet, broker: Box) -> Iterator[None]:
    """Kill a broker, and start it again."""
    broker.kill()
    try:
        yield
    finally:
        broker.start_again()
        fleet.brokers.wait_whole()


def test_topics_are_created_with_their_replicas_though_a_broker_is_away(fleet: Fleet) -> None:
    default = {
        "topic__creation__default__partitions": "5",
        "topic__creation__default__replication__factor": "3",
    }
    group = {
        **default,
        "topic__creation__groups": "one",
        "topic__creation__one__include": "replicas.*",
        "topic__creation__one__partitions": "1",
        "topic__creation__one__replication__factor": "-1",
    }
    whole = Lines(fleet, **default)
    wait_until(lambda: replicas(fleet, whole.name) == [3] * 5, SECONDS, "five partitions, three replicas")

    with away(fleet, fleet.brokers.boxes[0]):
        grouped = Lines(fleet, **group)
        wait_until(lambda: grouped.records() == ["one"], SECONDS, f"a record; {fleet.status(grouped.name)}")
    assert replicas(fleet, grouped.name) == [3]

    many = Lines(fleet, **{**default, "topic__creation__default__replication__factor": "4"})

    def refused() -> str:
        return next((task.get("trace", "") for task in fleet.status(many.name).get("tasks", [])), "")

    assert "INVALID_REPLICATION_FACTOR" in wait_until(refused, SECONDS, "four replicas on three brokers")
    assert topic(fleet, many.name) is None
    fleet.delete(whole.name, grouped.name, many.name)


def test_active_topics_are_tracked_and_reset_though_the_leader_of_their_log_is_away(fleet: Fleet) -> None:
    lines = Lines(fleet)

    def active() -> list[str]:
        return list((lines.ask("GET", "topics") or {lines.name: {"topics": []}})[lines.name]["topics"])

    wait_until(lambda: active() == [lines.name], SECONDS, "the topic is active")
    with away(fleet, broker_of(fleet, f"{fleet.group}-status")):
        lines.have("topics/reset")
        wait_until(lambda: active() == [], SECONDS, "no topic is active")
        lines.write("two")
        wait_until(lambda: active() == [lines.name], SECONDS, "the topic is active with its next record")
    fleet.delete(lines.name)


def test_offsets_are_read_altered_and_reset_though_the_leader_of_their_log_is_away(fleet: Fleet) -> None:
    lines = Lines(fleet)
    wait_until(lambda: [each["offset"] for each in lines.offsets()] == [{"position": 4}], SECONDS, "a commit")
    (first,) = lines.offsets()

    def stopped() -> bool:
        return lines.state() == "STOPPED" and not fleet.status(lines.name)["tasks"]

    def stop() -> None:
        lines.have("stop")
        wait_until(stopped, SECONDS, "the connector is stopped")

    def go_on(count: int) -> None:
        lines.have("resume")
        wait_until(lambda: lines.records() == ["one"] * count, SECONDS, f"the line has come {count} times")
        wait_until(lambda: lines.offsets() == [first], SECONDS, "the offset is committed again")

    with away(fleet, broker_of(fleet, f"{fleet.group}-offsets")):
        stop()
        rewound = {**first, "offset": {"position": 0}}
        wait_until(
            lambda: lines.ask("PATCH", "offsets", {"offsets": [rewound]}), SECONDS, "the offset is altered"
        )
        assert lines.offsets() == [rewound]
        go_on(2)
        stop()
        wait_until(lambda: lines.ask("DELETE", "offsets"), SECONDS, "the offsets are reset")
        assert lines.offsets() == []
        go_on(3)
    assert lines.offsets() == [first]
    fleet.delete(lines.name)
