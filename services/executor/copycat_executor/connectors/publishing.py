"""Task configurations: a connector is asked for them, they are checked and published."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import Final

from copycat.config.v1 import config_service_pb2 as pb
from copycat_connect.cluster import Config
from copycat_connect.errors import CopycatError
from copycat_connect.failure_kind import FailureKind
from copycat_connect.retry import RetryPolicy
from copycat_rpc.errors import code_of
from copycat_rpc.messages import config_to_proto
from copycat_rpc.services import ServiceStubs

from copycat_executor.background import ChangeSignal
from copycat_executor.children.open_calls import PluginError
from copycat_executor.connectors.connector_calls import ConnectorCalls
from copycat_executor.connectors.connector_lifecycle import ConnectorLifecycle
from copycat_executor.domain.errors import PluginHangsError, TaskLimitError, TooManyTasksError
from copycat_executor.domain.task_limit import (
    asked_tasks,
    check_task_count,
    check_task_limit,
    limit_text,
    tasks_max,
)
from copycat_executor.outbox.until_it_works import until_it_works
from copycat_executor.state.feed import Feed
from copycat_executor.state.runs import ConnectorStart

log = logging.getLogger(__name__)

RETRY: Final = RetryPolicy(first=0.25, factor=2.0, ceiling=60.0)
#: Before it is asked again because it wants that.
SHORTEST_PAUSE_SECONDS: Final = 0.25
#: Refusals that another message of the config service explains; it comes by itself.
OVERTAKEN: Final = frozenset({"connector.stopped", "connector.config_changed", "connector.unknown"})
#: What another attempt would not change.
_FINAL: Final = (TooManyTasksError, TaskLimitError, PluginHangsError)
#: Our own watch may take this long to show what we have published.
PUBLICATION_SEEN_TIMEOUT_SECONDS: Final = 2.0


class Publishing:
    """Publishes task sets: all task configurations of a connector, in one call to the config service."""

    def __init__(
        self,
        calls: ConnectorCalls,
        lifecycle: ConnectorLifecycle,
        services: ServiceStubs,
        feed: Feed,
        changes: ChangeSignal,
        *,
        max_tasks: int,
    ) -> None:
        """`max_tasks` is the most that one connector may have here, whatever its configuration says."""
        self._calls = calls
        self._lifecycle = lifecycle
        self._services = services
        self._feed = feed
        self._changes = changes
        self._max_tasks = max_tasks

    def limited(self, start: ConnectorStart) -> str | None:
        """Return what the connector's status should say of the worker's limit; None without effect."""
        return limit_text(start.config, self._max_tasks)

    async def publish(self, start: ConnectorStart) -> None:
        """Ask and publish, again and again until it works; running tasks are not touched by a failure.

        What fails is reported as the connector's trouble until it works. Where the connector asks to be asked
        again, because what it waited for is there, that is done at once.

        Raises:
            TooManyTasksError: The connector made more than it may; nothing is published.
            TaskLimitError: It made more than this worker allows; nothing is published.
            PluginHangsError: It did not come back.
        """
        await until_it_works(
            partial(self._attempt, start),
            RETRY,
            complaint="the connector's tasks are not published yet",
            log_every_failure=True,
            passes=_passes,
            pause=partial(_pause, start),
        )
        self._lifecycle.divided(start)
        await self._wait_until_seen(start.name)

    async def _attempt(self, start: ConnectorStart) -> None:
        start.reconfigure.clear()
        try:
            await self._publish_once(start)
        except CopycatError as error:
            if _passes(error):
                self._lifecycle.undivided(start, error)
            raise

    async def _publish_once(self, start: ConnectorStart) -> None:
        # A process that is gone is tried as well: the connector, which is to begin anew, is soon taken away.
        tasks = await self._calls.task_configs(start, asked_tasks(start.config, self._max_tasks))
        self._check(start, tasks)
        try:
            await self._services.config.PutTaskConfigs(
                pb.PutTaskConfigsRequest(
                    connector=start.name,
                    tasks=[config_to_proto(task) for task in tasks],
                    applied_config=config_to_proto(start.config),
                )
            )
        except CopycatError as error:
            if code_of(error).name not in OVERTAKEN:
                raise

    def _check(self, start: ConnectorStart, tasks: list[Config]) -> None:
        check_task_count(start.name, start.config, len(tasks))
        check_task_limit(start.name, len(tasks), self._max_tasks)
        if len(tasks) > tasks_max(start.config):
            limit = tasks_max(start.config)
            log.warning("connector %s made %d tasks, more than tasks.max=%d", start.name, len(tasks), limit)

    async def _wait_until_seen(self, name: str) -> None:
        """Wait until the watch no longer says that a set is missing, or the same would be published twice."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PUBLICATION_SEEN_TIMEOUT_SECONDS):
                seen_changes = self._changes.count
                while (known := self._feed.connector(name)) and (known.inconsistent or known.outdated):
                    seen_changes = await self._changes.wait(seen_changes)


async def _pause(start: ConnectorStart, seconds: float) -> None:
    """Wait, but no longer than until the connector asks to be asked again."""
    at_least = min(seconds, SHORTEST_PAUSE_SECONDS)
    await asyncio.sleep(at_least)
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds - at_least):
            await start.reconfigure.wait()


def _passes(error: CopycatError) -> bool:
    """Return whether another attempt may succeed; memory that ran out is for the connector to begin anew."""
    ran_out = isinstance(error, PluginError) and error.kind is FailureKind.RESOURCE
    return not (ran_out or isinstance(error, _FINAL))
