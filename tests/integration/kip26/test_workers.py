"""Workers are equal: work is dealt evenly, moves gracefully, any one answers (K26-31 to 37, 42, 57, 81)."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_client.client import CopycatClient
from copycat_client.scheduler import Worker
from copycat_client.statuses import State
from copycat_connect.cluster import Instance, TargetState
from copycat_embedded.ports import free_ports
from copycat_testkit.commands import COPYCAT_WORKER, Commands, wait_gone
from copycat_testkit.kafka import unique
from copycat_testkit.system import CopycatUp, names

from tests.integration.kip26.author.copycat_folders import STARTED
from tests.integration.kip26.test_behaviour import SETTINGS, START
from tests.integration.kip26.world import (
    SECONDS,
    Workers,
    arrived,
    assigned,
    folder_source,
    runs,
    status_of,
    until,
    write_files,
)
from tests.integration.scenarios.rest import Rest
from tests.plain_hosts import on_plain_hosts

pytestmark = pytest.mark.timeout(240)

LIGHT_TASKS = 50
SLOTS = 4


async def listed(cluster: CopycatUp) -> list[dict[str, Any]]:
    """Return the workers as REST lists them."""
    async with httpx2.AsyncClient() as http:
        reply = await http.get(f"{cluster.url}/workers", timeout=30)
    workers: list[dict[str, Any]] = reply.json()
    return workers


async def shares(copycat: CopycatClient) -> tuple[list[int], list[int]]:
    """Return how many connectors and how many tasks each live worker holds, sorted."""
    workers = await copycat.scheduler.workers()
    counts = [Counter(each.task is None for each in worker.held) for worker in workers]
    return sorted(count[True] for count in counts), sorted(count[False] for count in counts)


@pytest.mark.row("K26-33")
async def test_k26_34_four_connectors_of_four_tasks_are_dealt_evenly_to_three_workers(
    copycat: CopycatClient, tmp_path: Path
) -> None:
    write_files(tmp_path, *"abcd")
    names = [unique("even") for _ in range(4)]
    for name in names:
        await copycat.configs.put(name, folder_source(name, tmp_path))
    for name in names:
        await runs(copycat, name, 4)
    assert await shares(copycat) == ([1, 1, 2], [5, 5, 6])
    held = [each for worker in await copycat.scheduler.workers() for each in worker.held]
    assert len(held) == len(set(held))


@pytest.mark.long
async def test_k26_35_and_37_a_worker_that_comes_takes_a_share_and_one_that_leaves_gives_it_back(
    copycat: CopycatClient, kafka: str, more: Workers, tmp_path: Path
) -> None:
    write_files(tmp_path, *"abcdefgh")
    name = unique("moving")
    await copycat.configs.put(name, folder_source(name, tmp_path))
    await runs(copycat, name, 8)
    await arrived(copycat, kafka, name, *"abcdefgh")
    before = await assigned(copycat, name)

    executor, newcomer = more.executor()

    async def balanced() -> bool:
        return (await shares(copycat))[1] == [2, 2, 2, 2]

    await until(balanced, "two tasks on each of four workers")
    await runs(copycat, name, 8)
    joined = await assigned(copycat, name)
    moved = {instance for instance in before if joined[instance].worker_id == newcomer}
    assert moved
    assert all(joined[each] == before[each] for each in before.keys() - moved), "the others never stopped"

    assert await asyncio.to_thread(executor.end) == 0
    await runs(copycat, name, 8)
    assert newcomer not in {each.worker_id for each in (await assigned(copycat, name)).values()}
    await arrived(copycat, kafka, name, *"abcdefgh")


async def test_k875_38_a_stopped_connector_moves_from_a_lost_worker_and_is_never_started(
    copycat: CopycatClient, more: Workers, tmp_path: Path
) -> None:
    write_files(tmp_path, "a")
    executor, newcomer = more.executor()
    await until(lambda: joined(copycat, newcomer), "a worker more")
    names = [unique("stopped") for _ in range(4)]
    for name in names:
        await copycat.configs.put(name, folder_source(name, tmp_path), initial_state=TargetState.STOPPED)
    for name in names:
        await until(lambda: stopped(copycat, name), f"{name} is stopped")  # noqa: B023
    places = [(await assigned(copycat, name))[Instance(name)].worker_id for name in names]
    (moves,) = [name for name, place in zip(names, places, strict=True) if place == newcomer]

    await asyncio.to_thread(executor.end, signal.SIGKILL)

    async def moved() -> bool:
        status = (await status_of(copycat, moves)).status
        return status is not None and (status.worker_id != newcomer, status.state) == (True, State.STOPPED)

    await until(moved, "its status, from another worker")
    assert set(await assigned(copycat, moves)) == {Instance(moves)}, "it has its place, and no tasks"
    assert not (tmp_path / STARTED).exists()


async def joined(copycat: CopycatClient, worker: str) -> bool:
    """Return whether a worker is part of the cluster."""
    return worker in {each.worker_id for each in await copycat.scheduler.workers()}


async def stopped(copycat: CopycatClient, name: str) -> bool:
    """Return whether a connector is stopped where it is assigned."""
    status = (await status_of(copycat, name)).status
    return status is not None and status.state is State.STOPPED


async def test_k26_31_many_light_tasks_share_the_processes_of_their_workers(
    copycat: CopycatClient, cluster: CopycatUp, tmp_path: Path
) -> None:
    write_files(tmp_path, *(f"f{number}" for number in range(LIGHT_TASKS)))
    name = unique("light")
    await copycat.configs.put(name, folder_source(name, tmp_path, tasks=LIGHT_TASKS))
    await runs(copycat, name, LIGHT_TASKS)
    assert len(cluster.processes("host")) <= 3 * (SLOTS + 1)


async def test_k26_42_workers_are_listed_with_all_that_runs_there(
    copycat: CopycatClient, cluster: CopycatUp, tmp_path: Path
) -> None:
    write_files(tmp_path, *"ab")
    name = unique("listed")
    await copycat.configs.put(name, folder_source(name, tmp_path))
    await runs(copycat, name, 2)
    places = {each: place.worker_id for each, place in (await assigned(copycat, name)).items()}

    async def both_tell() -> bool:
        over_rest = {
            Instance(each["connector"], each.get("task")): worker["worker_id"]
            for worker in await listed(cluster)
            for each in worker["held"]
        }
        over_grpc = {
            Instance(each.connector, each.task): worker.worker_id
            for worker in await copycat.scheduler.workers()
            for each in worker.held
        }
        return over_rest == over_grpc == places

    await until(both_tell, "REST and gRPC list what was assigned, and nothing else")
    assert [worker["leaving"] for worker in await listed(cluster)] == [False] * 3


async def offsets_are_changed_through_any(http: httpx2.AsyncClient, urls: list[str], name: str) -> None:
    """Stop the connector, alter and reset its offsets, each through another gateway; all show the same."""

    async def shown(path: str, expected: object) -> bool:
        return [(await http.get(f"{url}/connectors/{name}{path}")).json() for url in urls] == [expected] * 3

    def offsets(lines: int) -> dict[str, object]:
        return {"offsets": [{"partition": {"file": "a.txt"}, "offset": {"lines": lines}}]}

    config = (await http.get(f"{urls[0]}/connectors/{name}/config")).json()
    assert (await http.put(f"{urls[1]}/connectors/{name}/stop")).content == b""
    await until(lambda: shown("/tasks", []), "no tasks")
    await until(lambda: shown("/offsets", offsets(1)), "the offset of the last task")
    altered = await http.patch(f"{urls[2]}/connectors/{name}/offsets", json=offsets(0))
    assert "altered successfully" in altered.json()["message"], altered.text
    assert await shown("/offsets", offsets(0))
    reset = await http.delete(f"{urls[1]}/connectors/{name}/offsets")
    assert "reset successfully" in reset.json()["message"], reset.text
    assert await shown("/offsets", {"offsets": []})
    assert await shown("/config", config)


@pytest.mark.row("K26-80", "K26-85", "K875-17", "K875-34")
async def test_k26_81_each_of_three_gateways_takes_every_call(
    copycat: CopycatClient, cluster: CopycatUp, kafka: str, more: Workers, tmp_path: Path
) -> None:
    write_files(tmp_path, "a")
    urls = [cluster.url, more.gateway(), more.gateway()]
    name = unique("any")
    body = {"name": name, "config": folder_source(name, tmp_path)}
    async with httpx2.AsyncClient(timeout=60) as http:
        created = await http.post(f"{urls[0]}/connectors", json=body)
        assert created.status_code == 201, created.text
        await runs(copycat, name, 1)
        await arrived(copycat, kafka, name, "a")
        for path in ("", "/config", "/status", "/tasks", "/tasks/0", "/tasks/0/status", "/topics"):
            seen = [await http.get(f"{url}/connectors/{name}{path}") for url in urls]
            assert {each.status_code for each in seen} == {200}, path
            assert seen[0].json() == seen[1].json() == seen[2].json()
        restarted = await http.post(f"{urls[1]}/connectors/{name}/tasks/0/restart")
        assert restarted.status_code == 204
        await offsets_are_changed_through_any(http, urls, name)
        assert (await http.delete(f"{urls[2]}/connectors/{name}")).status_code == 204
        gone = [await http.get(f"{url}/connectors/{name}") for url in urls]
    assert [each.status_code for each in gone] == [404] * 3


FILES = "abcdef"
SHARE = 2


def append_everywhere(folder: Path, line: str) -> None:
    """Give each task one more line to copy."""
    for file in FILES:
        with (folder / f"{file}.txt").open("a") as out:
            out.write(f"{file}{line}\n")


def tasks_of(worker: Worker, name: str) -> int:
    return sum(each.connector == name and each.task is not None for each in worker.held)


async def has_its_share(copycat: CopycatClient, worker_id: str, name: str) -> bool:
    """Tell whether a worker takes work and has its tasks; meanwhile nothing is ever held twice."""
    workers = await copycat.scheduler.workers()
    held = Counter(each for worker in workers for each in worker.held)
    assert not [each for each, times in held.items() if times > 1], "on two workers at once"
    return any(
        worker.worker_id == worker_id and not worker.leaving and tasks_of(worker, name) == SHARE
        for worker in workers
    )


@pytest.mark.timeout(300)
@pytest.mark.row("K26-35", "K26-37", "K26-57", "KRETRY-27", "KRETRY-T08")
async def test_workers_restarted_in_turn_get_their_own_tasks_back_and_no_other_task_stops(
    copycat: CopycatClient, cluster: CopycatUp, kafka: str, tmp_path: Path
) -> None:
    write_files(tmp_path, *FILES)
    name, lines = unique("rolling"), list(FILES)
    await copycat.configs.put(name, {**folder_source(name, tmp_path), "exclusive": "true"})
    await runs(copycat, name, len(FILES))
    await arrived(copycat, kafka, name, *lines)
    workers = sorted({each.worker_id for each in (await assigned(copycat, name)).values()})
    assert len(workers) == 3

    for turn, worker_id in enumerate(workers):
        before = await assigned(copycat, name)
        executor = cluster.executor(worker_id)
        executor.terminate()
        await asyncio.to_thread(wait_gone, [executor], SECONDS)
        append_everywhere(tmp_path, str(turn))
        lines += [f"{file}{turn}" for file in FILES]
        await until(partial(has_its_share, copycat, worker_id, name), f"{worker_id} has its tasks")
        await runs(copycat, name, len(FILES))
        await arrived(copycat, kafka, name, *lines)

        after = await assigned(copycat, name)
        assert {instance for instance in before if after[instance] != before[instance]} == {
            instance for instance, each in before.items() if each.worker_id == worker_id
        }, "what was not on this worker was never assigned again"


TOPICS = ("config", "offset", "status", "assignment")
ROLES = ("config", "offset", "status", "scheduler", "executor")


@pytest.mark.timeout(300)
def test_k26_79_the_command_starts_one_worker_and_no_connector(kafka: str, tmp_path: Path) -> None:
    rest, *ports = free_ports(len(ROLES) + 1)
    addresses = {f"{role}.listen": f"127.0.0.1:{port}" for role, port in zip(ROLES, ports, strict=True)}
    known = {f"{key.removesuffix('listen')}addresses": address for key, address in addresses.items()}
    properties = {
        **SETTINGS,
        **names(unique("worker")),
        **{f"{topic}.storage.replication.factor": "1" for topic in TOPICS},
        **addresses,
        **known,
        "bootstrap.servers": kafka,
        "listeners": f"http://127.0.0.1:{rest}",
    }
    file = tmp_path / "worker.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    commands = Commands(tmp_path, on_plain_hosts())

    command = commands.start(file, program=COPYCAT_WORKER)
    copycat = Rest(command.wait_ready(START))

    assert copycat.get("/connectors") == []
    assert copycat.workers() == {addresses["executor.listen"]}
    processes = command.tree()
    assert command.end() == 0
    wait_gone(processes)
