"""The thread in which Faust's consumer lives: it rests, and a process that ends does not wait for it."""

from __future__ import annotations

import asyncio

from aiokafka import AIOKafkaConsumer
from faust.transport.consumer import RecordMap
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport
from faust.types import TP
from mode.threads import WorkerThread

from copycat_eventlog.uncreating import uncreating

#: For the thread to end once it was told to; the event loop stands still meanwhile.
END_SECONDS = 1.0
#: Between two looks for records, in an election in which there are none, and the longest wait of a broker for
#: one; every change of the assignment is heard at once all the same. Unless told otherwise the client looks
#: each 0.2 s, Faust asks it each second, and the broker waits 1.5 s.
LOOK_SECONDS = 5.0


class _DaemonThread(WorkerThread):
    """Told to stop while the brokers are away, Faust's own may wait for their answer for minutes."""

    def start(self) -> None:
        """Begin as a thread that nobody waits for."""
        self.daemon = True
        super().start()

    def stop(self) -> None:
        """Wait for its end, but not for ever."""
        self.is_stopped.wait(END_SECONDS)


class _RestfulThread(AIOKafkaConsumerThread):
    def _create_consumer(self, loop: asyncio.AbstractEventLoop) -> AIOKafkaConsumer:
        consumer = uncreating(super()._create_consumer(loop))
        # Faust offers no other way.
        consumer._consumer_timeout = LOOK_SECONDS  # noqa: SLF001
        consumer._fetch_max_wait_ms = int(LOOK_SECONDS * 1000)  # noqa: SLF001
        return consumer

    async def _keepalive2(self) -> None:
        """Do not wake the loop of the process each second, which only tests of Faust need."""


class _RestfulConsumer(Consumer):
    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return _RestfulThread(self, loop=self.loop, beacon=self.beacon, Worker=_DaemonThread)

    async def _getmany(self, active_partitions: set[TP] | None, timeout: float) -> RecordMap:
        """Ask the other thread seldom; it has to be asked, or the member counts as one that hangs."""
        del timeout
        await self.sleep(LOOK_SECONDS)
        return await super()._getmany(active_partitions, 0.0)


class DaemonTransport(Transport):
    """Faust's transport to Kafka with a consumer that never keeps a process from ending."""

    Consumer = _RestfulConsumer
