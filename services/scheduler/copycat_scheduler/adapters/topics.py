"""The topics of the cluster, and which of them sinks mean; read while there are sinks that ask for some."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Set
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeAlias, TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._metadata import ClusterMetadata
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.user_pattern import PatternTooSlowError, UserPattern, compile_user_pattern
from copycat_connect.errors import UnavailableError
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_telemetry.changes import log_change

from copycat_scheduler.domain.partitions import INTERNAL, TOPICS_REGEX, Subscription, partitions_of

log = logging.getLogger(__name__)

METADATA_TIMEOUT_SECONDS = 5.0
#: What is known is reported after a look that took longer, before the next one.
LONG_LOOK_SECONDS = 0.1
#: Processor time for all topics that are new to a pattern. What takes microseconds is not counted.
SECONDS_A_LOOK: Final = 1.0
_UNCOUNTED_SECONDS: Final = 0.001
T = TypeVar("T")
ReadTopics: TypeAlias = Callable[[], Awaitable[Mapping[str, int]]]


class PartitionCounts:
    """Reads topic names and partition counts in a thread, so that the event loop never waits."""

    def __init__(self, bootstrap_servers: str, client_config: Mapping[str, str]) -> None:
        """Read a Java client's properties; nothing is sent before the first call."""
        self._config = librdkafka_config(bootstrap_servers, read_security(client_config))
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="topics")
        self._admin: AdminClient | None = None

    async def read(self) -> Mapping[str, int]:
        """Return topics with their numbers of partitions.

        Raises:
            UnavailableError: No broker answered.
        """
        return await self._call(self._read, "read the topics of")

    async def cluster_id(self) -> str:
        """Return the id of the brokers' cluster.

        Raises:
            UnavailableError: No broker answered.
        """
        return await self._call(self._describe, "describe")

    async def _call(self, work: Callable[[], T], what: str) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except KafkaException as failure:
            reason = failure.args[0].str()
            raise UnavailableError(f"Cannot {what} the Kafka cluster: {reason}") from failure

    def close(self) -> None:
        """End the thread without waiting for it."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _ask(self) -> ClusterMetadata:
        # Not describe_cluster: librdkafka 2.16 may abort in admin requests when a broker goes away.
        self._admin = self._admin or AdminClient({**self._config})
        try:
            return self._admin.list_topics(timeout=METADATA_TIMEOUT_SECONDS)
        except KafkaException:
            # It may have lost all brokers for good (librdkafka's issue 5301): the next call makes another.
            self._admin = None
            raise

    def _describe(self) -> str:
        return str(self._ask().cluster_id or "")

    def _read(self) -> Mapping[str, int]:
        topics = self._ask().topics
        return {name: len(topic.partitions) for name, topic in topics.items() if topic.error is None}


class TopicPattern:
    """A pattern, and what it says of each topic there is.

    It stops at the first topic at which it does not come to an end, and asks about no other while that is
    there. `look` may be called in another thread than the rest, while nobody calls the rest.
    """

    def __init__(self, written: str) -> None:
        """Use this pattern; an invalid one matches no topic: validation has refused its connector."""
        self._written = written
        self._pattern: UserPattern | None = None
        self._wrong = False
        self._means: dict[str, bool] = {}
        self._stuck: str | None = None
        self.fault: str | None = None
        """Why it is not known which topics it means: key, pattern and the way on; None where it is known."""

    @property
    def topics(self) -> list[str]:
        """The topics that it means, as far as it was asked."""
        return [topic for topic, meant in self._means.items() if meant]

    def knows(self, topics: Collection[str]) -> bool:
        """Return whether a look at these topics would find nothing new, and forget all others."""
        self._means = {topic: meant for topic, meant in self._means.items() if topic in topics}
        if self._stuck is not None and self._stuck not in topics:
            self._stuck = self.fault = None
        if self._wrong or self._stuck is not None:
            return True
        return self._pattern is not None and not self._new(topics)

    def look(self, topics: Collection[str]) -> None:
        """Ask about the topics that are new."""
        try:
            self._pattern = self._pattern or compile_user_pattern(TOPICS_REGEX, self._written)
        except re.error:
            self._wrong = True
            return
        left = SECONDS_A_LOOK
        began = time.thread_time()
        for topic in self._new(topics):
            try:
                self._means[topic] = self._pattern.fullmatch(topic, max(left, _UNCOUNTED_SECONDS)) is not None
            except PatternTooSlowError as error:
                self._stuck = topic
                self.fault = (
                    f"{error.message}. The topic is {topic}. Change {TOPICS_REGEX}, or delete that topic and"
                    " restart the connector"
                )
                return
            now = time.thread_time()
            if now - began > _UNCOUNTED_SECONDS:
                left -= now - began
            began = now

    def _new(self, topics: Collection[str]) -> list[str]:
        return [topic for topic in topics if topic not in self._means and topic not in INTERNAL]


class TopicCatalog:
    """What each subscription means at the moment."""

    def __init__(self, read: ReadTopics, interval: float, changed: Callable[[], None]) -> None:
        """Read nothing before something is wanted; `changed` is called when an answer changed."""
        self._read = read
        self._interval = interval
        self._changed = changed
        self._wanted: Set[Subscription] = frozenset()
        self._news = asyncio.Event()
        self._found: dict[Subscription, tuple[TopicPartition, ...]] = {}
        self._faults: dict[Subscription, str] = {}
        self._patterns: dict[str, TopicPattern] = {}
        self._missing: Set[str] = frozenset()

    def want(self, subscriptions: Set[Subscription]) -> None:
        """Replace what is asked for; what is new in it is looked up at once."""
        if subscriptions - self._wanted:
            self._news.set()
        self._wanted = frozenset(subscriptions)

    def partitions(self, subscription: Subscription) -> tuple[TopicPartition, ...] | None:
        """Return what a subscription means; None until the topics were read after it was asked for."""
        return self._found.get(subscription)

    def fault(self, subscription: Subscription) -> str | None:
        """Return why it cannot be known what a subscription means; None where it is known, or will be."""
        return self._faults.get(subscription)

    async def run(self) -> None:
        """Read the topics now and then, until cancelled."""
        failing = False
        while True:
            await self._due()
            wanted = self._wanted
            try:
                topics = await self._read()
            except UnavailableError as error:
                if not failing:
                    effect = "sinks keep the partitions they have"
                    log_change(
                        log, "topics cannot be read now", logging.WARNING, why=error.message, effect=effect
                    )
                failing = True
                continue
            failing = False
            self._log_missing({name for each in wanted for name in each.topics} - topics.keys())
            await self._find(wanted, topics)

    async def _find(self, wanted: Set[Subscription], topics: Mapping[str, int]) -> None:
        """Find what is wanted among the topics; whose pattern is slow is not waited for by the others."""
        written = {each.pattern for each in wanted if each.pattern}
        self._patterns = {each: self._patterns.get(each) or TopicPattern(each) for each in written}
        unsure = {text: each for text, each in self._patterns.items() if not each.knows(topics)}
        loop = asyncio.get_running_loop()
        while unsure:
            began = loop.time()
            await asyncio.to_thread(unsure.popitem()[1].look, topics)
            if unsure and loop.time() - began > LONG_LOOK_SECONDS:
                self._tell({each for each in wanted if each.pattern not in unsure}, topics)
        self._tell(wanted, topics)

    def _tell(self, sure: Set[Subscription], topics: Mapping[str, int]) -> None:
        """Replace what is known of subscriptions, and say so where that changes anything.

        One whose pattern has a fault has the partitions that it had, of topics that there are still; new ones
        have none, so that its tasks do not start.
        """
        found = {each: known for each, known in self._found.items() if each in self._wanted}
        faults: dict[Subscription, str] = {}
        for each in sure:
            pattern = self._patterns.get(each.pattern or "")
            fault = None if pattern is None else pattern.fault
            if fault is not None:
                faults[each] = fault
            if fault is None or each in found:
                found[each] = partitions_of(each.topics if pattern is None else pattern.topics, topics)
        if (found, faults) != (self._found, self._faults):
            self._found, self._faults = found, faults
            self._changed()

    def _log_missing(self, missing: Set[str]) -> None:
        """Log a missing topic once; its sinks go on without it, as Kafka's consumers do."""
        for name in sorted(missing - self._missing):
            log_change(
                log,
                "topic of sinks is missing",
                logging.WARNING,
                topic=name,
                why="sinks name it in topics; it does not exist, or the worker may not describe it",
                effect="they read it once it is there",
                fix="create it, allow the worker's principal to describe it, or take it out of topics",
            )
        self._missing = missing

    async def _due(self) -> None:
        """Wait for news, or for the interval while there is somebody to read for."""
        try:
            async with asyncio.timeout(self._interval if self._wanted else None):
                await self._news.wait()
        except TimeoutError:
            return
        self._news.clear()
