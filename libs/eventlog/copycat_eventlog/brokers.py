"""Reaching the brokers: bounded, cancellable, with an answer that names what to mend."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar, cast

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._metadata import TopicMetadata
from copycat_connect.errors import UnavailableError

T = TypeVar("T")
#: One wait, or one request for metadata; short, so that a cancelled start ends soon.
REQUEST_TIMEOUT_SECONDS = 2.0
RETRY_DELAY_SECONDS = 0.2


class Brokers:
    """An admin client with a deadline. Its calls block."""

    def __init__(
        self, config: Mapping[str, str | int | bool], within: float, cancelled: threading.Event | None = None
    ) -> None:
        """Connect in the background.

        Args:
            config: The connection part of a librdkafka configuration.
            within: Seconds for everything asked of this object.
            cancelled: Set by another thread to give up early.
        """
        self._addresses = config["bootstrap.servers"]
        self._within = within
        self._deadline = time.monotonic() + within
        self._cancelled = cancelled or threading.Event()
        self._trouble = "no broker answered"
        # Keep the client: futures of one that is gone never resolve.
        self._client = AdminClient(cast("dict[str, str | int | float]", {**config, "error_cb": self._note}))

    @property
    def client(self) -> AdminClient:
        """For calls whose errors the caller distinguishes itself."""
        return self._client

    def topic(self, name: str) -> TopicMetadata | None:
        """Return what the brokers know of a topic, if anything.

        Raises:
            UnavailableError: They could not be reached in time.
        """
        return self.topics().get(name)

    def topics(self) -> Mapping[str, TopicMetadata]:
        """Return what the brokers know of all topics, at one moment.

        Raises:
            UnavailableError: They could not be reached in time.
        """
        while True:
            try:
                return self._client.list_topics(timeout=REQUEST_TIMEOUT_SECONDS).topics
            except KafkaException as error:
                self._client.poll(0)  # serves the callback that knows the reason
                self.pause(error.args[0])

    def ask(self, future: Future[T]) -> T:
        """Wait for an answer: a broker that has just started may take long for its first ones.

        Meanwhile the client is made to look for the brokers: librdkafka asks the controller, and looks
        for one that it has lost sight of only every five minutes (topic.metadata.refresh.interval.ms).

        Raises:
            KafkaException: The brokers' refusal.
            UnavailableError: There was none in time.
        """
        while True:
            try:
                return future.result(REQUEST_TIMEOUT_SECONDS)
            except TimeoutError:
                if time.monotonic() < self._deadline and not self._cancelled.is_set():
                    with suppress(KafkaException):
                        self._client.list_topics(timeout=REQUEST_TIMEOUT_SECONDS)
                    continue
            raise UnavailableError(f"Kafka at {self._addresses} did not answer within {self._within:g} s")

    def pause(self, error: KafkaError, attempt: str | None = None) -> None:
        """Wait a little after an error that may pass.

        Args:
            error: What the brokers, or the client in their stead, said.
            attempt: What was tried; without it, to reach them at all.

        Raises:
            UnavailableError: The time is up.
        """
        in_time = time.monotonic() + RETRY_DELAY_SECONDS < self._deadline
        if in_time and not self._cancelled.wait(RETRY_DELAY_SECONDS):
            return
        if attempt is not None:
            message = f"{attempt} failed for {self._within:g} s: {error.str()}"
        else:
            message = (
                f"Kafka cannot be reached at bootstrap.servers={self._addresses}: {self._trouble} "
                f"(tried for {self._within:g} s). Start the brokers or correct bootstrap.servers."
            )
        raise UnavailableError(message)

    def _note(self, error: KafkaError) -> None:
        # "all brokers down" only sums up what was reported before.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:
            self._trouble = error.str()
