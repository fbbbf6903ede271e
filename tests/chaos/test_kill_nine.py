"""Kill -9 of any one service, host or Spark JVM while lines flow: none is lost (repeats are allowed)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import httpx
import pytest
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp

from tests.chaos.lines import Writer

pytestmark = pytest.mark.timeout(300)

STRING = "org.apache.kafka.connect.storage.StringConverter"
#: An executor ends with its Spark: side by side, the restarts of one would delay those of the other.
ROLES = ("spark", "config", "offset", "status", "scheduler", "gateway", "host", "executor")
KILLS = 3


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CopycatUp]:
    folder = tmp_path_factory.mktemp("chaos")
    with EmbeddedKafka(folder / "kafka") as kafka, CopycatUp(folder / "data", kafka.bootstrap) as up:
        yield up


def create(url: str, name: str, config: dict[str, str]) -> None:
    body = {"name": name, "config": {**config, "key.converter": STRING, "value.converter": STRING}}

    def created() -> bool:
        reply = httpx.post(f"{url}/connectors", json=body, timeout=90)
        assert reply.status_code in (201, 503), reply.text  # 503: the executor was killed a moment ago
        return reply.status_code == 201

    wait_until(created, 90, f"{name} created")


def healthy(url: str) -> bool:
    """Say whether every service answers, so that a test starts from a whole system."""
    try:
        return httpx.get(f"{url}/health", timeout=20).status_code == 200
    except httpx.TransportError:
        return False


def copied(target: Path) -> Counter[str]:
    """Count the whole lines that arrived so far."""
    text = target.read_text() if target.exists() else ""
    return Counter(text[: text.rfind("\n") + 1].splitlines())


def has_lines(target: Path, count: int) -> bool:
    return len(copied(target)) >= count


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.row("K26-27", "K26-28")
def test_no_line_is_lost_when_a_process_is_killed(system: CopycatUp, role: str, tmp_path: Path) -> None:
    topic = unique("chaos")
    source, target = tmp_path / "in.txt", tmp_path / "out.txt"
    source.touch()
    wait_until(lambda: healthy(system.url), 90, "a healthy system")
    create(
        system.url,
        f"{topic}-in",
        {"connector.class": "FileStreamSource", "file": str(source), "topic": topic},
    )
    create(
        system.url,
        f"{topic}-out",
        {"connector.class": "FileStreamSink", "file": str(target), "topics": topic},
    )

    with Writer(source) as writer:
        for _ in range(KILLS):
            goal = len(copied(target)) + 500
            wait_until(partial(has_lines, target, goal), 60, f"{goal} lines")
            wait_until(lambda: system.processes(role), 60, f"{role} runs again")
            system.kill(role)

    expected = set(writer.expected())
    wait_until(lambda: set(copied(target)) >= expected, 90, "every line arrived")
    for name in (f"{topic}-in", f"{topic}-out"):
        wait_until(lambda: healthy(system.url), 90, "a healthy system")
        httpx.delete(f"{system.url}/connectors/{name}", timeout=60).raise_for_status()
    torn = set(copied(target)) - expected
    assert len(torn) <= KILLS, f"a kill may tear the line being written, no more: {torn}"
