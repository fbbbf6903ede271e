"""Kafka's consumer behind the pipeline's port: assigned by hand, never a member of its group."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, cast

from confluent_kafka import Consumer, KafkaError, KafkaException, Message
from confluent_kafka import TopicPartition as ClientPartition
from copycat_connect.cluster import TopicPartition
from copycat_connect.config.client_choices import OFFSET_RESET, OffsetReset, ResetTo
from copycat_connect.errors import ConnectError, RetriableError
from copycat_connect.leader_errors import LEADER_ERRORS
from copycat_connect.topic_ids import TopicIds

from copycat_executor.kafka.admin import topic_asker
from copycat_executor.kafka.client_config import ClientConfig
from copycat_executor.kafka.client_statistics import ClientStatistics
from copycat_executor.kafka.connections import BOOTSTRAP_SERVERS, LoginWatch, check_brokers
from copycat_executor.kafka.remedies import UNKNOWN_PARTITION, UNKNOWN_TOPIC, remedy_for_reading
from copycat_executor.kafka.silent_consumer import SilenceWatch
from copycat_executor.pipeline.records.receiver import KafkaMessage


def at_least(seconds: float) -> float:
    """Return a time-out for librdkafka that is no shorter than `seconds`, and less than a millisecond longer.

    Whoever waits until something is due would otherwise come back too early, and then ask again and again
    without any wait until it is.
    """
    # Half a millisecond more, so that the product with 1000 is cut off to this very number.
    return (math.ceil(seconds * 1000) + 0.5) / 1000


_log = logging.getLogger(__name__)
_ANSWER_TIMEOUT_SECONDS: Final = 5.0
#: Between two looks at the ids of topics while no position moves: each costs a task at rest 1.5 ms.
_LOOK_SECONDS: Final = 30.0
#: Once there are records, those that come within this time join their batch.
_MORE_RECORDS_WAIT_SECONDS: Final = 0.001
#: librdkafka's default of `fetch.wait.max.ms`.
_DEFAULT_FETCH_WAIT_MS: Final = 500

#: Errors that do not pass by themselves; all else the client tries again. Negative codes have no public name.
_FINAL_ERRORS: Final = frozenset({
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_RECORD,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    -140,  # no offset and no reset policy
    -198,  # bad compression
    -199,  # bad message
})  # fmt: skip


#: Brokers cannot be reached, a partition has no leader, or they do not agree yet on who it is.
_UNREACHABLE_ERRORS: Final = frozenset({
    *LEADER_ERRORS,
    -185,  # timed out
    -187,  # all brokers are down
    -195,  # transport
})  # fmt: skip


#: The client does not know a topic or a partition: it is not there, or may not be described.
_UNKNOWN_PARTITION_ERRORS: Final = frozenset({UNKNOWN_TOPIC, UNKNOWN_PARTITION})


class KafkaReceiver:
    """Reads assigned partitions through librdkafka (`RecordReceiver`)."""

    def __init__(
        self,
        config: ClientConfig,
        replaced: Callable[[], object] = lambda: None,
        statistics: ClientStatistics | None = None,
    ) -> None:
        """Connect in the background; `replaced` is called when a stuck client was replaced.

        `statistics` hears what the client reports of itself.

        Raises:
            ConfigError: The brokers' addresses are invalid.
        """
        check_brokers(config)
        self._config = config
        self._replaced = replaced
        self._statistics = statistics
        self._login = LoginWatch("consumer", config.properties[BOOTSTRAP_SERVERS])
        self._consumer = self._connect()
        self._silence = SilenceWatch(
            self._connect, float(config.properties.get("fetch.wait.max.ms", _DEFAULT_FETCH_WAIT_MS))
        )
        self._ids = TopicIds(topic_asker(config), _LOOK_SECONDS)
        self._assigned: list[ClientPartition] = []
        self._begin: dict[TopicPartition, int] = {}
        #: Positions of a former client, until this one has read further.
        self._carried: dict[TopicPartition, int] = {}
        self._paused: set[TopicPartition] = set()
        self._failure: ConnectError | None = None

    def _connect(self) -> Consumer:
        reporting = self._statistics.settings if self._statistics else {}
        properties = {**self._config.properties, "error_cb": self._login.note, **reporting}
        return Consumer(properties, logger=_log)

    def committed(self, partitions: Sequence[TopicPartition]) -> dict[TopicPartition, int | None]:
        """Return the group's positions, null where a partition has no position."""
        asked = [ClientPartition(*partition) for partition in partitions]
        try:
            found = self._consumer.committed(asked, timeout=_ANSWER_TIMEOUT_SECONDS)
            for each in found:
                _raise_error(each)
        except KafkaException as error:
            self._consumer.poll(0)  # hears why
            self._login.check()
            message = f"Cannot read the positions of consumer group {self._config.properties['group.id']}"
            if error.args[0].code() not in _FINAL_ERRORS:
                raise RetriableError(message) from error
            text = f"{message}: {remedy_for_reading(error.args[0])}"
            raise ConnectError(text) from error
        return {
            TopicPartition(each.topic, each.partition): each.offset if each.offset >= 0 else None
            for each in found
        }

    def assign(self, offsets: Mapping[TopicPartition, int | None]) -> dict[TopicPartition, int]:
        """Begin to read at these offsets; null begins where the consumer's reset policy says."""
        self._ids.begin(partition.topic for partition in offsets)
        start = {
            partition: offset if offset is not None and offset >= 0 else self._first(partition)
            for partition, offset in offsets.items()
        }
        self._read_from(start)
        return start

    def _read_from(self, start: Mapping[TopicPartition, int]) -> None:
        self._assigned = [ClientPartition(*partition) for partition in start]
        self._consumer.assign([ClientPartition(*partition, offset) for partition, offset in start.items()])
        self._begin, self._carried, self._paused = dict(start), {}, set()

    def restarted(self, *, wait: bool) -> dict[TopicPartition, int]:
        """Return where the partitions of topics begin that were deleted and made anew."""
        topics = self._ids.replaced(wait=wait)
        if not topics:
            return {}
        assigned = (TopicPartition(each.topic, each.partition) for each in self._assigned)
        return {each: self._low(each) for each in assigned if each.topic in topics}

    def _low(self, partition: TopicPartition) -> int:
        try:
            low, _ = self._consumer.get_watermark_offsets(
                ClientPartition(*partition), timeout=_ANSWER_TIMEOUT_SECONDS
            )
        except KafkaException:
            return 0  # where every topic begins
        return int(low)

    def _first(self, partition: TopicPartition) -> int:
        """Ask for the beginning or the end: a position must be known to go back to it."""
        reset = OffsetReset.of(self._config.java[OFFSET_RESET])
        try:
            low, high = self._consumer.get_watermark_offsets(
                ClientPartition(*partition), timeout=_ANSWER_TIMEOUT_SECONDS
            )
            if reset.age is not None:
                low = self._first_since(partition, reset.age.total_seconds(), high)
        except KafkaException as error:
            message = f"Cannot find where to begin in {partition.topic}-{partition.partition}"
            if error.args[0].code() in _UNREACHABLE_ERRORS:
                self._consumer.poll(0)  # hears why
                self._login.check()
                raise RetriableError(message) from error
            remedy = remedy_for_reading(self._reason(partition.topic, error.args[0]))
            raise ConnectError(f"{message}: {remedy}") from error
        if reset.to is ResetTo.NOWHERE:
            name = f"{partition.topic}-{partition.partition}"
            raise ConnectError(f"Undefined offset with no reset policy for partition: {name}")
        return int(high if reset.to is ResetTo.END else low)

    def _first_since(self, partition: TopicPartition, age: float, end: int) -> int:
        """Return the first offset of a record no older than `age` seconds, or else the end."""
        since = int((time.time() - age) * 1000)
        asked = [ClientPartition(*partition, max(since, 0))]
        (found,) = self._consumer.offsets_for_times(asked, timeout=_ANSWER_TIMEOUT_SECONDS)
        _raise_error(found)
        return int(found.offset) if found.offset >= 0 else end

    def _reason(self, topic: str, error: KafkaError) -> KafkaError:
        """Have the brokers say why the client does not know a topic."""
        if error.code() not in _UNKNOWN_PARTITION_ERRORS:
            return error
        try:
            found = self._consumer.list_topics(topic, timeout=_ANSWER_TIMEOUT_SECONDS)
            return found.topics[topic].error or error
        except KafkaException:
            return error

    def read(self, most: int, seconds: float) -> list[KafkaMessage]:
        """Return the next records.

        A failure is raised after what came with it was returned: positions count that as read (I1).
        """
        self._check()
        messages = self._consumer.consume(most, 0)
        if not messages:
            # consume() waits until the batch is full: wait for the first record, then take what came with it.
            messages = self._consumer.consume(1, at_least(seconds))
            if messages and most > 1:
                messages += self._consumer.consume(most - 1, _MORE_RECORDS_WAIT_SECONDS)
        if any(map(Message.error, messages)):
            messages = self._without_errors(messages)
        if messages:
            self._silence.records_came()
        else:
            self._check()
            successor = self._silence.successor(self._consumer, self._reading)
            if successor is not None:
                self._replace(successor)
        return cast("list[KafkaMessage]", messages)

    def _reading(self) -> list[ClientPartition]:
        paused = self._paused
        return [each for each in self._assigned if TopicPartition(each.topic, each.partition) not in paused]

    def _replace(self, successor: Consumer) -> None:
        """Go on with another client, where this one is."""
        self._carried = self.positions()
        points = self._begin | self._carried
        former, self._consumer = self._consumer, successor
        successor.assign([ClientPartition(*partition, offset) for partition, offset in points.items()])
        self.pause(self._paused)
        former.close()
        self._replaced()

    def positions(self) -> dict[TopicPartition, int]:
        """Return the next offset of each partition that something was read of."""
        fresh = {
            TopicPartition(each.topic, each.partition): each.offset
            for each in self._consumer.position(self._assigned)
            if each.offset >= 0
        }
        return self._carried | fresh

    def lag(self) -> int:
        """Return what is left of the partition that is most behind, by the ends its last fetches gave."""
        positions = self._consumer.position(self._assigned)
        return max((self._left(each) for each in positions if each.offset >= 0), default=0)

    def _left(self, position: ClientPartition) -> int:
        _, high = self._consumer.get_watermark_offsets(position, cached=True)
        return max(high - position.offset, 0)

    def seek(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Read on at these offsets in these partitions."""
        for partition, offset in offsets.items():
            self._consumer.seek(ClientPartition(*partition, offset))
            self._begin[partition] = offset
            self._carried.pop(partition, None)

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """Read no more from these partitions."""
        chosen = set(partitions)
        self._consumer.pause([ClientPartition(*partition) for partition in chosen])
        self._paused |= chosen

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Read from these partitions again."""
        chosen = set(partitions)
        self._consumer.resume([ClientPartition(*partition) for partition in chosen])
        self._paused -= chosen

    def close(self) -> None:
        """Let go of the connections."""
        self._silence.close()
        self._consumer.close()

    def _check(self) -> None:
        self._login.check()
        if self._failure is not None:
            raise self._failure

    def _without_errors(self, messages: list[Message]) -> list[Message]:
        """Return the records among messages; remembers a failure."""
        kept = []
        for message in messages:
            error = message.error()
            if error is None:
                kept.append(message)
            elif not error.fatal() and error.code() not in _FINAL_ERRORS:
                _log.warning("Reading %s is held up: %s", message.topic(), error)
            else:
                text = f"Cannot read {self._place(message)}: {remedy_for_reading(error)}"
                self._failure = ConnectError(text)
                self._failure.__cause__ = KafkaException(error)
        return kept

    def _place(self, message: Message) -> str:
        if message.topic():
            return f"{message.topic()}-{message.partition()}"
        # What concerns the group comes without a topic.
        topics = ", ".join(sorted({str(each.topic) for each in self._assigned}))
        return f"{topics} as consumer group {self._config.properties['group.id']}"


def _raise_error(answer: ClientPartition) -> None:
    if answer.error is not None:
        raise KafkaException(answer.error)
