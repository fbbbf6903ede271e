"""connect_test, connect_rest_test and connect_distributed_test of kafkatest: what failed and what is paused.

Every answer of the REST interface is compared with Kafka Connect's, field by field, by `tests/compat/rest`;
here is the thread of a user's first session. Bounces and rolling restarts are in `test_workers.py`,
transformations in `tests/compat`. Kafka's connectors for tests are checked as kafkatest does, by the lines
they print and by their failures: `test_bounce` and `test_restart_failed_*` of connect_distributed_test, and
its helpers `VerifiableSource`, `VerifiableSink` and `MockSink`, whose configurations are those here.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.conftest import WORKERS
from tests.integration.scenarios.monitors import TOLD, LineFile, Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

EXECUTORS = ("executor", "executor-2", "executor-3")


def test_rest_api(rest: Rest, tmp_path: Path) -> None:
    """test_rest_api: list, validate, create, show, change, delete; placeholders are shown as written."""
    secrets = tmp_path / "secrets.properties"
    topic, name = unique("rest"), unique("rest")
    secrets.write_text(f"topic={topic}\n")
    hidden = f"${{file:{secrets}:topic}}"
    read, write = LineFile(tmp_path / "in.txt"), LineFile(tmp_path / "out.txt")
    configs = {f"{name}-source": read.source(hidden), f"{name}-sink": write.sink(hidden)}
    plugins = {plugin["class"].rpartition(".")[2] for plugin in rest.get("/connector-plugins")}
    assert plugins >= {"FileStreamSourceConnector", "FileStreamSinkConnector"}
    for connector, config in configs.items():
        kind = config["connector.class"]
        found = rest.ok("PUT", f"/connector-plugins/{kind}/config/validate", {"name": connector, **config})
        assert found["error_count"] == 0
        rest.create(connector, config)
        again = rest.call("POST", "/connectors", {"name": connector, "config": config})
        assert again.status_code == 409
        rest.runs(connector)
        shown = rest.get(f"/connectors/{connector}")
        task = {"connector": connector, "task": 0}
        assert shown["config"] == {**config, "name": connector}
        assert shown["tasks"] == [task]
        assert rest.get(f"/connectors/{connector}/config") == shown["config"]
        (told,) = rest.get(f"/connectors/{connector}/tasks")
        assert told["id"] == task
        assert told["config"]["task.class"] == f"org.apache.kafka.connect.file.{kind}Task"
        assert (told["config"].get("topic") or told["config"]["topics"]) == hidden
    assert set(rest.get("/connectors")) >= set(configs)
    read.append(["one", "two"])
    write.holds("one", "two")
    for connector, config in configs.items():
        rest.configure(connector, {**config, "errors.log.enable": "true"})
        rest.runs(connector)
        assert topic not in str(rest.get("/connectors?expand=info&expand=status")[connector])
        rest.delete(connector)
    assert not set(rest.get("/connectors")) & set(configs)


@pytest.mark.long
def test_dynamic_logging(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """test_dynamic_logging: levels of one worker, of all of them, until a restart.

    A level of the scope `worker` is that of the process that is asked, a gateway; one of the scope `cluster`
    is also that of every executor and of the connectors and tasks it runs.
    """
    name, logger = unique("logging"), "copycat_monitorable"
    rest.create(name, monitor.source(name, tasks_max="6"))
    rest.runs(name, 6)
    assert rest.get("/admin/loggers")["root"]["last_modified"] is None

    assert rest.ok("PUT", f"/admin/loggers/{logger}", {"level": "INFO"}) == [logger]
    first = rest.get(f"/admin/loggers/{logger}")
    assert first["level"] == "INFO"
    assert rest.ok("PUT", f"/admin/loggers/{logger}", {"level": "INFO"}) == []
    assert rest.get(f"/admin/loggers/{logger}") == first
    assert not any(TOLD in cluster.log(executor) for executor in EXECUTORS)

    assert rest.ok("PUT", f"/admin/loggers/{logger}?scope=cluster", {"level": "DEBUG"}) is None
    second = rest.get(f"/admin/loggers/{logger}")
    assert second["level"] == "DEBUG"
    assert second["last_modified"] > first["last_modified"]
    wait_until(lambda: all(TOLD in cluster.log(each) for each in EXECUTORS), PATIENCE, "words of all tasks")

    rest.ok("PUT", f"/admin/loggers/{logger}?scope=cluster", {"level": "WARN"})
    cluster.restart("gateway")
    assert rest.call("GET", f"/admin/loggers/{logger}").status_code == 404


def test_restart_failed_connector(rest: Rest, monitor: Monitor) -> None:
    """A connector that fails some time after its start is FAILED, its task is not; a restart mends it."""
    name = unique("connector")
    monitor.order("connector watch raises")
    rest.create(name, monitor.source(name))
    rest.wait(name, "FAILED", "RUNNING")
    monitor.order()
    rest.ok("POST", f"/connectors/{name}/restart")
    rest.runs(name)


def with_failed_task(cluster: Cluster, rest: Rest, monitor: Monitor, kind: str) -> str:
    """Create a source or a sink whose task fails in its work, and take the order to fail back."""
    name = create_topic(cluster.bootstrap)
    produce(cluster.bootstrap, name, [b"x"])
    monitor.order("task 0 poll raises", "task 0 put raises")
    rest.create(name, monitor.source(name) if kind == "source" else monitor.sink(name))
    rest.wait(name, "RUNNING", "FAILED")
    monitor.order()
    return name


@pytest.mark.parametrize("kind", ["source", "sink"])
def test_restart_failed_task(cluster: Cluster, rest: Rest, monitor: Monitor, kind: str) -> None:
    """A task that fails in its work is FAILED, its connector is not; a restart mends it."""
    name = with_failed_task(cluster, rest, monitor, kind)
    rest.ok("POST", f"/connectors/{name}/tasks/0/restart")
    rest.runs(name)


def test_restart_connector_and_tasks_failed_connector(rest: Rest, monitor: Monitor) -> None:
    """A failed connector is restarted by a request for what failed."""
    name = unique("connector")
    monitor.order("connector watch raises")
    rest.create(name, monitor.sink(name))
    rest.wait(name, "FAILED", "RUNNING")
    monitor.order()
    rest.ok("POST", f"/connectors/{name}/restart?onlyFailed=true&includeTasks=false")
    rest.runs(name)
    assert monitor.counts("start") == {"connector": 2, "task 0": 1}


@pytest.mark.parametrize("kind", ["source", "sink"])
def test_restart_connector_and_tasks_failed_task(
    cluster: Cluster, rest: Rest, monitor: Monitor, kind: str
) -> None:
    """A failed task is restarted by a request for connector and tasks."""
    name = with_failed_task(cluster, rest, monitor, kind)
    rest.ok("POST", f"/connectors/{name}/restart?onlyFailed=false&includeTasks=true")
    rest.runs(name)


def has_values(cluster: Cluster, topic: str, *values: str) -> bool:
    return cluster.values(topic) == list(values)


def test_pause_and_resume_source(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """A paused source writes nothing, while another one reads the same file; resumed it goes on."""
    name, other = unique("paused"), unique("other")
    file = LineFile(tmp_path / "lines.txt")
    file.append(["before"])
    for each in (name, other):
        rest.create(each, file.source(each))
        wait_until(partial(has_values, cluster, each, "before"), PATIENCE, "a line")
    rest.ok("PUT", f"/connectors/{name}/pause")
    rest.wait(name, "PAUSED", "PAUSED")
    file.append(["while paused"])
    wait_until(lambda: cluster.values(other) == ["before", "while paused"], PATIENCE, "a line elsewhere")
    assert cluster.values(name) == ["before"]
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    wait_until(lambda: cluster.values(name) == ["before", "while paused"], PATIENCE, "the line")


def test_pause_and_resume_sink(cluster: Cluster, rest: Rest, tmp_path: Path) -> None:
    """A paused sink reads nothing, while another one reads the same topic; resumed it goes on."""
    topic = create_topic(cluster.bootstrap)
    paused, other = (LineFile(tmp_path / name) for name in ("paused.txt", "other.txt"))
    names = {unique("sink"): paused, unique("sink"): other}
    produce(cluster.bootstrap, topic, [b"before"])
    for name, file in names.items():
        rest.create(name, file.sink(topic))
        file.holds("before")
    name = next(iter(names))
    rest.ok("PUT", f"/connectors/{name}/pause")
    rest.wait(name, "PAUSED", "PAUSED")
    produce(cluster.bootstrap, topic, [b"while paused"])
    other.holds("before", "while paused")
    assert paused.lines() == ["before"]
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    paused.holds("before", "while paused")


@pytest.mark.parametrize("tolerance", ["all", "none"])
def test_skip_and_log_to_dlq(cluster: Cluster, rest: Rest, tmp_path: Path, tolerance: str) -> None:
    """Tolerated, bad records are in the queue and good ones delivered; else the first ends the task."""
    topic, queue = create_topic(cluster.bootstrap), unique("letters")
    values = [b'"one"', b"{bad", b'"two"', b"worse}", b'"three"']
    produce(cluster.bootstrap, topic, values)
    file = LineFile(tmp_path / "out.txt")
    config = {
        **file.sink(topic),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "errors.tolerance": tolerance,
        "errors.deadletterqueue.topic.name": queue,
        "errors.deadletterqueue.topic.replication.factor": "1",
    }
    rest.create(topic, config)
    if tolerance == "all":
        file.holds("one", "two", "three")
        rest.runs(topic)
        wait_until(lambda: cluster.values(queue) == ["{bad", "worse}"], PATIENCE, "both dead letters")
    else:
        rest.wait(topic, "RUNNING", "FAILED")
        wait_until(lambda: cluster.values(queue) == ["{bad"], PATIENCE, "the first dead letter")
        assert set(file.lines()) <= {"one"}


TOOLS = "org.apache.kafka.connect.tools"
JSON = {f"{side}.converter": "org.apache.kafka.connect.json.JsonConverter" for side in ("key", "value")}
TASKS = 2


def printed(cluster: Cluster, name: str) -> list[dict[str, Any]]:
    """Return what a connector's tasks printed, worker by worker: the JSON that bears its name."""
    found = []
    logs = ("executor", *(f"executor-{number}" for number in range(2, WORKERS + 1)))
    for line in (line for log in logs for line in cluster.log(log).splitlines() if line.startswith("{")):
        try:
            data = json.loads(line)
        except ValueError:
            continue  # the worker's own
        if data.get("name") == name:
            found.append(data)
    return found


