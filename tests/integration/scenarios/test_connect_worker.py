"""ConnectWorkerIntegrationTest: the life of connectors and tasks on three workers.

Its cases in which brokers or internal topics are away are in `apart/test_connect_worker_outages.py`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import SINK, SOURCE, Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)

TASKS = 4


def trace(rest: Rest, name: str) -> str:
    """Return why a connector failed."""
    return str(rest.get(f"/connectors/{name}/status")["connector"].get("trace", ""))


@pytest.mark.long
def test_add_and_remove_worker(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testAddAndRemoveWorker: a worker joins and leaves, and everything runs all the same."""
    name = unique("workers")
    rest.create(name, monitor.source(name, tasks_max=str(TASKS)))
    rest.runs(name, TASKS)
    there = rest.workers()
    added = cluster.add_workers()
    assert len(rest.workers()) == len(there) + 1
    rest.runs(name, TASKS)
    cluster.remove(added)
    wait_until(lambda: set(rest.placed(name)) <= there, PATIENCE, "nothing is left on the former worker")
    rest.runs(name, TASKS)
    assert rest.workers() == there


@pytest.mark.long
def test_restart_failed_task(rest: Rest, monitor: Monitor) -> None:
    """testRestartFailedTask: a task without brokers fails alone; configured well and restarted it runs."""
    name = unique("task")
    config = monitor.source(name)
    rest.create(name, {**config, "producer.override.bootstrap.servers": "nowhere"})
    rest.wait(name, "RUNNING", "FAILED")
    rest.configure(name, config)
    rest.ok("POST", f"/connectors/{name}/tasks/0/restart")
    rest.runs(name)


def test_task_statuses(rest: Rest, monitor: Monitor) -> None:
    """testTaskStatuses: there are as many statuses as tasks, also when these become fewer."""
    name = unique("statuses")
    for tasks in (1, 5, 3):
        rest.configure(name, monitor.source(name, tasks_max=str(tasks)))
        rest.runs(name, tasks)


@pytest.mark.row(
    "K875-33",
    "K875-35",
    "K875-39",
    "K875-40",
    "K875-T13",
    "K875-T14",
    "K875-T15",
    "K875-T17",
    "K875-T18",
    "K875-T19",
)
def test_pause_stop_resume(rest: Rest, monitor: Monitor) -> None:
    """testPauseStopResume: every way between the states, each asked for twice."""
    name = unique("states")
    rest.create(name, monitor.source(name, tasks_max=str(TASKS)))
    rest.runs(name, TASKS)
    for verb, states in (
        ("stop", ["STOPPED"]),
        ("resume", ["RUNNING"] * (1 + TASKS)),
        ("pause", ["PAUSED"] * (1 + TASKS)),
        ("stop", ["STOPPED"]),
        ("pause", ["PAUSED"]),
        ("resume", ["RUNNING"] * (1 + TASKS)),
    ):
        for _ in range(2):
            rest.ok("PUT", f"/connectors/{name}/{verb}")
            rest.wait(name, *states)
        assert len(rest.get(f"/connectors/{name}/tasks")) == len(states) - 1
        status = rest.call("GET", f"/connectors/{name}/tasks/0/status").status_code
        assert status == (200 if len(states) > 1 else 404)
    rest.delete(name)


@pytest.mark.row("K875-37", "K875-39", "K875-41", "K875-T20", "K875-T21", "K875-T22")
def test_stopped_state(rest: Rest, monitor: Monitor) -> None:
    """testStoppedState: whatever goes wrong, a connector can be stopped, mended and resumed."""
    name = unique("stopped")
    config = monitor.source(name)
    monitor.order("connector start raises")
    rest.create(name, config)
    rest.wait(name, "FAILED")
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.wait(name, "STOPPED")
    monitor.order()
    rest.configure(name, {**config, "max.messages": "1"})
    rest.wait(name, "STOPPED")
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    monitor.order("connector stop raises")
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.wait(name, "STOPPED")
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    rest.delete(name)


