"""pause, resume, stop, status, restart, tasks and workers: golden answers."""

from __future__ import annotations

import logging

import pytest
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2
from copycat.status.v1 import status_service_pb2 as status_pb
from copycat.types.v1 import types_pb2
from copycat_connect.errors import ConnectError

from tests.contract.gateway.fake_executor import FakeExecutor
from tests.contract.gateway.world import World


async def test_target_states_are_set_and_setting_them_twice_is_fine(cluster: World) -> None:
    cluster.config.has("c", tasks=({"a": "b"},))

    for action, answer, state in (
        ("pause", 202, types_pb2.TARGET_STATE_PAUSED),
        ("resume", 202, types_pb2.TARGET_STATE_STARTED),
        ("stop", 204, types_pb2.TARGET_STATE_STOPPED),
    ):
        for _ in range(2):
            reply = await cluster.rest.put(f"/connectors/c/{action}")

            assert (reply.status_code, reply.content) == (answer, b"")
            assert cluster.config.connectors["c"].target_state == state


async def test_the_target_state_of_an_unknown_connector_is_not_found(cluster: World) -> None:
    for action in ("pause", "resume", "stop"):
        reply = await cluster.rest.put(f"/connectors/nope/{action}")

        assert reply.content == b'{"error_code":404,"message":"Unknown connector nope"}'


async def test_a_status_lists_tasks_by_index_and_traces_only_where_there_are(cluster: World) -> None:
    cluster.config.has("c")
    cluster.status.says("c", "RUNNING")
    for task in (10, 2, 0):
        cluster.status.says("c", "UNASSIGNED", "h2:8083", task=task, trace="")
    cluster.status.says("c", "FAILED", "h2:8083", task=2, trace="boom\n  at x")

    reply = await cluster.rest.get("/connectors/c/status")

    assert reply.content == (
        b'{"name":"c","connector":{"state":"RUNNING","worker_id":"h1:8083","generation":0},"tasks":['
        b'{"id":0,"state":"UNASSIGNED","worker_id":"h2:8083","generation":0},'
        b'{"id":2,"state":"FAILED","worker_id":"h2:8083","trace":"boom\\n  at x","generation":0},'
        b'{"id":10,"state":"UNASSIGNED","worker_id":"h2:8083","generation":0}],"type":"source"}'
    )


async def test_a_status_tells_the_versions_of_the_plugins(cluster: World) -> None:
    cluster.config.has("c")
    cluster.status.says("c", "RUNNING", version="4.4.0")
    cluster.status.says("c", "PAUSED", task=0, version="4.3.2")

    reply = await cluster.rest.get("/connectors/c/status")

    assert reply.json()["connector"]["version"] == "4.4.0"
    assert reply.json()["tasks"] == [
        {"id": 0, "state": "PAUSED", "worker_id": "h1:8083", "version": "4.3.2", "generation": 0}
    ]


async def test_additions_come_after_the_fields_of_kafka_connect(cluster: World) -> None:
    cluster.config.has("c")
    cluster.status.says("c", "RUNNING", version="1", since_ms=1_700_000_000_123, generation=7)
    cluster.status.says("c", "RUNNING", task=0, since_ms=1_700_000_000_000, generation=8, reason="put hangs")
    known = cluster.status.statuses["c"]
    known.health, known.health_reason = status_pb.HEALTH_DEGRADED, "1 of 1 tasks not moving"

    reply = await cluster.rest.get("/connectors/c/status")
    expanded = await cluster.rest.get("/connectors?expand=status")
    task = await cluster.rest.get("/connectors/c/tasks/0/status")

    shown_task = (
        b'{"id":0,"state":"RUNNING","worker_id":"h1:8083","since":"2023-11-14T22:13:20.000Z",'
        b'"generation":8,"reason":"put hangs"}'
    )
    shown = (
        b'{"name":"c","connector":{"state":"RUNNING","worker_id":"h1:8083","version":"1",'
        b'"since":"2023-11-14T22:13:20.123Z","generation":7},"tasks":[' + shown_task + b'],"type":"source",'
        b'"health":{"state":"degraded","reason":"1 of 1 tasks not moving"}}'
    )
    assert reply.content == shown
    assert expanded.content == b'{"c":{"status":' + shown + b"}}"
    assert task.content == shown_task


async def test_the_answer_to_a_restart_has_the_fields_of_kafka_connect_alone(cluster: World) -> None:
    cluster.config.has("c")
    cluster.status.says("c", "RUNNING", since_ms=1, generation=7, reason="none")
    cluster.status.statuses["c"].health = status_pb.HEALTH_HEALTHY

    reply = await cluster.rest.post("/connectors/c/restart?includeTasks=true")

    assert reply.content == (
        b'{"name":"c","connector":{"state":"RESTARTING","worker_id":"h1:8083"},"tasks":[],"type":"source"}'
    )


