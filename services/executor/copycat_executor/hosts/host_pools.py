"""The hosts of this executor of both kinds: task hosts, and drivers of Spark."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import Config, Instance
from copycat_connect.config.framework_names import CONNECTOR_CLASS

from copycat_executor.domain.errors import NoDriverError, NoSlotError
from copycat_executor.domain.placement import Isolation
from copycat_executor.hosts.host_pool import HostPool, Residents
from copycat_executor.hosts.launched_host import LaunchedHost

#: Begins the last part of the ids of drivers.
DRIVER: Final = "driver-"
#: A driver starts a JVM, which may take two minutes on a busy machine.
DRIVER_LAUNCH_TIMEOUT_SECONDS: Final = 150.0


class HostPools:
    """Two pools behind one face: a task has its place in the pool of its kind; a host belongs to one."""

    def __init__(self, hosts: HostPool, drivers: HostPool, is_on_spark: Callable[[str], bool]) -> None:
        """`is_on_spark` returns whether Spark moves the records of connectors of a class."""
        self._hosts = hosts
        self._drivers = drivers
        self._both = (hosts, drivers)
        self._is_on_spark = is_on_spark

    def listen(self, residents: Residents) -> None:
        """Have what becomes of hosts heard by `residents`; call it once, before the first task is placed."""
        for pool in self._both:
            pool.listen(residents)

    def attach(self, hello: pb.Hello) -> LaunchedHost:
        """Accept the control stream of a host; raises as `HostPool.attach` does."""
        return self._pool_of(hello.host_id).attach(hello)

    def detached(self, host: LaunchedHost) -> None:
        """A control stream ended; its process follows, by force if need be."""
        self._pool_of(host.host_id).detached(host)

    async def warm(self) -> None:
        """Wait until a spare task host is attached, if any are kept."""
        await self._hosts.warm()

    def needs_driver(self, connector: Config) -> bool:
        """Return whether the task of a connector needs a driver."""
        return self._is_on_spark(connector.get(CONNECTOR_CLASS) or "")

    async def place(
        self, task: Instance, connector: Config, *, alone: bool, foremost: bool
    ) -> LaunchedHost | None:
        """Give a task of a connector a host; see `HostPool.place`. In a driver it is always alone.

        Raises:
            NoSlotError: Every slot is taken by tasks that share with nobody.
            NoDriverError: Every driver is taken.
        """
        if self.needs_driver(connector):
            try:
                return await self._drivers.place(task, Isolation.TASK, alone=False, foremost=False)
            except NoSlotError as error:
                raise NoDriverError(task, error.slots) from error
        return await self._hosts.place(task, Isolation.of(connector), alone=alone, foremost=foremost)

    @property
    def has_all_drivers(self) -> bool:
        """Whether there are as many drivers as there may be."""
        return self._drivers.is_full

    def has_host(self, task: Instance) -> bool:
        """Return whether a task has its place in a host, which may not have attached yet."""
        return any(pool.has_host(task) for pool in self._both)

    def release(self, host: LaunchedHost, task: Instance) -> None:
        """Free the place of a task that has ended."""
        self._pool_of(host.host_id).release(host, task)

    async def abandon(self, host: LaunchedHost, hung: Instance) -> None:
        """End a host in which a task hangs, once its other tasks have left."""
        await self._pool_of(host.host_id).abandon(host, hung)

    def broadcast(self, subject: str, command: pb.AttachResponse) -> None:
        """Send a command to every host, later ones included; it replaces the last of its subject."""
        for pool in self._both:
            pool.broadcast(subject, command)

    def tend(self) -> None:
        """End, leave and launch what is due; called each second."""
        for pool in self._both:
            pool.tend()

    async def watch_shared(self) -> None:
        """End task hosts in which one task holds the others up, for ever; drivers are never shared."""
        await self._hosts.watch_shared()

    async def close(self, seconds: float) -> None:
        """End all hosts, by force after some seconds."""
        await asyncio.gather(*(pool.close(seconds) for pool in self._both))

    def _pool_of(self, host_id: str) -> HostPool:
        return self._drivers if host_id.rpartition("/")[2].startswith(DRIVER) else self._hosts
