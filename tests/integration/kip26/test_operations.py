"""One operations interface behind REST and gRPC: what one does the other shows (K26-41, K26-93)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_client.client import CopycatClient
from copycat_client.statuses import State, Status
from copycat_connect.cluster import TargetState
from copycat_testkit.kafka import unique
from copycat_testkit.system import CopycatUp

from tests.integration.kip26.world import folder_source, runs, status_of, until, write_files

pytestmark = pytest.mark.timeout(240)


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
