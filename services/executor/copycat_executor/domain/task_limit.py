"""`tasks.max` and whether it is enforced."""

from __future__ import annotations

from copycat_connect.cluster import Config

from copycat_executor.domain.errors import TooManyTasksError


def tasks_max(config: Config) -> int:
    """Return the most tasks a connector may have; 1 when nothing valid is said."""
    text = (config.get("tasks.max") or "").strip()
    return int(text) if text.isdigit() and int(text) > 0 else 1


def check_task_count(connector: str, config: Config, count: int) -> None:
    """Refuse more tasks than allowed, unless `tasks.max.enforce` is false.

    Raises:
        TooManyTasksError: There are too many.
    """
    enforced = (config.get("tasks.max.enforce") or "true").strip().lower() != "false"
    if enforced and count > tasks_max(config):
        raise TooManyTasksError(connector, count, tasks_max(config))
