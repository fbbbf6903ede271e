"""Kafka clients of a host: their addresses, when they are taken for stuck, what to do when Kafka refuses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from copycat_connect.errors import ConfigError
from copycat_connect.failure_kind import FailureKind
from copycat_executor.kafka import silent_producer
from copycat_executor.kafka.client_config import producer_config
from copycat_executor.kafka.connections import check_brokers
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.kafka.remedies import not_written
from copycat_executor.kafka.silent_consumer import Doubts, Look
from copycat_executor.kafka.silent_producer import CHECK_INTERVAL_SECONDS, STUCK_AFTER_SECONDS, DeliveryWatch
from copycat_executor.pipeline.task.failures import failure_of


def check(servers: str) -> None:
    check_brokers(producer_config({"bootstrap.servers": servers}, {}, "p"))


@pytest.mark.parametrize(
    "servers",
    [
        "127.0.0.1:9092",
        "localhost:1",
        "[::1]:9092",
        "PLAINTEXT://127.0.0.1:9",
        "no.such.host.invalid:1, 127.0.0.1:2",
    ],
)
def test_addresses_one_of_which_has_a_host_pass(servers: str) -> None:
    check(servers)


@pytest.mark.parametrize("server", ["nowhere", "127.0.0.1", "host:port", ":9092", "::1:9092", "a:65536"])
def test_an_address_without_host_or_port_is_refused_by_name(server: str) -> None:
    with pytest.raises(ConfigError, match=r"Invalid url in bootstrap\.servers: .*Write host:port"):
        check(f"127.0.0.1:9092,{server}")


@pytest.mark.parametrize("servers", ["no.such.host.invalid:9092", ","])
def test_addresses_none_of_which_has_a_host_are_refused(servers: str) -> None:
    with pytest.raises(ConfigError, match=r"No resolvable bootstrap urls given in bootstrap\.servers"):
        check(servers)


@pytest.mark.parametrize(
    "code",
    [KafkaError._UNKNOWN_PARTITION, pytest.param(KafkaError._DESTROY, id="while a record waited for it")],
)
def test_a_record_for_a_deleted_topic_says_that_it_was_deleted(code: int) -> None:
    failure = not_written("orders", KafkaError(code))

    assert "topic orders: it was deleted, or has no such partition" in str(failure)
    assert "topic.creation.default.partitions" in str(failure)


@pytest.mark.parametrize("code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC])
def test_a_record_for_a_topic_that_never_was_says_that_nobody_creates_it(code: int) -> None:
    assert "topic orders: it does not exist and nobody creates it" in str(
        not_written("orders", KafkaError(code))
    )


@pytest.mark.parametrize(
    "code", [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION]
)
def test_a_topic_that_was_there_may_be_there_again_and_one_that_never_was_has_to_be_made(code: int) -> None:
    gone = not_written("orders", KafkaError(code), was_there=True)

    assert "topic orders: it was deleted" in str(gone)
    assert failure_of(gone, {}) is FailureKind.TRANSIENT
    assert failure_of(not_written("orders", KafkaError(code)), {}) is FailureKind.CONFIGURATION


def test_a_partition_that_went_while_a_record_waited_for_it_may_be_there_again() -> None:
    assert failure_of(not_written("orders", KafkaError(KafkaError._DESTROY)), {}) is FailureKind.TRANSIENT


TOPIC = "orders"
REQUEST_SECONDS = 30.0
ENOUGH = CHECK_INTERVAL_SECONDS + STUCK_AFTER_SECONDS + REQUEST_SECONDS


class Client:
    """A producer or consumer of a cluster with one partition of which the broker 1 is the leader."""

    def __init__(self, *, answered: bool, leader: int = 1, leader_answers: bool = True) -> None:
        self.answered = answered
        self._leader = leader
        self._leader_answers = leader_answers
        self.closed = False

    def list_topics(self, topic: str, timeout: float) -> object:
        if not self.answered:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        partition = SimpleNamespace(id=0, leader=self._leader)
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions={0: partition})})

    def get_watermark_offsets(self, partition: object, timeout: float) -> tuple[int, int] | None:
        return (0, 7) if self._leader_answers else None

    def close(self) -> None:
        self.closed = True


class World:
    """A producer that is watched, and a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, witness: Client) -> None:
        self.producer = Client(answered=False)
        self.witness = witness
        self.watch = DeliveryWatch(lambda: cast("Consumer", self.witness), REQUEST_SECONDS * 1000)
        self.now = 1000.0
        self.connected = 0
        clock: Any = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr(silent_producer, "time", clock)

    def silent(self, *, after: float = 0.0, done: int = 5) -> bool:
        self.now += after
        return self.watch.is_silent(cast("Producer", self.producer), TOPIC, done)

    def ever_silent(self, seconds: float, *, done: int = 5) -> bool:
        return any(self.silent(after=1.0, done=done) for _ in range(int(seconds)))


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch, Client(answered=True))


def test_a_full_disk_of_the_broker_is_told_with_why_nothing_is_taken() -> None:
    worker = {"bootstrap.servers": "127.0.0.1:1", "broker.data.dir": "/proc"}  # where no byte is ever free

    def told(worker: dict[str, str]) -> str:
        config = producer_config(worker, {}, "client")
        producer = KafkaSender(config, on_failure=lambda *_: None, draining=lambda: True)
        assert producer.obstacle() == "", "nothing is wrong yet"
        producer._silence.why = "no broker answers"
        return producer.obstacle()

    away = "Kafka at 127.0.0.1:1 takes nothing: no broker answers"
    assert told(worker) == f"{away}: no space is left where its data lies (/proc: 0 KiB are free)"
    assert told({**worker, "broker.data.dir": "/on/another/machine"}) == away
    assert told({"bootstrap.servers": "127.0.0.1:1"}) == away


