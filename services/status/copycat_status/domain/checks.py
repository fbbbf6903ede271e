"""What can be part of a record's key."""

from __future__ import annotations

from copycat_status.domain.errors import InvalidReportError

INT32_MAX = 2**31 - 1


def check_connector(connector: str) -> None:
    """Refuse a report about nobody.

    Raises:
        InvalidReportError: The name is empty.
    """
    if not connector:
        message = "A report without a connector cannot be recorded: name the connector"
        raise InvalidReportError(message)


def check_task(task: int | None) -> None:
    """Refuse an index that is none.

    Raises:
        InvalidReportError: It is negative or beyond 32 bits.
    """
    if task is not None and not 0 <= task <= INT32_MAX:
        message = f"{task} is no task index: tasks count from 0"
        raise InvalidReportError(message, task=str(task))


def check_topic(topic: str) -> None:
    """Refuse a topic name that Kafka refuses too, for the key could not be read back.

    Raises:
        InvalidReportError: The name is empty or has a colon.
    """
    if not topic or ":" in topic:
        message = f"{topic[:300]!r} is no topic name: Kafka allows neither an empty one nor a colon"
        raise InvalidReportError(message, topic=topic[:300])