async def test_a_connector_without_status_is_not_found(cluster: World) -> None:
    cluster.config.has("c")
    cluster.status.says("d", "RUNNING", task=0)

    for name in ("c", "d"):
        reply = await cluster.rest.get(f"/connectors/{name}/status")
        assert reply.status_code == 404
        assert reply.json()["message"] == f"No status found for connector {name}"


async def test_the_status_of_a_task_stands_alone(cluster: World) -> None:
    cluster.status.says("c", "RUNNING", task=0)

    found = await cluster.rest.get("/connectors/c/tasks/0/status")
    missing = await cluster.rest.get("/connectors/c/tasks/1/status")

    assert found.content == b'{"id":0,"state":"RUNNING","worker_id":"h1:8083","generation":0}'
    assert missing.content == b'{"error_code":404,"message":"No status found for task c-1"}'


async def test_a_task_that_is_no_number_is_an_unknown_path(cluster: World) -> None:
    for segment in ("x", "1.0", "99999999999", "0x1", "%20"):
        reply = await cluster.rest.get(f"/connectors/c/tasks/{segment}/status")

        assert reply.content == b'{"error_code":404,"message":"HTTP 404 Not Found"}', segment


async def test_a_plain_restart_runs_on_the_owner(bare: World) -> None:
    bare.config.has("c", tasks=({"a": "b"},))
    await bare.add_worker()
    owner_id, owner = await bare.add_worker()
    owner.runs |= {("c", None), ("c", 0)}
    bare.scheduler.assigns("c", owner_id)
    bare.scheduler.assigns("c", owner_id, task=0)

    connector = await bare.rest.post("/connectors/c/restart")
    task = await bare.rest.post("/connectors/c/tasks/0/restart")

    assert (connector.status_code, connector.content) == (204, b"")
    assert (task.status_code, task.content) == (204, b"")
    assert owner.restarted == [("c", None), ("c", 0)]
    assert bare.config.restarts == []


async def test_a_plain_restart_follows_a_move(bare: World) -> None:
    bare.config.has("c")
    gone, _ = await bare.add_worker()
    former, _ = await bare.add_worker()
    owner_id, owner = await bare.add_worker()
    owner.runs.add(("c", None))
    await bare.open_gateway(rest_worker_wait_ms="10000")

    for listed in (gone, former):
        bare.scheduler.assigns("c", listed)
        if listed == gone:
            await bare.kill_worker(gone)
        restart = bare.rest.post("/connectors/c/restart")
        bare.scheduler.on_next_list(lambda: bare.scheduler.assigns("c", owner_id))
        assert (await restart).status_code == 204


async def test_a_plain_restart_of_what_nobody_runs_conflicts(cluster: World) -> None:
    cluster.config.has("c")

    reply = await cluster.rest.post("/connectors/c/restart")

    assert reply.content == (
        b'{"error_code":409,"message":"Cannot complete request because of a conflicting operation'
        b' (e.g. worker rebalance)"}'
    )


async def test_a_failing_start_is_told(bare: World, worker: tuple[str, FakeExecutor]) -> None:
    worker_id, executor = worker
    bare.config.has("c", tasks=({"a": "b"},))
    executor.runs |= {("c", None), ("c", 0)}
    executor.fails = ConnectError("the plugin said no")
    bare.scheduler.assigns("c", worker_id)
    bare.scheduler.assigns("c", worker_id, task=0)

    connector = await bare.rest.post("/connectors/c/restart")
    task = await bare.rest.post("/connectors/c/tasks/0/restart")

    assert connector.content == b'{"error_code":500,"message":"Failed to start connector: c"}'
    assert task.content == b'{"error_code":500,"message":"Failed to start task: c-0"}'


async def test_restarting_what_does_not_exist_is_not_found(cluster: World) -> None:
    cluster.config.has("c", tasks=({"a": "b"},))

    for path, text in (
        ("/connectors/nope/restart", "Unknown connector: nope"),
        ("/connectors/nope/restart?includeTasks=true", "Unknown connector: nope"),
        ("/connectors/nope/restart?onlyFailed=true", "Unknown connector: nope"),
        ("/connectors/nope/tasks/0/restart", "Unknown connector: nope"),
        ("/connectors/c/tasks/1/restart", "Unknown task: c-1"),
        ("/connectors/c/tasks/-1/restart", "Unknown task: c--1"),
        ("/connectors/c/restart?includeTasks=true", "Status for connector c not found"),
    ):
        reply = await cluster.rest.post(path)
        assert (reply.status_code, reply.json()["message"]) == (404, text), path