def test_tasks_config_deprecation(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testTasksConfigDeprecation: the old resource works, and says in the log that it is deprecated."""
    name = unique("deprecated")
    rest.create(name, monitor.source(name))
    rest.runs(name)
    before = cluster.log("gateway").count("deprecated")
    assert list(rest.get(f"/connectors/{name}/tasks-config")) == [f"{name}-0"]
    wait_until(lambda: cluster.log("gateway").count("deprecated") == before + 1, PATIENCE, "a warning")


def test_create_connector_with_paused_initial_state(rest: Rest, monitor: Monitor) -> None:
    """testCreateConnectorWithPausedInitialState: no task is made before the first resume."""
    name = unique("paused")
    rest.create(name, monitor.source(name, tasks_max=str(TASKS)), "PAUSED")
    rest.wait(name, "PAUSED")
    assert not monitor.entries("start")
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name, TASKS)


@pytest.mark.row("K875-20", "K875-41")
def test_create_source_connector_with_stopped_initial_state_and_modify_offsets(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """testCreateSourceConnectorWithStoppedInitialStateAndModifyOffsets: it begins at the altered offsets."""
    name = unique("source")
    rest.create(name, monitor.source(name, max_messages="10"), "STOPPED")
    rest.wait(name, "STOPPED")
    offsets = [{"partition": {"task.id": f"{name}-0"}, "offset": {"saved": 5}}]
    rest.ok("PATCH", f"/connectors/{name}/offsets", {"offsets": offsets})
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    expected = [f"value-{name}-0-{number}" for number in range(6, 11)]
    wait_until(lambda: cluster.values(name) == expected, PATIENCE, "the second half alone")


@pytest.mark.row("K875-20")
def test_create_sink_connector_with_stopped_initial_state_and_modify_offsets(
    cluster: Cluster, rest: Rest, monitor: Monitor
) -> None:
    """testCreateSinkConnectorWithStoppedInitialStateAndModifyOffsets: it begins at the altered offsets."""
    name = create_topic(cluster.bootstrap)
    produce(cluster.bootstrap, name, [b"%d" % number for number in range(10)])
    rest.create(name, monitor.sink(name), "STOPPED")
    rest.wait(name, "STOPPED")
    partition = {"kafka_topic": name, "kafka_partition": 0}
    rest.ok(
        "PATCH",
        f"/connectors/{name}/offsets",
        {"offsets": [{"partition": partition, "offset": {"kafka_offset": 5}}]},
    )
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name)
    wait_until(lambda: monitor.values() == list("56789"), PATIENCE, "the second half alone")


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
@pytest.mark.row("K875-T16")
def test_delete_connector_created_with_paused_or_stopped_initial_state(
    rest: Rest, monitor: Monitor, state: str
) -> None:
    """testDeleteConnectorCreatedWithPausedOrStoppedInitialState: nothing of it is left."""
    name = unique("gone")
    rest.create(name, monitor.source(name), state)
    rest.wait(name, state)
    rest.delete(name)
    assert name not in rest.get("/connectors")


def test_patch_connector_config(rest: Rest, monitor: Monitor) -> None:
    """testPatchConnectorConfig: one key is changed, one added, one removed, and the others stay."""
    name = unique("patched")
    config = monitor.source(name, tasks_max="2", to_remove="x")
    rest.create(name, config)
    rest.runs(name, 2)
    rest.ok("PATCH", f"/connectors/{name}/config", {"tasks.max": "3", "to.add": "y", "to.remove": None})
    del config["to.remove"]
    expected = {**config, "name": name, "tasks.max": "3", "to.add": "y"}
    assert rest.get(f"/connectors/{name}/config") == expected
    rest.runs(name, 3)


def test_poll_timeout_expiry(rest: Rest, monitor: Monitor) -> None:
    """testPollTimeoutExpiry: a task that does not stop delays its own restart and nothing else.

    In Kafka Connect the worker that waits for it leaves its group for a while and says so; here workers
    have no poll to miss. The task's host is left behind, and the task starts in another one.
    """
    name = unique("hanging")
    rest.create(name, monitor.source(name))
    rest.runs(name)
    there = rest.workers()
    monitor.order("task 0 stop blocks")
    rest.ok("POST", f"/connectors/{name}/tasks/0/restart")
    wait_until(lambda: monitor.counts("start")["task 0"] == 2, PATIENCE, "a second start")
    rest.runs(name)
    assert rest.workers() == there
    monitor.order()


@pytest.mark.row("K26-21")
def test_tasks_max_enforcement(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testTasksMaxEnforcement: more tasks than tasks.max never run, unless that is not enforced."""
    name = unique("many")
    config = monitor.source(name, tasks_max="2", task_count="3")
    rest.create(name, config)
    rest.wait(name, "FAILED")
    assert f"The connector {name} has generated 3 tasks, which is greater than 2" in trace(rest, name)

    tasks = [{"monitor": str(monitor.folder), "index": str(index)} for index in range(3)]
    write_tasks(cluster, name, tasks)
    rest.wait(name, "FAILED", "FAILED", "FAILED", "FAILED")

    rest.configure(name, {**config, "tasks.max.enforce": "false"})
    rest.runs(name, 3)
    rest.configure(name, {**config, "task.count": "2"})
    rest.runs(name, 2)
    rest.configure(name, config)
    rest.wait(name, "FAILED", "RUNNING", "RUNNING")
    for task in range(2):
        rest.ok("POST", f"/connectors/{name}/tasks/{task}/restart")
        rest.wait(name, "FAILED", "RUNNING", "RUNNING")


def write_tasks(cluster: Cluster, name: str, tasks: list[dict[str, str]]) -> None:
    """Write a task set into the config topic, past every check."""
    topic = cluster.topic("configs")
    for index, task in enumerate(tasks):
        value = json.dumps({"properties": task}).encode()
        produce(cluster.bootstrap, topic, [value], key=f"task-{name}-{index}".encode())
    commit = json.dumps({"tasks": len(tasks)}).encode()
    produce(cluster.bootstrap, topic, [commit], key=f"commit-{name}".encode())


def test_compacted_deleted_older_connector_config(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testCompactedDeletedOlderConnectorConfig: tasks of a former connector of that name never run.

    What compaction leaves of a deleted connector are its task records and their commit; they are written
    here as they would be found. Readers that begin later see the same (`tests/laws/test_config_laws.py`).
    """
    name, former = unique("again"), unique("former")
    index = {"index": "0", "name": name, "monitor": str(monitor.folder)}
    write_tasks(cluster, name, [{**index, "topic": former, "task.class": f"{SOURCE}Task"}])
    rest.create(name, monitor.source(name))
    rest.runs(name)
    wait_until(lambda: len(cluster.values(name)) == 10, PATIENCE, "records in the new topic")
    assert cluster.values(former) == []
    assert monitor.counts("start") == {"connector": 1, "task 0": 1}


def test_reconfigure_connector_with_failing_task_configs(
    cluster: Cluster, rest: Rest, monitor: Monitor, tmp_path: Path
) -> None:
    """testReconfigureConnectorWithFailingTaskConfigs: a secret that is gone holds up no successor."""
    name, second = unique("secret"), unique("second")
    secrets = tmp_path / "secrets.properties"
    secrets.write_text(f"topic={name}\n")
    rest.create(name, monitor.source(f"${{file:{secrets}:topic}}"))
    rest.runs(name)
    wait_until(lambda: len(cluster.values(name)) == 10, PATIENCE, "records in the first topic")
    secrets.unlink()
    rest.configure(name, monitor.source(second, max_messages="20"))
    rest.runs(name)
    wait_until(lambda: len(cluster.values(second)) == 10, PATIENCE, "records in the second topic")


def test_runtime_property_reconfiguration(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    """testRuntimePropertyReconfiguration: another converter restarts tasks whose own configuration stays."""
    name = create_topic(cluster.bootstrap)
    produce(cluster.bootstrap, name, [b"not JSON"])
    rest.create(name, monitor.sink(name, value_converter="org.apache.kafka.connect.json.JsonConverter"))
    rest.wait(name, "RUNNING", "FAILED")
    assert rest.get(f"/connectors/{name}/offsets") == {"offsets": []}
    rest.configure(name, monitor.sink(name))
    rest.runs(name)
    partition = {"kafka_topic": name, "kafka_partition": 0}
    expected = {"offsets": [{"partition": partition, "offset": {"kafka_offset": 1}}]}
    wait_until(lambda: rest.get(f"/connectors/{name}/offsets") == expected, PATIENCE, "an offset")


@pytest.mark.parametrize("kind", [SOURCE, SINK])
def test_plugin_aliases(cluster: Cluster, rest: Rest, monitor: Monitor, kind: str) -> None:
    """testPluginAliases: simple names do for every kind of plugin."""
    name = create_topic(cluster.bootstrap)
    own = monitor.source(name) if kind == SOURCE else monitor.sink(name)
    aliases = {
        "connector.class": kind.removeprefix("monitorable.").removesuffix("Connector"),
        "key.converter": "StringConverter",
        "value.converter": "StringConverter",
        "header.converter": "SimpleHeaderConverter",
        "transforms": "filter",
        "transforms.filter.type": "Filter",
        "transforms.filter.predicate": "tombstone",
        "predicates": "tombstone",
        "predicates.tombstone.type": "RecordIsTombstone",
    }
    rest.create(name, {**own, **aliases})
    rest.runs(name)


@pytest.mark.row("K875-36")
def test_a_stop_ends_tasks_with_all_they_hold_and_a_pause_keeps_them(rest: Rest, monitor: Monitor) -> None:
    """What a task holds is its own from its start to its stop, and only STOPPED calls the latter."""
    name = unique("holds")
    rest.create(name, monitor.source(name, tasks_max="2"))
    rest.runs(name, 2)
    rest.ok("PUT", f"/connectors/{name}/pause")
    rest.wait(name, *["PAUSED"] * 3)
    rest.ok("PUT", f"/connectors/{name}/resume")
    rest.runs(name, 2)
    kept = monitor.counts("start"), monitor.counts("stop")
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.wait(name, "STOPPED")
    wait_until(lambda: monitor.counts("stop")["task 1"] == 1, PATIENCE, "the end of both tasks")

    tasks = {"task 0": 1, "task 1": 1}
    assert kept == ({"connector": 2, **tasks}, {"connector": 1})
    assert monitor.counts("stop") == {"connector": 2, **tasks}
