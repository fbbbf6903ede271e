"""Notice within seconds that the topic of a log is gone, or is another one than was folded.

Kafka distinguishes a recreated topic from the former one by its id alone: positions in it may well exist, so
that a reader notices nothing, or stands beyond its end and waits for ever.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Protocol

from aiokafka.errors import IncompatibleBrokerVersion, KafkaError, for_code
from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Int64,
    Schema,
    TaggedFields,
)
from copycat_connect.errors import UnavailableError
from copycat_telemetry.changes import log_change

from copycat_eventlog.uncreating import UncreatingClient

log = logging.getLogger(__name__)

#: Between two looks while all is well, and while the topic is missing.
LOOK_SECONDS: Final = 3.0
SECOND_LOOK_SECONDS: Final = 1.0
#: A broker that has just started may not know of a topic yet: so many looks in a row must miss it.
LOOKS_THAT_MISS: Final = 3
ANSWER_TIMEOUT_MS: Final = 5000
#: For brokers to answer at all, at the start and once the topic's reader has failed.
PATIENCE_SECONDS: Final = 60.0
NO_ID: Final = (0, 0)
_UNKNOWN_TOPIC: Final = 3
_CREATE: Final = False
_TELL_OPERATIONS: Final = False


@dataclass(frozen=True, slots=True)
class SeenTopic:
    """What the brokers say of a topic."""

    topic_id: tuple[int, int]
    """Kafka's id, of two halves: no other topic ever has it.

    `NO_ID` where brokers speak among themselves as before Kafka 2.8: an upgrade gives topics their ids later.
    """
    partitions: int
    """How many there are."""


class NoTopicIdsError(UnavailableError):
    """The brokers are older than Kafka 3.1 and have no ids: a recreated topic is not noticed."""


class Sight(Protocol):
    """Asks the brokers for topics."""

    async def look(self, topic: str) -> SeenTopic | None:
        """Return what they say; None where there is no such topic.

        Raises:
            NoTopicIdsError: They never will.
            UnavailableError: They did not answer.
        """
        ...


class TopicWatch:
    """Compares what there is with what there was, again and again."""

    def __init__(
        self,
        sight: Sight,
        topic: str,
        *,
        on_gone: Callable[[bool], None],
        on_partitions: Callable[[int], None],
        every: float = LOOK_SECONDS,
        again: float = SECOND_LOOK_SECONDS,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """Build it.

        Args:
            sight: Asks for the topic.
            topic: The log's.
            on_gone: Called once when the topic is gone, with whether there is another one in its place.
            on_partitions: Called once when it has another number of partitions than before.
            every: Seconds between two looks.
            again: Seconds between two looks while it is missing.
            patience: Seconds for which `begin` and `is_same` wait for an answer.
        """
        self._sight = sight
        self._topic = topic
        self._on_gone = on_gone
        self._on_partitions = on_partitions
        self._every = every
        self._again = again
        self._patience = patience
        self._first: SeenTopic | None = None
        self._missed = 0
        self._over = False
        self._blind = False
        self._turn = asyncio.Lock()
        self._soon = asyncio.Event()

    async def begin(self) -> None:
        """Remember the topic that is there; to be called before it is read.

        Raises:
            UnavailableError: The brokers do not know it, or none of them answers for long.
        """
        missed, give_up = 0, asyncio.get_running_loop().time() + self._patience
        while missed < LOOKS_THAT_MISS:
            try:
                self._first = await self._sight.look(self._topic)
                missed += 1
            except NoTopicIdsError as error:
                log_change(
                    log, "a lost log is not noticed", logging.WARNING, topic=self._topic, why=error.message
                )
                self._blind = True
            except UnavailableError:  # each look asks another broker, one of which may be away
                if asyncio.get_running_loop().time() > give_up:
                    raise
            if self._blind or self._first is not None:
                return
            await asyncio.sleep(self._again)
        raise UnavailableError(f"Topic '{self._topic}' went away while this service started; start it again")

    def look_soon(self) -> None:
        """Look at once: something failed that would where the topic is gone."""
        self._soon.set()

    async def run(self) -> None:
        """Look, until the topic is not the same any more."""
        while not (self._over or self._blind):
            try:
                async with asyncio.timeout(self._again if self._missed else self._every):
                    await self._soon.wait()
            except TimeoutError:
                pass
            self._soon.clear()
            await self._look()

    async def is_same(self) -> bool:
        """Look until the brokers have said whether the topic is still the one that was there first.

        One of which nobody says anything for long, as where we may not ask any more, counts as the same.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience):
                known = self._blind or await self._look()
                while not known and not self._over:
                    await asyncio.sleep(self._again)
                    known = await self._look()
        return not self._over

    async def _look(self) -> bool:
        """Look once; return whether the topic was there."""
        async with self._turn:
            try:
                found = await self._sight.look(self._topic)
            except UnavailableError:
                return False  # nobody can say
            if not self._over:
                self._judge(found)
            return found is not None

    def _judge(self, found: SeenTopic | None) -> None:
        first = self._first
        self._missed = self._missed + 1 if found is None else 0
        if first is None or (found is None and self._missed < LOOKS_THAT_MISS):
            return
        if found is None or self._is_another(found, first):
            self._over = True
            self._on_gone(found is not None)
        elif found.partitions != first.partitions:
            self._over = True
            self._on_partitions(found.partitions)
        elif first.topic_id == NO_ID:
            self._first = found

    @staticmethod
    def _is_another(found: SeenTopic, first: SeenTopic) -> bool:
        return NO_ID not in (found.topic_id, first.topic_id) and found.topic_id != first.topic_id


