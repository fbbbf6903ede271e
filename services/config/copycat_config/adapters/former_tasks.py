"""Former tasks of exactly-once sources, fenced in Kafka by whoever their connector's admin client is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.client_overrides import (
    ADMIN_OVERRIDE,
    BOOTSTRAP_SERVERS,
    admin_client,
    check_overrides,
    overrides_of,
)
from copycat_connect.config.delivery import transactional_id
from copycat_connect.config.placeholders import Placeholders
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.fencing import FencingRefusedError, Obstacle, fence_producers

from copycat_config.domain.errors import FencingFailedError

#: A little less than a round may take, so that who asked hears what is in the way.
FENCING_SECONDS: Final = 75.0
_RESTART: Final = "and restart the connector with its tasks"
_REMEDIES: Final[Mapping[Obstacle, str]] = {
    Obstacle.MISSING_RIGHT: (
        "Allow the principal of the admin client (the worker's, that of its admin.*, or that of the "
        "connector's admin.override.*) to WRITE and DESCRIBE the transactional ids {family}*, " + _RESTART
    ),
    Obstacle.WRONG_LOGIN: (
        "Correct admin.override.sasl.jaas.config of the connector, or the worker's sasl.jaas.config or "
        "admin.sasl.jaas.config, " + _RESTART
    ),
    Obstacle.NO_TRANSACTIONS: (
        "The brokers have to be Kafka 0.11 or newer and to allow transactions of 10 s "
        "(transaction.max.timeout.ms): mend them, or set delivery.guarantee=at_least_once, " + _RESTART
    ),
    Obstacle.OTHER: f"Mend what Kafka complains of {_RESTART}",
}


class KafkaFormerTasks:
    """`FormerTasks` on Kafka; what placeholders stand for is kept for the moment of a round only."""

    def __init__(self, worker: Mapping[str, str], group: str, placeholders: Placeholders) -> None:
        """`worker` has the worker's properties as written, `group` is its `group.id`."""
        self._worker = worker
        self._group = group
        self._placeholders = placeholders

    async def fence(self, connector: str, config: Config, tasks: Sequence[int]) -> None:
        """Fence them, as the admin client of the connector."""
        overrides = overrides_of(config, (ADMIN_OVERRIDE,))
        check_overrides(self._worker, overrides)
        written = admin_client(self._worker, overrides)
        client = await asyncio.to_thread(self._placeholders.resolve, written)
        try:
            await fence_producers(
                librdkafka_config(client[BOOTSTRAP_SERVERS], read_security(client)),
                [transactional_id(self._group, connector, task) for task in tasks],
                client_id=f"connector-worker-adminclient-{connector}",
                within=FENCING_SECONDS,
            )
        except FencingRefusedError as refused:
            remedy = _REMEDIES[refused.obstacle].format(family=f"{self._group}-{connector}-")
            raise FencingFailedError(connector, refused.transactional_id, refused.reason, remedy) from None


class NoFormerTasks:
    """`FormerTasks` of a standalone worker: its sources have no transactions, so nothing is left of them."""

    async def fence(self, connector: str, config: Config, tasks: Sequence[int]) -> None:
        """Fence nothing."""
