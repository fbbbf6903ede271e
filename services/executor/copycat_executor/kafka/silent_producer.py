"""Notice a producer that delivers nothing any more although the brokers are there.

librdkafka loses all brokers at times (see `silent_consumer`). A producer then keeps its records for ever and
reports nothing, since `delivery.timeout.ms` lets it wait for ever, as in Kafka Connect: brokers may be away
for long. So a producer that delivered nothing for a while is asked for what any broker can answer; when it
gets no answer, a second client asks the same, and the leaders of the topic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin._metadata import PartitionMetadata

#: Between two looks at a producer that delivers nothing.
CHECK_INTERVAL_SECONDS: Final = 10.0
#: How long a producer may look stuck, besides the longest time a broker may hold back an answer to it.
STUCK_AFTER_SECONDS: Final = 15.0
#: For an answer within a look. The thread of the task waits for it, but it had to wait anyway.
_ANSWER_TIMEOUT_SECONDS: Final = 2.0
#: Brokers to ask within a look: one may have ended a moment ago.
_MAX_LEADERS: Final = 3


class DeliveryWatch:
    """Looks at a producer now and then while a task waits for it; costs nothing as long as none waits."""

    def __init__(self, connect: Callable[[], Consumer], request_timeout_ms: float) -> None:
        """`connect` makes a second client; a broker may hold back an answer for `request_timeout_ms`."""
        self._connect = connect
        self._patience = STUCK_AFTER_SECONDS + request_timeout_ms / 1000
        self._witness: Consumer | None = None
        self._done = -1
        self._next = 0.0
        self._since: float | None = None
        self.why = ""
        """Why Kafka takes nothing, as far as the last look found out; empty while it takes records."""

    def settled(self) -> None:
        """Nothing is under way."""
        self._done, self.why = -1, ""
        self._suspect_no_more()

    def close(self) -> None:
        """Let go of the connections."""
        witness, self._witness = self._witness, None
        if witness is not None:
            witness.close()

    def is_silent(self, producer: Producer, topic: str, done: int) -> bool:
        """Return whether a producer with records under way is to be replaced.

        Args:
            producer: The producer.
            topic: A topic it has records for.
            done: How many of its records were written or failed so far.
        """
        now = time.monotonic()
        if done != self._done:
            self._done, self._next, self.why = done, now + CHECK_INTERVAL_SECONDS, ""
            self._suspect_no_more()
        if now < self._next:
            return False
        silent = self._look(producer, topic)
        self._next = time.monotonic() + CHECK_INTERVAL_SECONDS
        return silent

    def _look(self, producer: Producer, topic: str) -> bool:
        # One that still talks to brokers is well: they refuse its records for now, or hold them back.
        partitions = _partitions(producer, topic)
        if partitions is not None:
            self.why = _held_back(topic, partitions)
        elif not self._brokers_answer(topic):
            self.why = "no broker answers"
        else:
            self.why = "this client hears from no broker, though another one does; it is replaced soon"
            return self._stuck()
        self._suspect_no_more()
        return False

    def _stuck(self) -> bool:
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since < self._patience:
            return False
        self._suspect_no_more()
        return True

    def _suspect_no_more(self) -> None:
        self._since = None
        self.close()  # the second client may lose the brokers for good as well

    def _brokers_answer(self, topic: str) -> bool:
        # That leaders are known is not enough: one that ended is named for some seconds.
        self._witness = witness = self._witness or self._connect()
        leaders = {
            each.leader: ClientPartition(topic, each.id)
            for each in _partitions(witness, topic) or ()
            if each.leader >= 0
        }
        return any(_answers(witness, partition) for partition in islice(leaders.values(), _MAX_LEADERS))


def why_nothing_is_taken(client: Producer, topic: str) -> str:
    """Ask the brokers why a producer may wait for them."""
    partitions = _partitions(client, topic)
    return "no broker answers" if partitions is None else _held_back(topic, partitions)


def unknown_topics(client: Producer, topics: Iterable[str]) -> set[str]:
    """Return the topics that the brokers do not know; none when no broker answers.

    Brokers that create topics by themselves do so on being asked: it is known a moment later.
    """
    unknown = set()
    for topic in topics:
        try:
            error = client.list_topics(topic, _ANSWER_TIMEOUT_SECONDS).topics[topic].error
        except KafkaException:
            return set()
        if error is not None and error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            unknown.add(topic)
    return unknown


def _partitions(client: Producer | Consumer, topic: str) -> list[PartitionMetadata] | None:
    """Return the partitions of a topic; None when no broker answers the client."""
    try:
        return list(client.list_topics(topic, _ANSWER_TIMEOUT_SECONDS).topics[topic].partitions.values())
    except KafkaException:
        return None


def _held_back(topic: str, partitions: list[PartitionMetadata]) -> str:
    """Say why brokers that answer may take no records."""
    leaderless = sorted(each.id for each in partitions if each.leader < 0)
    if leaderless:
        return f"topic {topic} has no leader for partition {', '.join(map(str, leaderless))}"
    if not partitions:
        return f"the brokers know no partition of topic {topic}"
    return (
        f"the brokers answer and confirm no record for topic {topic}: look at their disks, at "
        "min.insync.replicas of the topic and at quotas"
    )


def _answers(client: Consumer, partition: ClientPartition) -> bool:
    try:
        return client.get_watermark_offsets(partition, _ANSWER_TIMEOUT_SECONDS) is not None
    except KafkaException:
        return False
