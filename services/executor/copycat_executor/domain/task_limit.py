"""How many tasks a connector may have: `tasks.max`, whether it is enforced, and the worker's own limit."""

from __future__ import annotations

from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.data.java import parse_integer

from copycat_executor.domain.errors import TaskLimitError, TooManyTasksError

#: The worker property with the most tasks of one connector.
MAX_TASKS_PER_CONNECTOR: Final = "max.tasks.per.connector"


def tasks_max(config: Config) -> int:
    """Return the most tasks a connector may have; 1 when nothing valid is said.

    What is here may have been read from a topic, where nobody checked it.

    `connector.tasks.max` is the name that KIP-26 has for it; today's name comes first.
    """
    text = (config.get("tasks.max") or config.get("connector.tasks.max") or "").strip()
    return max(1, parse_integer(text, 32) or 1)


def asked_tasks(config: Config, limit: int) -> int:
    """Return how many tasks to ask a connector for: a large `tasks.max` often means "as many as you can"."""
    return min(tasks_max(config), limit)


def limit_text(config: Config, limit: int) -> str | None:
    """Return the warning for the user when the worker's limit is below `tasks.max`; None when it is not."""
    wanted = tasks_max(config)
    if wanted <= limit:
        return None
    return (
        f"tasks.max={wanted} was limited: the connector was asked for at most {limit} tasks. "
        f"The worker property {MAX_TASKS_PER_CONNECTOR} raises the limit."
    )


def check_task_count(connector: str, config: Config, count: int) -> None:
    """Refuse more tasks than allowed, unless `tasks.max.enforce` is false.

    Raises:
        TooManyTasksError: There are too many.
    """
    enforced = (config.get("tasks.max.enforce") or "true").strip().lower() != "false"
    if enforced and count > tasks_max(config):
        raise TooManyTasksError(connector, count, tasks_max(config))


def check_task_limit(connector: str, count: int, limit: int) -> None:
    """Refuse more tasks than the worker allows, whatever the connector's configuration says.

    Raises:
        TaskLimitError: There are too many.
    """
    if count > limit:
        raise TaskLimitError(connector, count, limit, MAX_TASKS_PER_CONNECTOR)
