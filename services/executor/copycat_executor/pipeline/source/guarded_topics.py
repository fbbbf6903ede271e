"""Keeps the records of an exactly-once source out of its own offsets topic (KIP-618)."""

from __future__ import annotations

from copycat_connect.config.framework_names import OFFSETS_TOPIC
from copycat_connect.errors import ConnectError

from copycat_executor.pipeline.task.topic_ledger import TopicCreator


class GuardedTopics:
    """Refuses one topic, and lets another creator see to the rest (`TopicCreator`)."""

    def __init__(self, offsets_topic: str, creator: TopicCreator | None) -> None:
        self._offsets_topic = offsets_topic
        self._creator = creator

    def ensure(self, topic: str) -> None:
        """Create the topic when it is missing.

        Raises:
            ConnectError: It is the one for offsets, or it is missing and cannot be created.
        """
        if topic == self._offsets_topic:
            message = (
                "Source tasks may not produce to their own offsets topics when exactly-once support is "
                f"enabled: change where the connector writes to, now {topic}, or its {OFFSETS_TOPIC}"
            )
            raise ConnectError(message)
        if self._creator is not None:
            self._creator.ensure(topic)
