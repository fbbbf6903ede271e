"""An offsets topic of a connector's own: created when missing, read on from call to call, written to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeVar

from copycat_connect.errors import UnavailableError
from copycat_eventlog.brokers import Brokers
from copycat_eventlog.settings import LogSettings
from copycat_eventlog.topics import ensure_log_topic
from copycat_eventlog.unreadable import LogRecordReader, Unreadable

from copycat_offset.adapters.codec import OffsetCodec
from copycat_offset.adapters.own_topic_clients import (
    OffsetServiceSettings,
    TopicAddress,
    TopicLostError,
    TopicReader,
    TopicWriter,
)
from copycat_offset.domain.events import OffsetEvent
from copycat_offset.domain.evolve import evolve
from copycat_offset.domain.state import OffsetState

T = TypeVar("T")
_CODEC = OffsetCodec()


@dataclass(frozen=True, slots=True)
class Connections:
    """How the clients of a topic connect, in librdkafka's words."""

    producer: OffsetServiceSettings
    consumer: OffsetServiceSettings
    admin: OffsetServiceSettings


class KafkaOwnTopic:
    """`OwnTopic` on Kafka. One thread reads, one writes: brokers that are away hold up nobody else."""

    def __init__(
        self,
        settings: LogSettings,
        connections: Connections,
        isolation: str,
        seconds: float,
        unreadable: Unreadable,
    ) -> None:
        """Nothing is connected before the first call.

        Args:
            settings: The topic, and what it is created with.
            connections: Its clients.
            isolation: `isolation.level` of its reader.
            seconds: How long a read or a write may take.
            unreadable: Counts the records that cannot be read.
        """
        self._settings = settings
        self._connections = connections
        self._isolation = isolation
        self._place = TopicAddress(settings.topic, str(connections.producer["bootstrap.servers"]), seconds)
        self._reading = ThreadPoolExecutor(1, "own-offsets-reader")
        self._writing = ThreadPoolExecutor(1, "own-offsets-writer")
        self._turn = asyncio.Lock()
        self._closed = threading.Event()
        self._ensured = False
        self._reader: TopicReader | None = None
        self._writer: TopicWriter | None = None
        self._state = OffsetState()
        self._records = LogRecordReader(_CODEC, settings.topic, unreadable)

    def turn(self) -> AbstractAsyncContextManager[object]:
        """Keep others out until the end of the block."""
        return self._turn

    async def read(self) -> OffsetState:
        """Return what is in the topic."""
        return await self._run(self._reading, self._read)

    async def write(self, events: Sequence[OffsetEvent]) -> None:
        """Append; returns when it is durable."""
        await self._run(self._writing, lambda: self._write(events))

    async def create(self) -> None:
        """Create the topic if it is missing, for a producer of somebody else."""
        await self._run(self._writing, lambda: self._there(self._ensure))

    async def aclose(self) -> None:
        """Disconnect once what is under way has ended."""
        self._closed.set()
        for pool in (self._reading, self._writing):
            pool.shutdown(wait=False, cancel_futures=True)
        await asyncio.to_thread(self._disconnect)

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        if self._closed.is_set():
            raise UnavailableError(
                f"The clients of the offsets topic {self._settings.topic} were closed; ask again"
            )
        return await asyncio.get_running_loop().run_in_executor(pool, call)

    def _read(self) -> OffsetState:
        return self._there(self._read_on)

    def _write(self, events: Sequence[OffsetEvent]) -> None:
        records = [_CODEC.encode(event) for event in events]

        def write() -> None:
            self._ensure()
            if self._writer is None:
                self._writer = TopicWriter(self._connections.producer, self._place)
            self._writer.write(records)

        self._there(write)

    def _there(self, call: Callable[[], T]) -> T:
        """Call; once more where the topic turns out to be gone, or made anew."""
        try:
            return call()
        except TopicLostError:
            self._ensured = False
        try:
            return call()
        except TopicLostError as error:
            raise self._place.away(str(error)) from error

    def _read_on(self) -> OffsetState:
        self._ensure()
        if self._reader is None:
            self._reader = TopicReader(self._connections.consumer, self._place, self._isolation)
            self._state = OffsetState()
        try:
            for entries in self._reader.read():
                for entry in entries:
                    _, self._state = self._records.step(evolve, self._state, entry)
        except TopicLostError:
            self._reader.close()
            self._reader = None
            raise
        return self._state

    def _ensure(self) -> None:
        if not self._ensured:
            brokers = Brokers(self._connections.admin, self._place.seconds, self._closed)
            ensure_log_topic(brokers, self._settings)
            self._ensured = True

    def _disconnect(self) -> None:
        for pool in (self._reading, self._writing):
            pool.shutdown(wait=True)
        if self._reader is not None:
            self._reader.close()
