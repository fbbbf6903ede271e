"""Reading a compacted topic of one partition: to its end, then as it grows."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from copycat_connect.errors import ConnectError, RetriableError

_log = logging.getLogger(__name__)
_BATCH = 1000
_FIRST_ANSWER_SECONDS = 5.0
_END = "_PARTITION_EOF"


class GrowingTopic:
    """Partition 0 of a topic, from its beginning."""

    SETTINGS: Final = MappingProxyType({"enable.partition.eof": "true"})
    """What the consumer must be made with."""

    def __init__(self, consumer: Consumer, topic: str) -> None:
        """Take a consumer that nobody else uses."""
        self._consumer = consumer
        self._topic = topic
        self._assigned = False
        self.read = False
        """Whether the end was reached once."""

    def records(self, seconds: float) -> Iterator[tuple[bytes, bytes | None]]:
        """Yield keys and values of what comes within some seconds; None for one that was deleted.

        Raises:
            RetriableError: The cluster is away, or the topic is not there yet.
            ConnectError: It may not be read.
        """
        self._assign()
        for message in self._consumer.consume(_BATCH, seconds):
            error = message.error()
            if error is None:
                if (key := message.key()) is not None:
                    yield key, message.value()
            elif error.name() == _END:
                self.read = True
            elif error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                self._refuse(error)
            else:
                _log.warning("Reading %s failed, going on: %s", self._topic, error.str())

    def close(self) -> None:
        """Let go of the connections."""
        self._consumer.close()

    def _assign(self) -> None:
        if self._assigned:
            return
        where = TopicPartition(self._topic, 0, OFFSET_BEGINNING)
        try:
            self._consumer.get_watermark_offsets(where, timeout=_FIRST_ANSWER_SECONDS)
        except KafkaException as failure:
            error = failure.args[0]
            if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                self._refuse(error)
            message = f"Topic {self._topic} cannot be read yet: {error.str()}"
            raise RetriableError(message) from failure
        self._consumer.assign([where])
        self._assigned = True

    def _refuse(self, error: KafkaError) -> None:
        message = (
            f"Topic {self._topic} may not be read: {error.str()}. Allow the user of this client to read it"
        )
        raise ConnectError(message)
