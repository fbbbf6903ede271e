"""The fold of a topic: a Faust service around a reader that belongs to no group."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import faust
from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition
from aiokafka.errors import KafkaError
from copycat_connect.errors import UnavailableError
from copycat_telemetry.tracing import TRACEPARENT

from copycat_eventlog.json_text import readable_time
from copycat_eventlog.log import Entry, Fold, Record, Revision
from copycat_eventlog.owner import SILENT_LOGGER, Election
from copycat_eventlog.uncreating import uncreating

#: Between two tries of a question that is asked once in a while.
RETRY_MS = 10
#: Data wakes the reader at once; this only bounds how late it notices that a marker was the last record.
READ_TIMEOUT_MS = 1000
#: Folded between two turns of the event loop once caught up, so that watchers keep pace.
MAX_RECORDS_PER_TURN = 500
MAX_TRACEPARENT_BYTES = 64


class Materialiser(faust.Service):
    """Reads every partition from the beginning, committed records only, and folds them.

    Every instance folds everything: Faust's tables hang on transaction markers and miss what others write.
    """

    logger = SILENT_LOGGER

    def __init__(
        self, client: Mapping[str, Any], topic: str, partitions: int, fold: Fold, *, of: Election
    ) -> None:
        """Build it.

        Args:
            client: The connection part of aiokafka's arguments.
            topic: What to fold.
            partitions: How many there are.
            fold: Takes the records.
            of: Crashes with this service.
        """
        self._client = client
        self._partitions = [TopicPartition(topic, number) for number in range(partitions)]
        self._fold = fold
        self._consumer: Any = None
        self._probe: Any = None
        self._handing_over = False
        self._moved = asyncio.Event()
        self._step: int | None = None
        self.position = Revision.ZERO
        """Everything up to here was folded."""
        super().__init__(beacon=of.app.beacon)

    async def on_start(self) -> None:
        """Connect; reading begins in the background."""
        self._consumer = uncreating(
            AIOKafkaConsumer(
                **self._client,
                group_id=None,
                isolation_level="read_committed",
                enable_auto_commit=False,
                # A log that lost what we folded must not be folded on: crash and start over.
                auto_offset_reset="none",
                fetch_max_wait_ms=5000,
                consumer_timeout_ms=5000,
                max_partition_fetch_bytes=4 * 1024 * 1024,
                metadata_max_age_ms=30_000,
            )
        )
        # Ends as seen by a read_committed reader stop at open transactions: ask as an uncommitted one.
        self._probe = uncreating(AIOKafkaConsumer(**self._client, group_id=None, metadata_max_age_ms=30_000))
        await asyncio.gather(self._consumer.start(), self._probe.start())
        self._consumer.assign(self._partitions)
        await self._consumer.seek_to_beginning(*self._partitions)

    async def on_stop(self) -> None:
        """Close the connections to Kafka."""
        for consumer in (self._consumer, self._probe):
            if consumer is not None:
                await consumer.stop()

    async def end(self) -> Revision:
        """The position after the last record, those of open transactions included.

        Raises:
            UnavailableError: The brokers did not answer.
        """
        return await self._end(self._probe)

    async def readable_end(self) -> Revision:
        """The position up to which committed records can be read: open transactions begin there.

        Raises:
            UnavailableError: The brokers did not answer.
        """
        # The reader's own connection answers only after what it waits for has come. A new one does not know
        # the topic, so the first try of the question fails: the pause before the second delays every claim.
        asking = uncreating(
            AIOKafkaConsumer(
                **self._client, group_id=None, isolation_level="read_committed", retry_backoff_ms=RETRY_MS
            )
        )
        try:
            await asking.start()
            return await self._end(asking)
        except KafkaError as error:
            raise UnavailableError(f"The brokers cannot be reached: {error}") from None
        finally:
            await asking.stop()

    async def reached(self, target: Revision) -> None:
        """Wait until everything up to `target` was folded, markers included.

        Raises:
            UnavailableError: The fold has stopped.
        """
        while not self.position.covers(target):
            if self.should_stop:
                raise UnavailableError("The log is not read any more")
            self._moved.clear()
            try:
                async with asyncio.timeout(0.01):
                    await self._moved.wait()
            except TimeoutError:
                if not self._handing_over:
                    await self._advance(())  # the reader sleeps on when all it got is markers

    def caught_up(self) -> None:
        """From now on fold in small steps."""
        self._step = MAX_RECORDS_PER_TURN

    async def _end(self, consumer: AIOKafkaConsumer) -> Revision:
        try:
            ends = await consumer.end_offsets(self._partitions)
        except KafkaError as error:
            raise UnavailableError(f"The end of the log cannot be asked for: {error}") from None
        return Revision({partition.partition: offset for partition, offset in ends.items()})

    @faust.Service.task
    async def _read(self) -> None:
        # An exception here crashes the service: wanted, a fold with a hole is worthless.
        while not self.should_stop:
            batches = await self._consumer.getmany(timeout_ms=READ_TIMEOUT_MS, max_records=self._step)
            # No await since the client moved its position past these records: see `reached`.
            self._handing_over = True
            await self._advance([record for batch in batches.values() for record in batch])
            self._handing_over = False
            await asyncio.sleep(0)

    async def _advance(self, records: Sequence[ConsumerRecord]) -> None:
        position = {p.partition: await self._consumer.position(p) for p in self._partitions}
        if position == self.position.next:
            return
        self.position = Revision(position)
        # A record without a key is no fact; only a topic that was not always compacted holds any.
        entries = [
            Entry(
                record.partition,
                record.offset,
                Record(record.key, record.value, readable_time(record.timestamp), _traceparent(record)),
            )
            for record in records
            if record.key is not None
        ]
        self._fold(entries, self.position)
        self._moved.set()


def _traceparent(record: ConsumerRecord) -> str:
    """Return the span that led to a record; whatever the header holds, since anybody may write one."""
    for name, value in record.headers:
        if name == TRACEPARENT and value is not None:
            return str(value[:MAX_TRACEPARENT_BYTES], "ascii", "replace")
    return ""