class KafkaSight:
    """Asks over a connection of its own, which is made anew when it fails.

    librdkafka is not asked: its admin requests abort the process when a broker goes away meanwhile.
    """

    def __init__(self, client: Mapping[str, Any]) -> None:
        """`client` is the connection part of aiokafka's arguments; the first look connects."""
        self._arguments = {**client, "request_timeout_ms": ANSWER_TIMEOUT_MS}
        self._client: UncreatingClient | None = None
        self._connecting = asyncio.Lock()

    async def look(self, topic: str) -> SeenTopic | None:
        """Return what the brokers say; None where there is no such topic.

        Raises:
            NoTopicIdsError: They never will.
            UnavailableError: They did not answer.
        """
        try:
            client = await self._connected(topic)
            node = client.get_random_node()
            answer = await client.send(node, _TopicRequest(topic))
        except (NotImplementedError, IncompatibleBrokerVersion):
            raise NoTopicIdsError(str(NoTopicIdsError.__doc__)) from None
        except (KafkaError, KeyError) as error:
            await self.close()
            raise UnavailableError(
                f"The brokers do not say whether there is a topic '{topic}': {error!r}"
            ) from None
        (code, _, topic_id, _, partitions, *_) = answer.topics[0]
        if code == _UNKNOWN_TOPIC and answer.brokers:
            return None
        # A broker that knows of none, not even itself, has just started: its controller is silent still.
        if code and not partitions:
            raise UnavailableError(
                f"The brokers do not say whether there is a topic '{topic}': {for_code(code).__name__}"
            )
        return SeenTopic(tuple(topic_id), len(partitions))

    async def close(self) -> None:
        """Disconnect."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def _connected(self, topic: str) -> UncreatingClient:
        async with self._connecting:
            if self._client is None:
                client = UncreatingClient(**self._arguments)
                client._topics = {topic}  # noqa: SLF001 - or it asks for all of them from time to time
                try:
                    await client.bootstrap()
                except BaseException:
                    await client.close()
                    raise
                self._client = client
            return self._client


class _TopicResponse(Response):  # type: ignore[misc] # aiokafka has no types
    API_KEY = 3
    API_VERSION = 12
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32),
                ("host", CompactString("utf-8")),
                ("port", Int32),
                ("rack", CompactString("utf-8")),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_id", CompactString("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("topic", CompactString("utf-8")),
                ("topic_id", Schema(("most", Int64), ("least", Int64))),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline_replicas", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("authorized_operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("tags", TaggedFields),
    )


class _TopicRequestV12(RequestStruct):  # type: ignore[misc] # likewise
    FLEXIBLE_VERSION = True
    API_KEY = 3
    API_VERSION = 12
    RESPONSE_TYPE = _TopicResponse
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("topic_id", Schema(("most", Int64), ("least", Int64))),
                ("topic", CompactString("utf-8")),
                ("tags", TaggedFields),
            ),
        ),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class _TopicRequest(Request[_TopicRequestV12]):  # type: ignore[misc] # likewise
    """Metadata with topic ids, of which aiokafka's own requests know nothing; creates nothing."""

    API_KEY = 3

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def build(self, request_struct_class: type[_TopicRequestV12]) -> _TopicRequestV12:
        return request_struct_class([(NO_ID, self._topic, {})], _CREATE, _TELL_OPERATIONS, {})
