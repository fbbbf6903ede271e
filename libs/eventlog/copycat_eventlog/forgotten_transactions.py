"""End transactions that the brokers have forgotten: no word of a producer and no time-out ends them any more.

A broker that stops may note a transaction as committed and write no marker into partitions of which it holds
the only replica: who reads committed records waits there for ever. `tools/adr/0065-forgotten-transactions.md`
says how that comes about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final, Protocol

from aiokafka.client import AIOKafkaClient, ConnectionGroup, CoordinationType
from aiokafka.errors import KafkaError, for_code
from aiokafka.protocol.transaction import AddPartitionsToTxnRequest, EndTxnRequest, InitProducerIdRequest
from copycat_connect.errors import UnavailableError

from copycat_eventlog.log import Revision

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


async def still_open(ends: Ends, second_look: float = SECOND_LOOK_SECONDS) -> Collection[int]:
    """Return the partitions in which a transaction is open now and `second_look` seconds later.

    Raises:
        UnavailableError: The brokers did not answer.
    """
    end = await ends.end()
    before = (await ends.readable_end()).behind(end)
    if not before:
        return ()
    await asyncio.sleep(second_look)
    after = (await ends.readable_end()).behind(end)
    return [partition for partition, offset in after.items() if before.get(partition) == offset]


async def commit_forgotten(
    client: Mapping[str, Any], transactional_id: str, topic: str, partitions: Collection[int]
) -> None:
    """Write a commit marker of a transactional id into partitions, which ends what the id has open there.

    It is a transaction without a record. It commits, since the brokers had taken the forgotten one for done:
    its writer may have been told so. Fences every producer of the id. Where nothing of the id is open, the
    marker changes nothing.

    Raises:
        UnavailableError: It was not done; asking again does no harm.
    """
    try:
        kafka = AIOKafkaClient(**client, request_timeout_ms=ANSWER_TIMEOUT_MS)
        try:
            await kafka.bootstrap()
            await _commit_nothing(kafka, transactional_id, topic, sorted(partitions))
        finally:
            await kafka.close()
    except KafkaError as error:
        message = f"A transaction of {transactional_id} that is open in {topic} could not be ended: {error!r}"
        raise UnavailableError(message) from None


async def _commit_nothing(
    kafka: AIOKafkaClient, transactional_id: str, topic: str, partitions: list[int]
) -> None:
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
