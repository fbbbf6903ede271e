"""The types of connectors: asked of workers, never waited for twice."""

from __future__ import annotations

import asyncio

from copycat_gateway.catalogue import SOURCE, Catalogue
from copycat_gateway.clients import open_services
from copycat_rpc.services import Addresses

from tests.contract.gateway.fake_executor import SOURCE_CLASS, FakeExecutor
from tests.contract.gateway.world import World


async def test_a_worker_that_hangs_delays_no_read(bare: World, worker: tuple[str, FakeExecutor]) -> None:
    addresses = Addresses(*([bare.address] for _ in range(4)))
    async with open_services(addresses) as services:
        catalogue = Catalogue(services.workers, fresh=0.0)
        assert (await catalogue.types())[SOURCE_CLASS] == SOURCE
        worker[1].tells_no_plugins = True
        for _ in range(3):
            assert (await catalogue.types())[SOURCE_CLASS] == SOURCE
        await asyncio.wait_for(worker[1].entered.wait(), 60)


async def test_the_first_read_waits_for_a_worker_to_join(bare: World) -> None:
    addresses = Addresses(*([bare.address] for _ in range(4)))
    async with open_services(addresses) as services:
        reading = asyncio.create_task(Catalogue(services.workers).types())
        await bare.scheduler.asked.wait()
        await bare.add_worker()
        assert (await reading)[SOURCE_CLASS] == SOURCE


async def test_a_worker_that_joins_is_found_by_the_next_read_and_none_waits_again(bare: World) -> None:
    addresses = Addresses(*([bare.address] for _ in range(4)))
    async with open_services(addresses, patience=0.0) as services:
        catalogue = Catalogue(services.workers)
        assert await catalogue.types() == {}
        await bare.add_worker()
        assert (await catalogue.types())[SOURCE_CLASS] == SOURCE
