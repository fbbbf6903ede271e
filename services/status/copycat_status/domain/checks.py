"""What can be part of a record's key."""

from __future__ import annotations

from typing import Final

from copycat_status.domain.errors import InvalidTaskError, InvalidTopicError, UnnamedConnectorError

INT32_MAX: Final = 2**31 - 1


def check_connector(connector: str) -> None:
    """Refuse a report about nobody.

    Raises:
        UnnamedConnectorError: The name is empty.
    """
    if not connector:
        raise UnnamedConnectorError


def check_task(task: int | None) -> None:
    """Refuse a number that cannot be the index of a task; None stands for the connector itself.

    Raises:
        InvalidTaskError: It is negative or beyond 32 bits.
    """
    if task is not None and not 0 <= task <= INT32_MAX:
        raise InvalidTaskError(task)


def check_topic(topic: str) -> None:
    """Refuse a topic name that Kafka refuses too, for the key could not be read back.

    Raises:
        InvalidTopicError: The name is empty or has a colon.
    """
    if not topic or ":" in topic:
        raise InvalidTopicError(topic)
