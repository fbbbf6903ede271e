"""Task configurations: asked of a connector, checked, published; tried again until it works."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.cluster import Config
from copycat_connect.errors import CopycatError
from copycat_connect.retry import RetryPolicy
from copycat_rpc.configs import config_to_proto
from copycat_rpc.errors import code_of

from copycat_executor.background.bell import Bell
from copycat_executor.children.plugin_errors import PluginError
from copycat_executor.connectors.calls import ConnectorCalls
from copycat_executor.connectors.lives import ConnectorLife
from copycat_executor.domain.errors import PluginProcessGoneError
from copycat_executor.domain.task_limit import check_task_count, tasks_max
from copycat_executor.peers.services import Services
from copycat_executor.state.feed import Feed

log = logging.getLogger(__name__)

AGAIN = RetryPolicy(first=0.25, factor=2.0, ceiling=60.0)
#: Refusals that another message of the config service explains; it comes by itself.
OVERTAKEN = frozenset({"connector.stopped", "connector.config_changed", "connector.unknown"})
#: How long our own watch may take to show what we have published, seconds.
ECHO = 2.0


class Publishing:
    """Publishes task sets: all task configurations of a connector, in one call to the config service."""

    def __init__(self, calls: ConnectorCalls, services: Services, feed: Feed, bell: Bell) -> None:
        self._calls = calls
        self._services = services
        self._feed = feed
        self._bell = bell

    async def publish(self, life: ConnectorLife) -> None:
        """Ask and publish; running tasks are not touched by a failure.

        Raises:
            TooManyTasksError: The connector made more than it may; nothing is published.
            PluginHangsError: It did not come back.
        """
        for wait in AGAIN.waits():
            if await self._once(life):
                break
            await asyncio.sleep(wait)
        await self._echoed(life.name)

    async def _once(self, life: ConnectorLife) -> bool:
        """Try once; False to try again."""
        try:
            tasks = await self._calls.task_configs(life, tasks_max(life.config))
        except PluginError as error:
            log.warning("connector %s made no task configurations: %s", life.name, error)
            return False
        except PluginProcessGoneError:
            return False  # until the connector, which is to begin anew, is taken away from here
        self._check(life, tasks)
        try:
            await self._services.config.PutTaskConfigs(
                pb.PutTaskConfigsRequest(
                    connector=life.name,
                    tasks=[config_to_proto(task) for task in tasks],
                    applied_config=config_to_proto(life.config),
                )
            )
        except CopycatError as error:
            if code_of(error).name in OVERTAKEN:
                return True
            log.warning("the tasks of connector %s are not published yet: %s", life.name, error)
            return False
        return True

    def _check(self, life: ConnectorLife, tasks: list[Config]) -> None:
        check_task_count(life.name, life.config, len(tasks))
        if len(tasks) > tasks_max(life.config):
            limit = tasks_max(life.config)
            log.warning("connector %s made %d tasks, more than tasks.max=%d", life.name, len(tasks), limit)

    async def _echoed(self, name: str) -> None:
        """Wait until the watch no longer says that a set is missing, or the same would be published twice."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ECHO):
                rings = self._bell.rings
                while (known := self._feed.connector(name)) and (known.inconsistent or known.outdated):
                    rings = await self._bell.heard(rings)
