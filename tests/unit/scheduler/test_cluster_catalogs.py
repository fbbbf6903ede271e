"""Sinks of several clusters: each is read by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from copycat_connect.cluster import TopicPartition
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import ConfigError
from copycat_scheduler.adapters.clusters import ClusterCatalogs
from copycat_scheduler.domain.partitions import Subscription

HOME = Subscription(frozenset({"t"}))
AWAY = Subscription(frozenset({"t"}), cluster=(("bootstrap.servers", "away:1"),))
SILENT = Subscription(frozenset({"t"}), cluster=(("bootstrap.servers", "silent:1"),))


class Topics:
    """The topics of one cluster; a silent one never answers."""

    def __init__(self, partitions: int, *, silent: bool = False) -> None:
        self.partitions = partitions
        self.silent = silent
        self.closed = False

    async def read(self) -> Mapping[str, int]:
        if self.silent:
            await asyncio.Event().wait()
        return {"t": self.partitions}

    def close(self) -> None:
        self.closed = True


class World:
    """Clusters by their brokers, and the catalogs of them."""

    def __init__(self) -> None:
        self.home = Topics(1)
        self.others = {"away:1": Topics(2), "silent:1": Topics(3, silent=True)}
        self.changed = asyncio.Event()
        self.catalogs = ClusterCatalogs(self.home.read, self._open, Placeholders({}), 0.01, self.changed.set)

    def _open(self, client: Mapping[str, str]) -> Any:
        if client["bootstrap.servers"] not in self.others:
            raise ConfigError("there is no such cluster")
        return self.others[client["bootstrap.servers"]]

    async def known(self, subscription: Subscription, partitions: int) -> None:
        expected = tuple(TopicPartition("t", index) for index in range(partitions))
        async with asyncio.timeout(60):
            while self.catalogs.partitions(subscription) != expected:
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    it = World()
    running = asyncio.create_task(it.catalogs.run())
    try:
        yield it
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_a_sink_of_another_cluster_has_the_partitions_that_are_there() -> None:
    async with world() as it:
        it.catalogs.want({HOME, AWAY})
        await it.known(HOME, 1)
        await it.known(AWAY, 2)


async def test_a_silent_cluster_holds_up_nobody_else() -> None:
    async with world() as it:
        it.catalogs.want({SILENT, HOME, AWAY})
        await it.known(HOME, 1)
        await it.known(AWAY, 2)
        assert it.catalogs.partitions(SILENT) is None


async def test_a_cluster_without_sinks_is_let_go_and_taken_up_again() -> None:
    async with world() as it:
        it.catalogs.want({HOME, AWAY})
        await it.known(AWAY, 2)
        it.catalogs.want({HOME})
        async with asyncio.timeout(60):
            while not it.others["away:1"].closed:  # noqa: ASYNC110 - nobody reports it
                await asyncio.sleep(0.001)
        assert it.catalogs.partitions(AWAY) is None
        it.catalogs.want(set())
        it.catalogs.want({HOME, AWAY})
        await it.known(HOME, 1)
        await it.known(AWAY, 2)


async def test_a_client_that_cannot_be_made_is_no_harm_to_others() -> None:
    nowhere = Subscription(frozenset({"t"}), cluster=(("bootstrap.servers", "nowhere:1"),))
    async with world() as it:
        it.catalogs.want({nowhere, HOME})
        await it.known(HOME, 1)
        assert it.catalogs.partitions(nowhere) is None
