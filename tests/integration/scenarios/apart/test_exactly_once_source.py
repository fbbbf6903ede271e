"""ExactlyOnceSourceIntegrationTest, and test_exactly_once_source of kafkatest.

Its case of missing rights is in `tests/integration/guarded/test_missing_rights.py`; that of another cluster,
testSeparateOffsetsTopic, has records and offsets on another Kafka.

Two workers on which every source delivers exactly once, and offsets are flushed every ten minutes: so a
transaction ends where its boundary is.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from confluent_kafka import Message, Producer
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import SOURCE_CONFIG, Monitor, errors
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)


def by_task(values: Sequence[str]) -> dict[str, list[int]]:
    """Return the numbers that each task of a monitorable source wrote, in order."""
    found: dict[str, list[int]] = {}
    for value in values:
        task, _, number = value.removeprefix("value-").rpartition("-")
        found.setdefault(task, []).append(int(number))
    return found


def once_each(values: Sequence[str], tasks: int) -> None:
    """See that so many tasks wrote every number once, in order, from 1 on."""
    found = by_task(values)
    assert len(found) == tasks, sorted(found)
    for task, numbers in found.items():
        assert numbers == list(range(1, len(numbers) + 1)), f"{task} left numbers out or repeated some"


def sizes(messages: Sequence[Message]) -> list[int]:
    """Return how many records each transaction has that a topic of one partition shows.

    The end of a transaction takes an offset of its own: after it comes a gap. What was aborted is not shown,
    and makes a gap wider.
    """
    found: list[int] = []
    before = None
    for message in messages:
        offset = message.offset() or 0
        if before is None or offset != before + 1:
            found.append(0)
        found[-1] += 1
        before = offset
    return found


def offsets_in(bootstrap: str, topic: str, connector: str) -> list[tuple[str, int]]:
    """Return the committed offset records of a monitorable source in a topic: which task, which number."""
    found = []
    for message in consume_all(bootstrap, topic):
        name, partition = json.loads(message.key() or b"")
        if name == connector and (value := message.value()) is not None:
            found.append((partition["task.id"], json.loads(value)["saved"]))
    return found


def task_counts(bootstrap: str, topic: str, connector: str) -> list[int]:
    """Return the task counts that a config topic records of a connector, oldest first."""
    key = f"tasks-fencing-{connector}".encode()
    found = (message for message in consume_all(bootstrap, topic) if message.key() == key)
    return [json.loads(message.value() or b"")["task-count"] for message in found]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the other Kafka; gives its address."""
    with EmbeddedKafka(tmp_path_factory.mktemp("other-kafka")) as kafka:
        yield kafka.bootstrap


@pytest.mark.long
def test_separate_offsets_topic(kafka: str, other: str, monitor: Monitor, tmp_path: Path) -> None:
    """Offsets land there and are copied; workers without exactly-once go on from them."""
    group = unique("separate")
    topic, offsets = create_topic(other), create_topic(other, config={"cleanup.policy": "compact"})
    config = monitor.source(topic, max_messages="40", messages_per_poll="5") | {
        **{f"{client}.override.bootstrap.servers": other for client in ("producer", "consumer", "admin")},
        "offsets.storage.topic": offsets,
        "exactly.once": "supported",
    }
    settings = {"group.id": group}

    def written(cluster: Cluster, bootstrap: str, where: str, number: int) -> None:
        task = f"{topic}-0"
        wait_until(
            lambda: offsets_in(bootstrap, where, topic)[-1:] == [(task, number)],
            PATIENCE,
            f"{number} in {where}",
        )
        wait_until(
            lambda: (
                cluster.rest.get(f"/connectors/{topic}/offsets")["offsets"]
                == [{"partition": {"task.id": task}, "offset": {"saved": number}}]
            ),
            PATIENCE,
            f"{number} over REST",
        )

    enabled = {"exactly.once.source.support": "enabled"}
    with Cluster(kafka, tmp_path / "enabled", 1, settings | enabled).running() as exact:
        exact.rest.create(topic, config)
        written(exact, other, offsets, 40)
        written(exact, kafka, exact.topic("offsets"), 40)
    once_each(_values(other, topic), 1)
    with Cluster(kafka, tmp_path / "disabled", 1, settings).running() as plain:
        plain.rest.configure(topic, {**config, "max.messages": "70"})
        wait_until(lambda: len(_values(other, topic)) == 70, PATIENCE, "30 records more")
        plain.rest.ok("PUT", f"/connectors/{topic}/stop")
        written(plain, other, offsets, 70)
        written(plain, kafka, plain.topic("offsets"), 70)
    once_each(_values(other, topic), 1)