def numbers(lines: list[dict[str, Any]], mark: str = "") -> dict[int, list[int]]:
    """Return the numbers of each source task in the order of the lines: those with a mark, or without any."""
    found: dict[int, list[int]] = {task: [] for task in range(TASKS)}
    for line in lines:
        if line.get(mark) if mark else not {"committed", "flushed"} & line.keys():
            found[line["task"]].append(line["seqno"])
    return found


def test_no_number_is_left_out_or_sent_twice_by_a_source_that_is_resumed(
    cluster: Cluster, rest: Rest
) -> None:
    """A source that is stopped and resumed goes on with the next number; the sink flushes them all."""
    topic = create_topic(cluster.bootstrap, partitions=TASKS)
    source, sink = unique("verifiable-source"), unique("verifiable-sink")
    both = {"tasks.max": str(TASKS), **JSON}
    rest.create(
        source,
        {
            "connector.class": f"{TOOLS}.VerifiableSourceConnector",
            "topic": topic,
            "throughput": "100",
            **both,
        },
    )
    rest.create(sink, {"connector.class": f"{TOOLS}.VerifiableSinkConnector", "topics": topic, **both})

    def committed() -> dict[int, list[int]]:
        return numbers(printed(cluster, source), "committed")

    wait_until(lambda: all(committed().values()), PATIENCE, "numbers of both tasks")
    rest.ok("PUT", f"/connectors/{source}/stop")
    rest.wait(source, "STOPPED")
    rest.released(source)
    before = {task: max(found) for task, found in committed().items()}
    rest.ok("PUT", f"/connectors/{source}/resume")
    wait_until(
        lambda: all(max(found) > before[task] + 10 for task, found in committed().items()),
        PATIENCE,
        "numbers that follow",
    )
    rest.ok("PUT", f"/connectors/{source}/stop")
    rest.wait(source, "STOPPED")
    rest.released(source)

    sent, safe = numbers(printed(cluster, source)), committed()
    for task in range(TASKS):
        assert sorted(sent[task]) == list(range(len(sent[task])))
        assert sorted(safe[task]) == sorted(sent[task])

    def flushed() -> dict[int, list[int]]:
        return {
            task: sorted(set(found)) for task, found in numbers(printed(cluster, sink), "flushed").items()
        }

    wait_until(
        lambda: flushed() == {task: sorted(safe[task]) for task in safe}, PATIENCE, "all of them flushed"
    )


@pytest.mark.parametrize(
    ("mode", "states"),
    [("connector-failure", ("FAILED", "RUNNING")), ("task-failure", ("RUNNING", "FAILED"))],
)
def test_a_mock_fails_as_it_is_told(cluster: Cluster, rest: Rest, mode: str, states: tuple[str, str]) -> None:
    """Each mode fails its half of a source, and of a sink whose topic is empty."""
    order = {"mock_mode": mode, "delay_ms": "500", "tasks.max": "1"}
    source, sink = unique("mock-source"), unique("mock-sink")
    rest.create(source, {"connector.class": f"{TOOLS}.MockSourceConnector", **order})
    topic = create_topic(cluster.bootstrap)
    rest.create(sink, {"connector.class": f"{TOOLS}.MockSinkConnector", "topics": topic, **order})
    for name in (source, sink):
        rest.wait(name, *states)
        halves = rest.get(f"/connectors/{name}/status")
        failed = next(each for each in (halves["connector"], *halves["tasks"]) if each["state"] == "FAILED")
        assert f"mock_mode={mode}, delay_ms=500" in failed["trace"]