async def test_a_restart_with_flags_is_logged_and_shows_its_plan(cluster: World) -> None:
    cluster.config.has("c")
    cluster.status.says("c", "RUNNING")
    cluster.status.says("c", "FAILED", "h2:8083", task=0, trace="boom")
    cluster.status.says("c", "RUNNING", task=1)

    for query, logged, connector, first, second in (
        ("includeTasks=true&onlyFailed=true", (True, True), "RUNNING", "RESTARTING", "RUNNING"),
        ("includeTasks=true&onlyFailed=false", (True, False), "RESTARTING", "RESTARTING", "RESTARTING"),
        ("includeTasks=TRUE", (True, False), "RESTARTING", "RESTARTING", "RESTARTING"),
        ("onlyFailed=true", (False, True), "RUNNING", "FAILED", "RUNNING"),
        ("includeTasks=yes&onlyFailed=true", (False, True), "RUNNING", "FAILED", "RUNNING"),
    ):
        reply = await cluster.rest.post(f"/connectors/c/restart?{query}")

        assert reply.status_code == 202
        assert reply.json() == {
            "name": "c",
            "connector": {"state": connector, "worker_id": "h1:8083"},
            "tasks": [
                {"id": 0, "state": first, "worker_id": "h2:8083", "trace": "boom"},
                {"id": 1, "state": second, "worker_id": "h1:8083"},
            ],
            "type": "source",
        }
        request = cluster.config.restarts[-1]
        assert (request.include_tasks, request.only_failed) == logged


async def test_with_standbys_reads_ask_for_the_gateways_own_writes(cluster: World) -> None:
    await cluster.open_gateway(config_addresses=f"{cluster.address},{cluster.address}")
    cluster.config.has("c")

    await cluster.rest.put("/connectors/c/stop")
    await cluster.rest.get("/connectors/c")

    assert dict(cluster.config.asked_for.next) == {0: cluster.config.position}


async def test_tasks_show_their_raw_configurations(cluster: World) -> None:
    cluster.config.has("c", tasks=({"task.class": "T", "file": "${x:y}"}, {"file": None}))

    tasks = await cluster.rest.get("/connectors/c/tasks")
    one = await cluster.rest.get("/connectors/c/tasks/0")

    assert tasks.content == (
        b'[{"id":{"connector":"c","task":0},"config":{"task.class":"T","file":"${x:y}"}},'
        b'{"id":{"connector":"c","task":1},"config":{"file":null}}]'
    )
    assert one.content == b'{"id":{"connector":"c","task":0},"config":{"task.class":"T","file":"${x:y}"}}'


@pytest.mark.row("K26-85")
async def test_a_task_shows_its_status_once_it_reported(cluster: World) -> None:
    cluster.config.has("c", tasks=({"file": "a"},))
    cluster.status.says("c", "RUNNING", task=0)

    found = await cluster.rest.get("/connectors/c/tasks/0")
    missing = await cluster.rest.get("/connectors/c/tasks/1")

    assert found.content == (
        b'{"id":{"connector":"c","task":0},"config":{"file":"a"},'
        b'"status":{"id":0,"state":"RUNNING","worker_id":"h1:8083","generation":0}}'
    )
    assert missing.content == b'{"error_code":404,"message":"Task c-1 not found"}'


async def test_tasks_config_is_answered_and_called_deprecated(
    cluster: World, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.config.has("c", tasks=({"file": "a"},))

    with caplog.at_level(logging.WARNING):
        reply = await cluster.rest.get("/connectors/c/tasks-config")

    assert reply.content == b'{"c-0":{"file":"a"}}'
    assert len([line for line in caplog.messages if "deprecated" in line]) == 1


async def test_workers_show_what_they_hold(bare: World) -> None:
    held = [
        scheduler_pb2.Held(instance=scheduler_pb2.Instance(connector="c"), generation=7),
        scheduler_pb2.Held(instance=scheduler_pb2.Instance(connector="c", task=0), generation=8),
    ]
    bare.scheduler.workers["w"] = scheduler_pb2.Worker(worker_id="h:1", leaving=True, held=held)

    reply = await bare.rest.get("/workers")

    assert reply.content == (
        b'[{"worker_id":"h:1","leaving":true,"held":[{"connector":"c","generation":7},'
        b'{"connector":"c","task":0,"generation":8}]}]'
    )
