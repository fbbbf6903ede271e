"""small.yaml: a cluster for one connector, within limits of its own, beside another one on the same Kafka."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from copycat_testkit.kafka import wait_until

from tests.e2e.compose.project import COMPOSE, SECONDS, Project, project, workers
from tools.containers.compose import Shell, command_above
from tools.containers.engine import Engine

pytestmark = pytest.mark.timeout(1800, func_only=True)

FIRST, SMALL = COMPOSE / "compose.yaml", COMPOSE / "small.yaml"
OWN: Final = ("small", "small-executor")
MEGABYTES: Final = {"m": 1 << 20, "g": 1 << 30}
#: One connector of four tasks.
NUMBERS: Final = {
    "connector.class": "DatagenSource",
    "tasks.max": "4",
    "streams": "4",
    "topic": "numbers",
    "fields": json.dumps([{"name": "id", "type": "sequence", "start": 1}]),
    "throughput": "5",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
}
LINES: Final = {"connector.class": "FileStreamSource", "tasks.max": "1", "file": "/data/lines.txt"}


@pytest.fixture(scope="module")
def both(built: Engine) -> Iterator[Project]:
    with project(built, "copycat-e2e-small") as made:
        made.shell.type("export COPYCAT_CLUSTER_SECRET=$(openssl rand -hex 32)")
        made.shell.type(f"{command_above(FIRST)} --scale executor-2=0")
        made.beside.type("export COPYCAT_CLUSTER_SECRET=$(openssl rand -hex 32)")
        made.beside.type(command_above(SMALL))
        wait_until(lambda: made.healthy("gateway", "executor-1", *OWN), SECONDS, "both clusters are healthy")
        yield made


def apply(shell: Shell, folder: Path, name: str, config: Mapping[str, str]) -> None:
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"name": name, "config": dict(config)}))
    shell.type(f"copycat apply {file}")


def limits(service: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return what a compose file grants a service: bytes of memory, billionths of a CPU, processes."""
    size = service["mem_limit"]
    return int(size[:-1]) * MEGABYTES[size[-1]], int(service["cpus"] * 10**9), service["pids_limit"]


def position(shell: Shell) -> int:
    """Return how far a cluster has read the file; 0 where it knows of nothing."""
    found = (shell.get("/connectors/lines/offsets") or {"offsets": []})["offsets"]
    return sum(each["offset"]["position"] for each in found)


@pytest.mark.row("K26-58")
def test_tasks_balance_inside_a_cluster_whose_containers_have_the_limits_of_the_file(
    both: Project, tmp_path: Path
) -> None:
    cluster = both.beside
    apply(cluster, tmp_path, "numbers", NUMBERS)

    def balanced() -> bool:
        held = Counter(workers(cluster, 5))
        return set(held) == set(OWN) and min(held.values()) == 2

    wait_until(balanced, SECONDS, "both containers of the small cluster have tasks")
    both.containers()["small-executor"].kill()
    wait_until(lambda: set(workers(cluster, 5)) == {"small"}, SECONDS, "all work is on the other one")
    both.containers()["small-executor"].start()
    wait_until(balanced, SECONDS, "the work is balanced again")

    declared = yaml.safe_load(SMALL.read_text("utf-8"))["services"]
    for name in OWN:
        given, state = both.containers()[name].attrs["HostConfig"], both.containers()[name].attrs["State"]
        assert (given["Memory"], given["NanoCpus"], given["PidsLimit"]) == limits(declared[name])
        assert not state["OOMKilled"]
    cluster.type("copycat delete numbers --yes")


@pytest.mark.row("K26-58")
def test_connectors_of_one_name_in_two_clusters_on_one_kafka_know_nothing_of_each_other(
    both: Project, tmp_path: Path
) -> None:
    first, second = both.shell, both.beside
    both.runs("executor-1", "sh", "-c", "echo one > /data/lines.txt")
    for cluster, topic in ((first, "first"), (second, "second")):
        apply(cluster, tmp_path, "lines", {**LINES, "topic": topic})

    def each_has(topics: Mapping[str, list[str]]) -> bool:
        return all(both.records("small", topic) == lines for topic, lines in topics.items())

    wait_until(lambda: each_has({"first": ["one"], "second": ["one"]}), SECONDS, "each has read the file")
    wait_until(lambda: position(first) == position(second) == 4, SECONDS, "each has committed its offset")
    assert {each["worker_id"].partition(":")[0] for each in first.get("/workers")} == {"executor-1"}
    assert {each["worker_id"].partition(":")[0] for each in second.get("/workers")} == set(OWN)

    first.type("copycat stop lines")
    first.type("copycat status lines --wait-for STOPPED")
    first.type("copycat offsets reset lines --yes")
    assert (position(first), position(second)) == (0, 4)
    first.type("copycat delete lines --yes")
    both.runs("executor-1", "sh", "-c", "echo two >> /data/lines.txt")
    wait_until(
        lambda: each_has({"first": ["one"], "second": ["one", "two"]}),
        SECONDS,
        "the one that is left reads on from its own offset",
    )
    assert workers(second, 2)
    second.type("copycat delete lines --yes")