def test_a_producer_that_its_task_has_closed_just_now_can_be_dropped_by_whoever_gave_the_task_up() -> None:
    config = producer_config({"bootstrap.servers": "127.0.0.1:1"}, {}, "client")
    producer = KafkaSender(config, on_failure=lambda *_: None, draining=lambda: True)
    producer.close()
    producer.drop()
    assert producer.under_way() == 0


def test_a_producer_is_given_up_when_only_it_hears_from_no_broker_for_long(world: World) -> None:
    assert not world.ever_silent(ENOUGH - 1)
    assert world.ever_silent(CHECK_INTERVAL_SECONDS + 2)


def test_the_second_client_goes_when_the_producer_was_given_up(world: World) -> None:
    assert world.ever_silent(ENOUGH + CHECK_INTERVAL_SECONDS)
    assert world.witness.closed


@pytest.mark.parametrize(
    "witness",
    [
        Client(answered=False),
        Client(answered=True, leader=-1),
        Client(answered=True, leader_answers=False),
    ],
)
def test_brokers_that_are_away_for_everyone_are_no_fault_of_the_producer(
    monkeypatch: pytest.MonkeyPatch, witness: Client
) -> None:
    assert not World(monkeypatch, witness).ever_silent(10 * ENOUGH)
    assert witness.closed


def test_the_time_that_brokers_were_away_for_everyone_does_not_count(world: World) -> None:
    world.witness.answered = False
    assert not world.ever_silent(10 * ENOUGH)
    world.witness.answered = True
    assert not world.ever_silent(STUCK_AFTER_SECONDS + REQUEST_SECONDS)


def test_a_producer_that_hears_from_brokers_is_left_alone_though_they_take_nothing(world: World) -> None:
    # As with too few replicas in sync: it tries again until they do.
    world.producer.answered = True
    assert not world.ever_silent(10 * ENOUGH)


def test_a_record_that_was_written_ends_all_doubts(world: World) -> None:
    assert not world.ever_silent(ENOUGH - 1)
    assert not world.ever_silent(ENOUGH - 1, done=6)


def test_a_producer_that_had_nothing_to_do_begins_without_doubts(world: World) -> None:
    assert not world.ever_silent(ENOUGH - 1)
    world.watch.settled()
    assert not world.silent(after=3600.0)
    assert not world.ever_silent(ENOUGH - 1)


@pytest.mark.parametrize(
    ("producer", "witness", "why"),
    [
        (Client(answered=False), Client(answered=False), "no broker answers"),
        (Client(answered=False), Client(answered=True), "this client hears from no broker"),
        (
            Client(answered=True, leader=-1),
            Client(answered=True),
            "topic orders has no leader for partition 0",
        ),
        (
            Client(answered=True),
            Client(answered=True),
            "the brokers answer and confirm no record for topic orders",
        ),
    ],
    ids=["away", "lost", "leaderless", "held_back"],
)
def test_why_nothing_is_taken_is_known_after_a_look_and_forgotten_with_the_next_record(
    monkeypatch: pytest.MonkeyPatch, producer: Client, witness: Client, why: str
) -> None:
    world = World(monkeypatch, witness)
    world.producer = producer
    if producer.answered or not witness.answered:
        assert silent_producer.why_nothing_is_taken(cast("Producer", producer), TOPIC).startswith(why)
    assert not world.silent()
    assert world.watch.why == ""
    world.silent(after=CHECK_INTERVAL_SECONDS)
    assert world.watch.why.startswith(why)
    world.silent(done=6)
    assert world.watch.why == ""
    world.silent(after=CHECK_INTERVAL_SECONDS, done=6)
    world.watch.settled()
    assert world.watch.why == ""


PATIENCE = 15.0
HEALTHY = Look(end=7, fetched_end=7)
NEVER_FETCHED = Look(end=0, fetched_end=-1001)
BEHIND = Look(end=9, fetched_end=7)


def verdicts(*looks: tuple[float, Look]) -> list[bool]:
    doubts = Doubts(PATIENCE)
    return [doubts.weigh(look, at) is not None for at, look in looks]


def test_a_consumer_whose_fetches_know_the_end_is_left_alone_for_ever() -> None:
    assert verdicts((0, HEALTHY), (1000, HEALTHY), (2000, HEALTHY)) == [False] * 3


def test_a_consumer_is_given_up_only_when_doubts_lasted() -> None:
    for doubtful in (BEHIND, NEVER_FETCHED):
        assert verdicts((0, doubtful), (10, doubtful), (20, doubtful)) == [False, False, True]


def test_one_look_that_finds_it_healthy_ends_all_doubts() -> None:
    looks = ((0, BEHIND), (10, HEALTHY), (20, BEHIND), (30, BEHIND), (40, BEHIND))
    assert verdicts(*looks) == [False, False, False, False, True]


def test_a_consumer_ahead_of_what_the_brokers_say_is_healthy() -> None:
    # With isolation.level=read_committed the brokers' answer is the end of what is committed.
    assert verdicts((0, Look(end=5, fetched_end=9)), (100, Look(end=5, fetched_end=9))) == [False, False]


def test_records_end_all_doubts() -> None:
    doubts = Doubts(PATIENCE)
    doubts.weigh(BEHIND, 0)
    doubts.clear()
    assert doubts.weigh(BEHIND, 20) is None


def test_the_reason_names_the_offsets() -> None:
    assert BEHIND.doubt == "it ends at 9, but the last fetch knew of 7"
    assert NEVER_FETCHED.doubt == "it ends at 0, but no fetch was answered"
