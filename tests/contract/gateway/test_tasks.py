"""Tasks, their configurations, workers: golden answers."""

from __future__ import annotations

import logging

import pytest
from copycat.scheduler.v1 import scheduler_service_pb2 as scheduler_pb2

from tests.contract.gateway.world import World


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
