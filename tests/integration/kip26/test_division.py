"""Connectors divide the work, watch their systems, divide it anew; REST and gRPC show the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_client.client import CopycatClient
from copycat_client.connectors import Connector
from copycat_client.statuses import State, Status
from copycat_client.watching import Change
from copycat_connect.cluster import Instance, TargetState
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import SourceConnector
from copycat_testkit.conformance import FakeSourceContext
from copycat_testkit.kafka import unique
from copycat_testkit.system import CopycatUp

from tests.integration.kip26.author.copycat_folders import OVERLAP, FolderTask
from tests.integration.kip26.world import (
    arrived,
    assigned,
    folder_source,
    runs,
    status_of,
    task_files,
    until,
    values,
    write_files,
)

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def name() -> str:
    return unique("files")


async def test_k26_20_tasks_run_on_other_workers_than_their_connector(
    copycat: CopycatClient, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a", "b", "c")
    await copycat.configs.put(name, folder_source(name, tmp_path))
    await runs(copycat, name, 3)
    places = await assigned(copycat, name)
    assert {each.worker_id for each in places.values()} - {places[Instance(name)].worker_id}
    assert not hasattr(SourceConnector, "poll")


async def test_k26_22_and_23_a_partition_that_appears_gives_a_task_more_in_one_new_set(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a", "b")
    await copycat.configs.put(name, folder_source(name, tmp_path, tasks=20))
    await runs(copycat, name, 2)
    before = await copycat.configs.get(name)

    write_files(tmp_path, "c")
    await runs(copycat, name, 3)
    await arrived(copycat, kafka, name, "a", "b", "c")
    assert await task_files(copycat, name) == [{"a"}, {"b"}, {"c"}]

    (tmp_path / "no-partition").touch()  # the connector asks again, and divides the work as before
    write_files(tmp_path, "d")
    await runs(copycat, name, 4)
    sets = []
    async with aclosing(copycat.configs.watch(after=before.revision)) as events:
        async for event in events:
            if isinstance(event, Change) and isinstance(event.item, Connector):
                sets.append(len(event.item.tasks))
            if sets[-1:] == [4]:
                break
    assert sets == [3, 4]


async def test_k26_24_work_is_given_as_ranges_nobody_else_understands(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    for server in ("alpha", "mike", "november", "zulu"):
        (tmp_path / f"{server}.txt").write_text("cpu=1\nmemory=2\n")
    config = {
        **folder_source(name, tmp_path),
        "connector.class": "author.RangeSourceConnector",
        "tasks.max": "2",
    }
    await copycat.configs.put(name, config)
    await runs(copycat, name, 2)
    await arrived(copycat, kafka, name, *"11112222")
    connector = (await copycat.configs.get(name)).value
    assert [task["server.range"] for task in connector.tasks] == ["a-m", "n-z"]
    committed = 8  # one partition for each metric of each server

    async def holds() -> bool:
        return len(await copycat.offsets.list_source(name)) == committed

    await until(holds, "an offset for every metric")


async def test_k26_25_and_39_partitions_are_spread_evenly_and_dealt_anew_where_the_tasks_are(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, *"abcdefg")
    await copycat.configs.put(name, folder_source(name, tmp_path, tasks=3))
    await runs(copycat, name, 3)
    assert sorted(map(len, await task_files(copycat, name))) == [2, 2, 3]
    before = await assigned(copycat, name)

    write_files(tmp_path, *"hi")
    await arrived(copycat, kafka, name, *"abcdefghi")
    assert sorted(map(len, await task_files(copycat, name))) == [3, 3, 3]
    await runs(copycat, name, 3)
    assert await assigned(copycat, name) == before


async def test_k26_26_calls_into_one_task_never_overlap(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a")
    await copycat.configs.put(name, folder_source(name, tmp_path))
    lines = ["a"]
    for state in (TargetState.PAUSED, TargetState.STARTED) * 3:  # calls that meet leave a trace
        lines.append(f"a{len(lines)}")
        (tmp_path / "a.txt").write_text("".join(f"{line}\n" for line in lines))
        await copycat.configs.set_target_state(name, state)
        if state is TargetState.STARTED:
            await arrived(copycat, kafka, name, *lines)
    await runs(copycat, name, 1)
    assert await copycat.offsets.list_source(name), "offsets were committed meanwhile"
    assert not (tmp_path / OVERLAP).exists()


def test_k26_26_a_call_that_meets_another_leaves_a_trace(tmp_path: Path) -> None:
    write_files(tmp_path, "a")
    task = FolderTask()
    task.initialize(FakeSourceContext({}))
    task.start(
        {
            "folder": str(tmp_path),
            "topic.prefix": "t.",
            "once": "false",
            "exclusive": "false",
            "files": "a.txt",
        }
    )
    with task._alone(), pytest.raises(ConnectError, match="two calls of one task overlap"):
        task.commit()
    assert (tmp_path / OVERLAP).exists()


async def test_k26_30_a_plugin_of_another_package_is_listed_and_says_how_it_is_configured(
    copycat: CopycatClient, cluster: CopycatUp, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a")
    async with httpx2.AsyncClient(base_url=cluster.url, timeout=60) as http:
        listed = (await http.get("/connector-plugins")).json()
        keys = (await http.get("/connector-plugins/author.FolderSourceConnector/config")).json()
    await copycat.configs.put(name, folder_source(name, tmp_path))

    await arrived(copycat, kafka, name, "a")
    assert {"class": "author.FolderSourceConnector", "type": "source", "version": "0.1"} in listed
    assert {"folder": "Where the files are.", "once": "Whether to end when all is read."}.items() <= {
        key["name"]: key["documentation"] for key in keys
    }.items()


async def test_k26_38_only_a_changed_number_of_tasks_moves_work(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a", "b", "c")
    config = folder_source(name, tmp_path, tasks=2)
    await copycat.configs.put(name, config)
    await runs(copycat, name, 2)
    before = await assigned(copycat, name)

    await copycat.configs.set_target_state(name, TargetState.PAUSED)

    async def paused() -> bool:
        status = await status_of(copycat, name)
        return [each.state for each in status.tasks.values()] == [State.PAUSED] * 2

    await until(paused, "the pause")
    await copycat.configs.set_target_state(name, TargetState.STARTED)
    await runs(copycat, name, 2)
    await copycat.configs.put(name, {**config, "errors.log.enable": "true"})
    await copycat.configs.request_restart(name, include_tasks=True)
    write_files(tmp_path, "d")
    await arrived(copycat, kafka, name, *"abcd")
    await runs(copycat, name, 2)
    assert await assigned(copycat, name) == before

    await copycat.configs.put(name, {**config, "tasks.max": "3"})
    await runs(copycat, name, 3)
    await copycat.configs.put(name, {**config, "tasks.max": "1"})
    await runs(copycat, name, 1)
    assert values(kafka, *await copycat.status.topics(name)) == ["a", "b", "c", "d"]


async def test_k26_84_an_update_reaches_every_task(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a", "b")
    config = folder_source(name, tmp_path)
    await copycat.configs.put(name, config)
    await runs(copycat, name, 2)
    await arrived(copycat, kafka, name, "a", "b")
    await copycat.configs.put(name, {**config, "topic.prefix": f"{name}-new."})

    async def everywhere() -> bool:
        for file in ("a.txt", "b.txt"):
            with (tmp_path / file).open("a") as more:
                more.write("more\n")
        return await copycat.status.topics(name) >= {f"{name}-new.a", f"{name}-new.b"}

    await until(everywhere, "both tasks write to their new topics")
    await runs(copycat, name, 2)


async def test_k26_86_a_deleted_connector_flushes_and_goes_on_when_it_is_made_again(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a")
    await copycat.configs.put(name, folder_source(name, tmp_path))
    await arrived(copycat, kafka, name, "a")
    await copycat.configs.delete(name)

    async def gone() -> bool:
        status = await status_of(copycat, name)
        return status.status is None and not status.tasks and not await assigned(copycat, name)

    await until(gone, "the end of everything of the connector")
    (tmp_path / "a.txt").write_text("a\nb\n")
    await copycat.configs.put(name, folder_source(name, tmp_path))
    await arrived(copycat, kafka, name, "a", "b")


async def test_a_batch_ends_with_no_task_left_and_a_new_partition_begins_the_next(
    copycat: CopycatClient, kafka: str, name: str, tmp_path: Path
) -> None:
    write_files(tmp_path, "a", "b")
    await copycat.configs.put(name, folder_source(name, tmp_path, once="true"))
    await arrived(copycat, kafka, name, "a", "b")
    await runs(copycat, name, 0)
    assert len(await copycat.offsets.list_source(name)) == 2
    write_files(tmp_path, "c")
    await arrived(copycat, kafka, name, "a", "b", "c")
    await runs(copycat, name, 0)


@pytest.fixture
async def http(cluster: CopycatUp) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=cluster.url, timeout=60) as client:
        yield client


async def over_rest(http: httpx2.AsyncClient, name: str) -> dict[str, Any]:
    """Return all that REST says of a connector with one task."""
    paths = {"config": "/config", "tasks": "/tasks", "status": "/status", "task": "/tasks/0/status"}
    return {what: (await http.get(f"/connectors/{name}{path}")).json() for what, path in paths.items()}


def worded(status: Status) -> dict[str, Any]:
    """Return a status as REST words it."""
    assert status.since_ms is not None
    since = datetime.fromtimestamp(status.since_ms / 1000, UTC).isoformat(timespec="milliseconds")
    return {
        **{"state": status.state.name, "worker_id": status.worker_id, "version": status.version},
        **{"since": since.replace("+00:00", "Z"), "generation": status.generation},
        **({"reason": status.reason} if status.reason else {}),
    }


async def over_grpc(copycat: CopycatClient, name: str) -> dict[str, Any]:
    """Return all that the services say of a connector with one task, as REST words it."""
    connector, status = (await copycat.configs.get(name)).value, await copycat.status.get(name)
    assert status.status is not None
    (task,) = status.tasks.values()
    root, shown = worded(status.status), worded(task)
    numbered = {"id": 0, **shown}
    configs = [
        {"id": {"connector": name, "task": index}, "config": dict(config)}
        for index, config in enumerate(connector.tasks)
    ]
    return {
        "config": dict(connector.config),
        "tasks": configs,
        "status": {
            **{"name": name, "connector": root, "tasks": [numbered], "type": "source"},
            "health": {"state": status.health.name.lower()},
        },
        "task": numbered,
    }


async def agree(copycat: CopycatClient, http: httpx2.AsyncClient, name: str, state: State) -> None:
    """Wait until connector and task are in a state, and both interfaces say the same."""

    async def reached() -> bool:
        status = await status_of(copycat, name)
        states = {each.state for each in (status.status, *status.tasks.values()) if each is not None}
        return states == {state} and await over_rest(http, name) == await over_grpc(copycat, name)

    await until(reached, f"REST and gRPC say that {name} is {state.name}")


async def test_k26_41_rest_and_grpc_do_the_same_and_say_the_same(
    copycat: CopycatClient, http: httpx2.AsyncClient, tmp_path: Path
) -> None:
    write_files(tmp_path, "a")
    name = unique("both")
    config = folder_source(name, tmp_path)
    created = await http.post("/connectors", json={"name": name, "config": config})
    assert created.status_code == 201, created.text
    await runs(copycat, name, 1)
    await agree(copycat, http, name, State.RUNNING)

    await copycat.configs.set_target_state(name, TargetState.PAUSED)
    await agree(copycat, http, name, State.PAUSED)
    assert (await http.put(f"/connectors/{name}/resume")).status_code == 202
    await agree(copycat, http, name, State.RUNNING)

    assert not (await copycat.configs.put(name, {**config, "errors.log.enable": "true"})).created
    changed = await http.put(f"/connectors/{name}/config", json=config)
    assert (changed.status_code, changed.json()["config"]) == (200, config)
    await runs(copycat, name, 1)
    await agree(copycat, http, name, State.RUNNING)
    listed = {each.name for each in (await copycat.configs.list()).value}
    assert name in listed
    assert set((await http.get("/connectors")).json()) == listed

    await copycat.configs.delete(name)
    assert (await http.get(f"/connectors/{name}")).status_code == 404
