"""The thread in which Faust's consumer lives: a process that ends does not wait for it."""

from __future__ import annotations

import asyncio

from aiokafka import AIOKafkaConsumer
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer, Transport
from mode.threads import WorkerThread

#: For the thread to end once it was told to; the event loop stands still meanwhile.
END_SECONDS = 1.0
#: Between two looks of the client for partitions to fetch from; every change wakes it at once. It looks each
#: 0.2 s unless told otherwise, for an election in which nothing is ever fetched.
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
        consumer = super()._create_consumer(loop)
        consumer._consumer_timeout = LOOK_SECONDS  # noqa: SLF001 - Faust offers no other way
        return consumer


class _DaemonConsumer(Consumer):
    def _new_consumer_thread(self) -> AIOKafkaConsumerThread:
        return _RestfulThread(self, loop=self.loop, beacon=self.beacon, Worker=_DaemonThread)


class DaemonTransport(Transport):
    """Faust's transport to Kafka with a consumer that never keeps a process from ending."""

    Consumer = _DaemonConsumer
