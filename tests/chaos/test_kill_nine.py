"""Kill -9 of any one service, host or Spark JVM while lines flow: what each guarantee promises is kept.

The source delivers at least once, so a file is compared with the topic that its sink reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx2
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import consume_all, unique, wait_until
from copycat_testkit.system import SERVICES, CopycatUp, names

from tests.chaos.lines import Writer

pytestmark = pytest.mark.timeout(600)

STRING = "org.apache.kafka.connect.storage.StringConverter"
#: An executor ends with its Spark: side by side, the restarts of one would delay those of the other.
ROLES = ("spark", "config", "offset", "status", "scheduler", "gateway", "host", "executor")
KILLS = 3
#: Seconds for an executor to come back with a Spark of its own, on a machine that is busy with other tests.
PATIENCE = 120
GUARANTEES = ("at_least_once", "at_most_once", "exactly_once")


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedKafka(tmp_path_factory.mktemp("chaos") / "kafka") as kafka:
        yield kafka.bootstrap


@pytest.fixture(scope="module")
def system(
    broker: str, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[CopycatUp]:
    """Run a system whose services share a process, or one where each has its own."""
    settings = {**names(unique("chaos")), "services.in.one.process": str(request.param == SERVICES).lower()}
    with CopycatUp(tmp_path_factory.mktemp("chaos") / "data", broker, settings=settings) as up:
        yield up


def create(url: str, name: str, config: dict[str, str]) -> None:
    body = {"name": name, "config": {**config, "key.converter": STRING, "value.converter": STRING}}

    def created() -> bool:
        reply = httpx2.post(f"{url}/connectors", json=body, timeout=90)
        assert reply.status_code in (201, 503), reply.text  # 503: the executor was killed a moment ago
        return reply.status_code == 201

    wait_until(created, 90, f"{name} created")


def stop(url: str, name: str) -> None:
    """Stop a source; one that was killed a moment ago would send again what it had not committed."""
    wait_until(lambda: healthy(url), 90, "a healthy system")
    httpx2.put(f"{url}/connectors/{name}/stop", timeout=60).raise_for_status()

    def stopped() -> bool:
        status = httpx2.get(f"{url}/connectors/{name}/status", timeout=60).json()
        return bool(status["connector"]["state"] == "STOPPED" and not status["tasks"])

    wait_until(stopped, 90, f"{name} has stopped")


def healthy(url: str) -> bool:
    """Say whether every service answers, so that a test starts from a whole system."""
    try:
        return httpx2.get(f"{url}/health", timeout=20).status_code == 200
    except httpx2.TransportError:
        return False


def copied(target: Path) -> Counter[str]:
    """Count the whole lines that arrived so far."""
    text = target.read_text() if target.exists() else ""
    return Counter(text[: text.rfind("\n") + 1].splitlines())


def has_lines(target: Path, count: int) -> bool:
    return len(copied(target)) >= count


def wait_for_lines(url: str, target: Path, count: int) -> None:
    """Wait until so many lines arrived; where they do not, the failure says what the system knows of it."""
    try:
        wait_until(partial(has_lines, target, count), PATIENCE, f"{count} lines in {target.name}")
    except pytest.fail.Exception as missing:
        statuses = httpx2.get(f"{url}/connectors?expand=status", timeout=60).text
        pytest.fail(f"{missing}: it has {copied(target).total()}; {statuses}")


def in_topic(broker: str, topic: str) -> Counter[str]:
    """Count the lines that a topic has."""
    return Counter((message.value() or b"").decode() for message in consume_all(broker, topic))


@pytest.mark.parametrize(
    ("system", "role"),
    [
        *(pytest.param(None, role, marks=pytest.mark.long) for role in ROLES),
        (SERVICES, "host"),
        (SERVICES, SERVICES),
    ],
    indirect=["system"],
)
@pytest.mark.row("K26-05", "K26-27", "K26-28", "K26-46", "K26-50", "K26-51", "K26-52", "K26-55")
def test_each_guarantee_is_kept_when_a_process_is_killed(
    broker: str, system: CopycatUp, role: str, tmp_path: Path
) -> None:
    topic = unique("chaos")
    source, targets = tmp_path / "in.txt", {each: tmp_path / each for each in GUARANTEES}
    source.touch()
    wait_until(lambda: healthy(system.url), 90, "a healthy system")
    create(
        system.url,
        f"{topic}-in",
        {"connector.class": "FileStreamSource", "file": str(source), "topic": topic},
    )
    for guarantee, target in targets.items():
        config = {"connector.class": "FileStreamSink", "file": str(target), "topics": topic}
        create(system.url, f"{topic}-{guarantee}", {**config, "delivery.guarantee": guarantee})
    repeating, missing, exact = targets.values()

    with Writer(source) as writer:
        for _ in range(KILLS):
            goal = min(len(copied(target)) for target in targets.values()) + 500
            for target in targets.values():
                wait_until(partial(has_lines, target, goal), 60, f"{goal} lines in {target.name}")
            wait_until(lambda: system.processes(role), 60, f"{role} runs again")
            system.kill(role)

    expected = set(writer.expected())
    wait_until(lambda: set(copied(repeating)) >= expected, 90, "every line arrived")
    stop(system.url, f"{topic}-in")
    wait_until(lambda: copied(exact) == in_topic(broker, topic), 90, "every record arrived once")
    for name in (f"{topic}-in", *(f"{topic}-{guarantee}" for guarantee in GUARANTEES)):
        wait_until(lambda: healthy(system.url), 90, "a healthy system")
        httpx2.delete(f"{system.url}/connectors/{name}", timeout=60).raise_for_status()
    torn = [line for target in (repeating, missing) for line in set(copied(target)) - expected]
    assert len(torn) <= 2 * KILLS, f"a kill may tear the line being written, no more: {torn}"
    once = Counter({line: count for line, count in copied(missing).items() if line in expected})
    assert not once - in_topic(broker, topic), "a record is never written twice"
    assert copied(exact) == in_topic(broker, topic)
