"""Changes in a topic of their own: written in the background, made anew where somebody deleted it."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from copycat_connect.errors import ConfigError, UnavailableError

from copycat_eventlog.brokers import Brokers
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.json_text import MalformedError
from copycat_eventlog.log import Entry, Record
from copycat_eventlog.past.change import PastChange, read_change, write_change
from copycat_eventlog.past.keeper import Visit
from copycat_eventlog.past.scan import TopicScan
from copycat_eventlog.past.settings import PARTITION_BY_KIND, PARTITIONS, ChangesSettings
from copycat_eventlog.producers import SILENT
from copycat_eventlog.topics import ensure_plain_topic

log = logging.getLogger(__name__)

#: Waiting to be sent; a broker that is away for long costs the changes beyond.
MAX_WAITING: Final = 10_000
SEND_SECONDS: Final = 10.0
CLOSE_SECONDS: Final = 2.0
#: While records wait for their fate, or for their topic, between two looks.
POLL_SECONDS: Final = 0.25
#: Between two looks while none do: a client renews its token within them.
REST_SECONDS: Final = 5.0
#: Between two lines in the log about changes that cannot be kept.
COMPLAINT_SECONDS: Final = 60.0
ENSURE_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A record, and whether it had its second try."""

    record: Record
    partition: int
    tried: bool = False


class KafkaKeeper:
    """The changes topic; a thread of its own makes the topic and sends."""

    def __init__(self, settings: ChangesSettings) -> None:
        """Begin in the background; nobody waits for the topic."""
        self._settings = settings
        connection = librdkafka_config(
            settings.log.bootstrap_servers, read_security(settings.log.client_config)
        )
        self._connection = connection
        self._scan = TopicScan(connection, settings.topic)
        self._waiting: list[_Waiting] = []
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._closing = threading.Event()
        self._missing = True
        self._partitions = 1
        self._complain_from = 0.0
        self._thread = threading.Thread(target=self._run, daemon=True, name="changes")
        self._thread.start()

    def append(self, change: PastChange) -> None:
        """Hand it to the thread."""
        with self._lock:
            full = len(self._waiting) >= MAX_WAITING
            if not full:
                self._waiting.append(_Waiting(write_change(change), PARTITION_BY_KIND[change.kind]))
                self._work.notify()
        if full:
            self._complain("too many wait to be sent")

    async def scan(self, connector: str, kinds: Collection[str], visit: Visit) -> None:
        """Read the partitions of these kinds from their beginning."""
        name = connector.encode()

        def meet(entry: Entry, _time: int) -> None:
            if entry.record.key != name:
                return
            try:
                visit(read_change(entry.record, f"k{entry.partition}.{entry.offset:012d}"))
            except MalformedError:
                return  # not ours: the topic is not fenced, and no reader depends on it

        # A topic that somebody made with fewer partitions has all changes in its first one.
        await self._scan.run(
            meet, {0, *(PARTITION_BY_KIND[kind] for kind in kinds if kind in PARTITION_BY_KIND)}
        )

    async def close(self) -> None:
        """Give what waits a moment to be sent."""
        with self._work:
            self._closing.set()
            self._work.notify()
        await asyncio.to_thread(self._thread.join, CLOSE_SECONDS + POLL_SECONDS * 2)

    def _run(self) -> None:
        producer: Producer | None = None
        while not self._closing.is_set():
            self._rest(producer)
            if self._missing and self._waiting_to_send():
                # A client that has met a topic's end goes on believing in it for long: begin with a new one.
                producer = self._replaced(producer) if self._ensured() else producer
            if producer is None or self._missing:
                self._closing.wait(POLL_SECONDS)  # before the topic is looked for again
            else:
                self._send(producer)
            if producer is not None:
                producer.poll(POLL_SECONDS if len(producer) else 0)
        if producer is not None:
            self._send(producer)
            producer.flush(CLOSE_SECONDS)
            producer.purge(blocking=False)

    def _rest(self, producer: Producer | None) -> None:
        """Wait while there is nothing to send, and no fate of what was sent to hear of."""
        if producer is not None and len(producer):
            return
        with self._work:
            self._work.wait_for(lambda: self._waiting or self._closing.is_set(), REST_SECONDS)

    def _replaced(self, old: Producer | None) -> Producer | None:
        """Return a new client; what the old one still has is sent again."""
        if old is not None:
            old.purge()
            old.poll(0)
        return self._connect()

    def _connect(self) -> Producer | None:
        config = {
            **self._connection,
            "client.id": f"copycat-changes-{self._settings.service}",
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 20,
            "message.timeout.ms": int(SEND_SECONDS * 1000),
            "topic.metadata.propagation.max.ms": int(SEND_SECONDS * 500),
            "queue.buffering.max.messages": MAX_WAITING,
        }
        try:
            producer = Producer(config, logger=SILENT)
        except KafkaException as error:  # a setting that cannot be followed; the service's log says so
            self._complain(error.args[0].str())
            return None
        self._missing = False
        return producer

    def _waiting_to_send(self) -> bool:
        with self._lock:
            return bool(self._waiting)

    def _ensured(self) -> bool:
        """Make the topic where it is missing; returns whether it is there."""
        settings = self._settings
        brokers = Brokers(self._connection, ENSURE_SECONDS, self._closing)
        try:
            self._partitions = ensure_plain_topic(
                brokers,
                settings.log,
                settings.topic,
                PARTITIONS,
                settings.topic_configs,
                use="the history of changes",
            )
        except (UnavailableError, ConfigError) as error:
            self._complain(str(error))
            return False
        return True

    def _send(self, producer: Producer) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for each in waiting:
            try:
                producer.produce(
                    self._settings.topic,
                    key=each.record.key,
                    value=each.record.value,
                    partition=each.partition if each.partition < self._partitions else 0,
                    on_delivery=partial(self._delivered, each),
                )
            except (KafkaException, BufferError) as error:
                self._complain(str(error))

    def _delivered(self, sent: _Waiting, error: KafkaError | None, message: Message) -> None:
        del message
        if error is None:
            return
        self._missing = True  # it may have been deleted: look, and make it anew
        if sent.tried:
            self._complain(error.str())
            return
        with self._lock:
            self._waiting.append(_Waiting(sent.record, sent.partition, tried=True))

    def _complain(self, why: str) -> None:
        now = time.monotonic()
        if now >= self._complain_from:
            self._complain_from = now + COMPLAINT_SECONDS
            log.warning(
                "changes cannot be kept in topic %s, so the history will lack some: %s",
                *(self._settings.topic, why),
            )