def _values(bootstrap: str, topic: str) -> list[str]:
    return [(message.value() or b"").decode() for message in consume_all(bootstrap, topic)]


WORKERS = 2
ENDLESS = {"max_messages": "1000000"}
COMPACT = {"cleanup.policy": "compact"}
REQUIRED = {"exactly.once.support": "required", "exactly.once": "supported"}
OFFSETS = {"transaction.boundary": "connector", "boundaries": "supported"}
ANSWERS = [("null", 1), ("unsupported", 1), ("fails", 1), ("supported", 0)]


@pytest.fixture(scope="module")
def exact(kafka: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Run them."""
    settings = {"exactly.once.source.support": "enabled", "offset.flush.interval.ms": "600000"}
    with Cluster(kafka, tmp_path_factory.mktemp("exact"), WORKERS, settings).running() as running:
        yield running


@pytest.fixture
def rest(exact: Cluster) -> Iterator[Rest]:
    """Drive connectors; what a test leaves behind is deleted."""
    yield exact.rest
    exact.rest.clean()


def has(exact: Cluster, topic: str, count: int) -> None:
    """Wait until a topic has so many records that are committed."""
    wait_until(lambda: len(exact.values(topic)) >= count, PATIENCE, f"{count} records in {topic}")


@pytest.mark.long
@pytest.mark.parametrize(("answer", "count"), ANSWERS)
def test_preflight_validation(exact: Cluster, answer: str, count: int) -> None:
    """testPreflightValidation: what is required is refused unless the connector says that it can be had."""
    support = {"exactly.once.support": "required", "exactly.once": answer}
    boundaries = {"transaction.boundary": "connector", "boundaries": answer}

    assert errors(exact, {**SOURCE_CONFIG, **support}) == count
    assert errors(exact, {**SOURCE_CONFIG, **boundaries}) == count


@pytest.mark.long
def test_poll_boundary(exact: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testPollBoundary: every batch that a poll returns is a transaction."""
    topic = create_topic(exact.bootstrap)
    config = monitor.source(topic, messages_per_poll="7", **ENDLESS) | REQUIRED
    rest.create(topic, {**config, "transaction.boundary": "poll"})
    has(exact, topic, 100)
    rest.delete(topic)

    messages = consume_all(exact.bootstrap, topic)
    assert set(sizes(messages)) == {7}
    once_each(exact.values(topic), 1)
    assert [number for _, number in offsets_in(exact.bootstrap, exact.topic("offsets"), topic)] == [
        7 * (each + 1) for each in range(len(messages) // 7)
    ]


@pytest.mark.long
def test_interval_boundary(exact: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testIntervalBoundary: a transaction ends with the first batch after the interval, and at the end."""
    topic = create_topic(exact.bootstrap)
    interval = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "1000"}
    rest.create(topic, monitor.source(topic, **ENDLESS) | REQUIRED | interval)
    wait_until(lambda: len(sizes(consume_all(exact.bootstrap, topic))) >= 3, PATIENCE, "three transactions")
    rest.delete(topic)

    messages = consume_all(exact.bootstrap, topic)
    times = [message.timestamp()[1] for message in messages]
    # The first interval began before its first record, the last one was ended by the deletion.
    _, *whole, _ = sizes(messages)
    first = len(messages) - sum(sizes(messages)[1:])
    starts = [first + sum(whole[:number]) for number in range(len(whole) + 1)]
    assert all(900 < times[later] - times[start] < 15_000 for start, later in pairwise(starts))
    assert min(whole) > 10, "more than a batch"
    once_each(exact.values(topic), 1)


@pytest.mark.long
def test_connector_boundary(exact: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testConnectorBoundary: Fibonacci's transactions; an aborted one writes its offsets and nothing else."""
    topic, offsets = create_topic(exact.bootstrap), create_topic(exact.bootstrap, config=COMPACT)
    wanted = [1, 1, 2, 3, 5, 8, 13, 21, 34]
    ends = [sum(wanted[: number + 1]) for number in range(len(wanted))]
    config = monitor.source(topic, max_messages=str(ends[-1])) | REQUIRED | OFFSETS
    rest.create(topic, config | {"offsets.storage.topic": offsets})
    numbers = [number for number in ends if number]
    wait_until(
        lambda: [number for _, number in offsets_in(exact.bootstrap, offsets, topic)] == numbers,
        PATIENCE,
        f"offsets {numbers}",
    )

    (found,) = by_task(exact.values(topic)).values()
    odd = [(end - size, end) for size, end in zip(wanted, ends, strict=True) if size % 2]
    assert found == [number for start, end in odd for number in range(start + 1, end + 1)]
    assert sizes(consume_all(exact.bootstrap, topic)) == [end - start for start, end in odd]


@pytest.mark.long
def test_fenced_leader_recovery(exact: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testFencedLeaderRecovery: who takes the leader's transactional id fences it, for one request."""
    fence = Producer(
        {"bootstrap.servers": exact.bootstrap, "transactional.id": f"connect-cluster-{exact.group}"}
    )
    fence.init_transactions(PATIENCE)
    name = unique("fenced")

    body = {"name": name, "config": monitor.source(name) | REQUIRED}
    answers = [rest.call("POST", "/connectors", body).status_code for _ in range(2)]

    assert answers in ([201, 409], [500, 201], [503, 201]), "it exists, or the second request works"
    rest.runs(name)
    rest.delete(name)


@pytest.mark.long
def test_connector_reconfiguration(exact: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testConnectorReconfiguration: whatever the number of tasks, each one's records come once."""
    topic = create_topic(exact.bootstrap)
    counts = (3, 5, 1, 5, 3)
    for number, tasks in enumerate(counts):
        rest.configure(topic, monitor.source(topic, tasks_max=str(tasks), **ENDLESS) | REQUIRED)
        rest.runs(topic, tasks)
        recorded = list(counts[: number + 1])
        wait_until(
            lambda recorded=recorded: task_counts(exact.bootstrap, exact.topic("configs"), topic) == recorded,  # type: ignore[misc]
            PATIENCE,
            f"task counts {recorded}",
        )
        has(exact, topic, len(exact.values(topic)) + 100)
    rest.delete(topic)

    once_each(exact.values(topic), max(counts))


@pytest.mark.parametrize("how", [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGKILL])
@pytest.mark.row("K26-53")
def test_exactly_once_source(exact: Cluster, rest: Rest, monitor: Monitor, how: signal.Signals) -> None:
    """test_exactly_once_source of kafkatest: workers bounced in good order and by force, no number twice."""
    topic = create_topic(exact.bootstrap)
    rest.create(topic, monitor.source(topic, tasks_max="3", **ENDLESS) | REQUIRED)
    has(exact, topic, 100)
    exact.restart("executor", how)
    wait_until(lambda: len(rest.workers()) == WORKERS, PATIENCE, "every worker is back")
    rest.runs(topic, 3)
    has(exact, topic, len(exact.values(topic)) + 100)
    rest.delete(topic)

    once_each(exact.values(topic), 3)


@pytest.mark.long
def test_potential_deadlock_when_producing_to_offsets_topic(
    exact: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """testPotentialDeadlockWhenProducingToOffsetsTopic: a task that writes there fails and says why."""
    topic = create_topic(exact.bootstrap, config=COMPACT)
    rest.create(topic, monitor.source(topic) | REQUIRED | {"offsets.storage.topic": topic})
    rest.wait(topic, "RUNNING", "FAILED")

    trace = rest.get(f"/connectors/{topic}/status")["tasks"][0]["trace"]
    assert "may not produce to their own offsets topics when exactly-once support is enabled" in trace


@pytest.mark.long
def test_an_offsets_topic_that_forgets_fails_the_task_with_the_remedy(
    exact: Cluster, rest: Rest, monitor: Monitor
) -> None:
    topic, offsets = create_topic(exact.bootstrap), create_topic(exact.bootstrap)
    rest.create(topic, monitor.source(topic) | REQUIRED | {"offsets.storage.topic": offsets})
    rest.wait(topic, "RUNNING", "FAILED")

    trace = rest.get(f"/connectors/{topic}/status")["tasks"][0]["trace"]
    assert f"Topic '{offsets}' supplied via the 'offsets.storage.topic' property" in trace
    assert "'cleanup.policy=compact'" in trace
