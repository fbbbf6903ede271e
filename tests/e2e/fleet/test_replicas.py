"""Three brokers with replicas: what a user asks for is done, and counted, though one of them is away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx2
import pytest
from confluent_kafka import ElectionType, KafkaError, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
    TopicMetadata,
)
from copycat_testkit.arrivals import Tally
from copycat_testkit.kafka import consume_all, unique, wait_until
from prometheus_client.parser import text_string_to_metric_families

from tools.containers.box import Box
from tools.containers.fleet import Fleet
from tools.containers.flow import Flow
from tools.containers.strike import Outcomes, measure

pytestmark = pytest.mark.timeout(1800, func_only=True)

SECONDS: Final = 240.0
ADMIN_SECONDS: Final = 60.0
AWAY_SECONDS: Final = 15.0
#: For an answer that is not to come while too few replicas are in sync.
UNANSWERED_SECONDS: Final = 20.0
MIN_IN_SYNC: Final = "min.insync.replicas"
EXACTLY_ONCE: Final = {"delivery.guarantee": "exactly_once"}
STATUS_UPDATES: Final = "kafka_connect_status_backing_store_metrics_status_update_{}_total"


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


def set_min_in_sync(fleet: Fleet, topics: list[str], count: int | None) -> None:
    """Set how many replicas topics need to take a record; None: as many as the brokers say."""
    how = AlterConfigOpType.DELETE if count is None else AlterConfigOpType.SET
    entry = ConfigEntry(MIN_IN_SYNC, str(count or 1), incremental_operation=how)
    wanted = [ConfigResource(ResourceType.TOPIC, each, incremental_configs=[entry]) for each in topics]
    client = admin(fleet)  # one that is dropped before its answer never gives one
    for done in client.incremental_alter_configs(wanted).values():
        done.result(ADMIN_SECONDS)


def updates(fleet: Fleet, what: str) -> float:
    """Return a counter of the status service, of all its instances together."""
    plain = {"Accept": "text/plain;version=0.0.4"}
    reply = httpx2.get(f"{fleet.url}/metrics", timeout=ADMIN_SECONDS, headers=plain).raise_for_status()
    families = text_string_to_metric_families(reply.text)
    samples = [sample for family in families for sample in family.samples]
    return sum(each.value for each in samples if each.name == STATUS_UPDATES.format(what))


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


def test_a_status_that_too_few_replicas_would_have_is_retried_and_made_good(fleet: Fleet) -> None:
    lines, statuses, configs = Lines(fleet), f"{fleet.group}-status", f"{fleet.group}-configs"
    wait_until(lambda: lines.records() == ["one"], SECONDS, "the connector runs")
    wait_until(lambda: lines.state() == "RUNNING", SECONDS, "its status is shown")
    before, unwritten = updates(fleet, "retry"), unique("unwritten")

    set_min_in_sync(fleet, [statuses], 3)
    try:
        with away(fleet, fleet.brokers.boxes[1]):
            wait_until(lambda: too_few(fleet, [statuses]), SECONDS, "two replicas are in sync")
            lines.have("pause")
            wait_until(lambda: updates(fleet, "retry") > before, SECONDS, "its status is retried")
            assert lines.state() == "RUNNING"  # reads are answered with what is known
            set_min_in_sync(fleet, [configs], 3)
            assert not acknowledged(fleet, unwritten)
    finally:
        set_min_in_sync(fleet, [statuses, configs], None)
    wait_until(lambda: lines.state() == "PAUSED", SECONDS, "its status is made good")
    lines.have("resume")
    lines.write("two")
    wait_until(lambda: lines.records() == ["one", "two"], SECONDS, f"lines flow; {fleet.status(lines.name)}")
    fleet.ask("DELETE", f"/connectors/{unwritten}")  # who waited too short for an answer knows nothing
    fleet.delete(lines.name)


def acknowledged(fleet: Fleet, name: str) -> bool:
    """Return whether the configuration of a new connector is answered as written."""
    config = {"connector.class": "FileStreamSource", "file": "/data/none", "topic": name}
    try:
        reply = httpx2.put(f"{fleet.url}/connectors/{name}/config", json=config, timeout=UNANSWERED_SECONDS)
    except httpx2.ReadTimeout:
        return False
    return reply.is_success


def too_few(fleet: Fleet, topics: list[str]) -> bool:
    """Tell whether a replica of every partition of topics is out of sync."""
    found = [each for name in topics if (each := topic(fleet, name))]
    partitions = [part for each in found for part in each.partitions.values()]
    return all(len(part.isrs) == 2 for part in partitions)


def test_nothing_is_lost_or_repeated_though_each_broker_is_killed_and_leaders_change(
    fleet: Fleet, outcomes: Outcomes
) -> None:
    client = admin(fleet)
    for name in fleet.topics:
        asked = ConfigResource(ResourceType.TOPIC, name)
        configs = client.describe_configs([asked])[asked].result(ADMIN_SECONDS)
        assert (set(replicas(fleet, name)), configs[MIN_IN_SYNC].value) == ({3}, "2")
    with Flow(fleet, delivery=EXACTLY_ONCE) as flow:
        every = [*flow.topics, *fleet.topics]
        led_by: dict[tuple[str, int], set[int]] = {}
        for broker in fleet.brokers.boxes:
            failure = f"broker killed, back after {AWAY_SECONDS:.0f} s, under exactly once"
            outcomes.add(measure(flow, failure, broker.kill, broker.start_again, away=AWAY_SECONDS))
            fleet.brokers.wait_whole()
            note_leaders(fleet, every, led_by)
            elect_preferred(fleet, every)
            note_leaders(fleet, every, led_by)
        tally = flow.drain()
        assert tally == Tally()
        for number, name in enumerate(flow.topics):
            read = [message.value() for message in consume_all(fleet.brokers.outside, name)]
            assert read == [f"{number} {line}".encode() for line in range(1, flow.written + 1)]
    assert {len(leaders) > 1 for leaders in led_by.values()} == {True}


def note_leaders(fleet: Fleet, topics: list[str], led_by: dict[tuple[str, int], set[int]]) -> None:
    """Add who leads each partition now."""
    for name in topics:
        found = topic(fleet, name)
        assert found is not None
        for number, partition in found.partitions.items():
            led_by.setdefault((name, number), set()).add(partition.leader)


def elect_preferred(fleet: Fleet, topics: list[str]) -> None:
    """Have the first replica of each partition lead it, while records flow."""
    partitions = [
        TopicPartition(name, number) for name in topics for number in range(len(replicas(fleet, name)))
    ]
    client = admin(fleet)
    elected = client.elect_leaders(ElectionType.PREFERRED, partitions).result(ADMIN_SECONDS)
    failed = [
        each
        for each in elected.values()
        if each is not None and each.code() != KafkaError.ELECTION_NOT_NEEDED
    ]
    assert not failed
