"""End transactions that the brokers have forgotten: no word of a producer and no time-out ends them any more.

A broker that stops may note a transaction as committed and write no marker into partitions of which it holds
the only replica: who reads committed records waits there for ever.
`tools/adr/0065-leaders-end-forgotten-transactions.md` says how that comes about.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, Protocol

from aiokafka.client import AIOKafkaClient, ConnectionGroup, CoordinationType
from aiokafka.errors import KafkaError, for_code
from aiokafka.protocol.transaction import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest
from copycat_connect.errors import UnavailableError
from copycat_telemetry.changes import log_change

from copycat_eventlog.log import Revision
from copycat_eventlog.uncreating import UncreatingClient

log = logging.getLogger(__name__)

#: Between two looks: markers of a transaction that has just ended are written within milliseconds.
SECOND_LOOK_SECONDS: Final = 2.0
ANSWER_TIMEOUT_MS: Final = 5000
#: Of the transaction that ends the others, which is committed at once.
TRANSACTION_TIMEOUT_MS: Final = 10_000


class Ends(Protocol):
    """Asks the brokers for the end of every partition of a log."""

    async def end(self) -> Revision:
        """The position after the last record, those of open transactions included."""
        ...

    async def readable_end(self) -> Revision:
        """The position up to which committed records can be read."""
        ...


async def still_open(ends: Ends, second_look: float = SECOND_LOOK_SECONDS) -> list[int]:
    """Return the partitions in which a transaction is open now and `second_look` seconds later.

    Raises:
        UnavailableError: The brokers did not answer.
    """
    end = await ends.end()
    before = (await ends.readable_end()).behind(end)
    if not before:
        return []
    await asyncio.sleep(second_look)
    after = (await ends.readable_end()).behind(end)
    return [partition for partition, offset in after.items() if before.get(partition) == offset]


async def end_forgotten(ends: Ends, client: Mapping[str, Any], transactional_id: str, topic: str) -> bool:
    """Write a commit marker of an id wherever a transaction is open, which ends what the id began.

    It commits, since the brokers had taken the forgotten one for done: its writer may have been answered so.
    Where what is open is another id's, the marker changes nothing.

    Args:
        ends: Of the topic.
        client: The connection part of aiokafka's arguments.
        transactional_id: The id; nothing that its coordinator knows of may be open.
        topic: The topic.

    Returns:
        Whether it wrote any, which fences every producer of the id.

    Raises:
        UnavailableError: It was not done; asking again does no harm.
    """
    partitions = await still_open(ends)
    if partitions:
        await _commit(client, transactional_id, topic, partitions)
        log_change(
            log,
            "a transaction that the brokers had forgotten is ended, unless another program has it open",
            logging.WARNING,
            topic=topic,
            partitions=", ".join(map(str, partitions)),
        )
    return bool(partitions)


async def _commit(
    client: Mapping[str, Any], transactional_id: str, topic: str, partitions: list[int]
) -> None:
    try:
        kafka = UncreatingClient(**client, request_timeout_ms=ANSWER_TIMEOUT_MS)
        try:
            await kafka.bootstrap()
            await _commit_nothing(kafka, transactional_id, topic, partitions)
        finally:
            await kafka.close()
    except KafkaError as error:
        raise UnavailableError(
            f"A transaction of {transactional_id} that is open in {topic} could not be ended: {error!r}"
        ) from None


async def _commit_nothing(
    kafka: AIOKafkaClient, transactional_id: str, topic: str, partitions: list[int]
) -> None:
    """Commit a transaction that has these partitions and no record: neither client library offers that."""
    coordinator = await kafka.coordinator_lookup(CoordinationType.TRANSACTION, transactional_id)
    ask = partial(kafka.send, coordinator, group=ConnectionGroup.COORDINATION)
    begun = await ask(InitProducerIdRequest(transactional_id, TRANSACTION_TIMEOUT_MS))
    _check(begun.error_code)
    producer = (transactional_id, begun.producer_id, begun.producer_epoch)
    added = await ask(AddPartitionsToTxnRequest(*producer, [(topic, partitions)]))
    for _, errors in added.errors:
        for _, code in errors:
            _check(code)
    ended = await ask(EndTxnRequest(*producer, transaction_result=True))
    _check(ended.error_code)


def _check(code: int) -> None:
    if code:
        raise for_code(code)
