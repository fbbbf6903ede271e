"""Log levels set for the cluster: they reach this worker, its hosts, and hosts that start later."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import partial

import pytest
from copycat.config.v1 import config_service_pb2 as config_pb

from tests.contract.executor import world as worlds
from tests.contract.executor.fake_hosts import FakeHost
from tests.contract.executor.world import World

AUTHOR = "some.author"
LEVELS = ("OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL")
world = partial(worlds.world, connectors=False)


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """Loggers of the process are shared: leave no level behind."""
    yield
    logging.getLogger(AUTHOR).setLevel(logging.NOTSET)


def set_for_cluster(it: World, level: str) -> None:
    change = config_pb.SetLoggerLevelRequest(logger=AUTHOR, level=level)
    it.config.watch.send(config_pb.WatchConnectorsResponse(logger_level=change))


def levels_of(host: FakeHost) -> list[tuple[str, str]]:
    commands = [each.set_level for each in host.commands if each.HasField("set_level")]
    return [(each.logger, each.level) for each in commands]


async def test_every_level_of_kafka_connect_reaches_the_hosts_by_its_own_name() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        for level in (*LEVELS, "nonsense", "WARN"):
            set_for_cluster(it, level)
        expected = [(AUTHOR, level) for level in (*LEVELS, "WARN")]
        await it.until(lambda: len(levels_of(host)) >= len(expected))
        assert levels_of(host) == expected


async def test_a_host_that_starts_later_is_told_the_last_level_that_was_set() -> None:
    async with world() as it:
        await it.run_task()
        first = it.launcher.of("orders-0")
        set_for_cluster(it, "TRACE")
        set_for_cluster(it, "OFF")
        await it.until(lambda: len(levels_of(first)) == 2)
        first.die()
        await it.until(lambda: it.launcher.of("orders-0") is not first)
        await it.until(lambda: levels_of(it.launcher.of("orders-0")) == [(AUTHOR, "OFF")])


async def test_the_executor_itself_follows_the_levels_it_passes_on() -> None:
    async with world() as it:
        await it.run_task()
        seen: list[int] = []
        for level in ("OFF", "TRACE"):
            set_for_cluster(it, level)
            await it.until(lambda: len(levels_of(it.launcher.of("orders-0"))) == len(seen) + 1)
            seen.append(logging.getLogger(AUTHOR).level)
        assert seen == [60, 5]


async def test_the_query_engine_follows_the_levels_before_and_after_it_starts() -> None:
    async with world() as it:
        await it.run_task()
        host = it.launcher.of("orders-0")
        seen: list[str] = []
        for level in ("ERROR", "DEBUG"):
            set_for_cluster(it, level)
            await it.until(lambda: len(levels_of(host)) == len(seen) + 1)
            seen.append(await it.queries.prepare(f"level {AUTHOR}", ""))
        assert seen == ["ERROR", "DEBUG"]
