"""ExactlyOnceSourceIntegrationTest, and test_exactly_once_source of kafkatest.

Its cases of another cluster for offsets and of missing rights are in `test_separate_offsets_topic.py` and
`tests/integration/guarded/test_fencing_rights.py`.

Two workers on which every source delivers exactly once, and offsets are flushed every ten minutes: so a
transaction ends where its boundary is.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import pairwise

import pytest
from confluent_kafka import Producer
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

from tests.integration.scenarios.apart.transactions import by_task, offsets_in, once_each, sizes, task_counts
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest
from tests.integration.scenarios.validation import SOURCE_CONFIG, errors

pytestmark = pytest.mark.timeout(300)

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
