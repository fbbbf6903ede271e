"""Workers restarted one after the other stop nobody else's work (K26-35, K26-37, K26-57)."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from copycat_client.client import CopycatClient
from copycat_client.scheduler import Worker
from copycat_testkit.commands import wait_gone
from copycat_testkit.kafka import unique
from copycat_testkit.system import CopycatUp

from tests.integration.kip26.world import SECONDS, arrived, assigned, folder_source, runs, until, write_files

pytestmark = pytest.mark.timeout(300)

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
