"""Author code of connectors that was given up, or that takes memory: it ends, and the others run on."""

from __future__ import annotations

import psutil
import pytest

from tests.contract.executor.world import SOURCE, processes, world

MEGABYTE = 1 << 20


def process() -> psutil.Process:
    """Return the process that the connectors share."""
    return processes()[0]


def rests(process: psutil.Process) -> bool:
    """Tell whether it uses no processor."""
    return process.cpu_percent(0.2) < 20


async def test_code_of_a_deleted_connector_that_computes_is_interrupted_and_its_process_stays() -> None:
    async with world() as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("RUNNING", "orders")
        before = process()
        it.config.put("spins", {**SOURCE, "on.task.configs": "spin"})
        it.scheduler.assign(it.worker, "spins")
        await it.until(lambda: not rests(before), "it spins")
        it.config.delete("spins")
        it.scheduler.remove("spins")
        await it.until(lambda: rests(before), "it was interrupted")
        assert process() == before


async def test_code_of_a_deleted_connector_that_heeds_nothing_ends_with_its_process() -> None:
    async with world() as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("RUNNING", "orders")
        before = process()
        it.config.put("spins", {**SOURCE, "on.task.configs": "spin whatever is raised"})
        it.scheduler.assign(it.worker, "spins")
        await it.until(lambda: not rests(before), "it spins")
        it.config.delete("spins")
        it.scheduler.remove("spins")
        await it.until(lambda: processes() not in ([], [before]), "another process")
        await it.until(lambda: it.status.states("orders") == ["RUNNING", "RUNNING"], "it begins anew")


@pytest.mark.parametrize("call", ["on.start", "on.task.configs"])
async def test_a_connector_that_takes_too_much_memory_fails_alone_and_its_status_says_why(call: str) -> None:
    async with world(properties={"connector.memory.max": str(300 * MEGABYTE)}) as it:
        it.config.put("orders", SOURCE)
        it.scheduler.assign(it.worker, "orders")
        await it.status_is("RUNNING", "orders")
        before = process()
        it.config.put("leaks", {**SOURCE, call: "leak", "errors.restart": "off"})
        it.scheduler.assign(it.worker, "leaks")
        await it.status_is("FAILED", "leaks")
        assert "connector.memory.max allows 300 MB" in it.status.trace("leaks")
        assert (process(), it.status.states("orders")) == (before, ["RUNNING"])
