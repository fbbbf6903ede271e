"""`errors.restart`: which failed tasks are restarted without a hand, how soon and how often."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from copycat_connect.cluster import Config
from copycat_connect.config.definition import ConfigDef
from copycat_connect.config.framework_names import (
    ERRORS_GROUP,
    ERRORS_RESTART,
    RESTART_BACKOFF,
    RESTART_MAX_BACKOFF,
    RESTART_MAX_PER_HOUR,
    TASK_POLL_TIMEOUT,
)
from copycat_connect.config.key import ConfigKey, Importance, Width
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.validators import at_least, one_of_ignoring_case
from copycat_connect.retry import RetryPolicy

#: Share of a wait that is added at random: tasks that failed together do not come back together.
_JITTER: Final = 0.5


class RestartMode(Enum):
    """Which failed tasks are restarted."""

    OFF = "off"
    """None, as with Kafka Connect: only a user restarts a task."""
    TRANSIENT = "transient"
    """Those whose failure may pass by itself."""
    ALWAYS = "always"
    """Every one, whatever its failure means."""


@dataclass(frozen=True, slots=True)
class Healing:
    """What a connector says of restarts of its failed tasks."""

    mode: RestartMode
    backoff: RetryPolicy
    """How long a task waits for its next restart."""
    per_hour: int
    """Restarts within an hour after which a task stays FAILED."""

    @classmethod
    def of(cls, connector: Config, worker: Config) -> Healing:
        """Read it from a connector's configuration; the worker's `errors.restart` is its default.

        Raises:
            ConfigError: A value cannot be one.
        """
        defaults = {ERRORS_RESTART: worker[ERRORS_RESTART]} if worker.get(ERRORS_RESTART) else {}
        found = ConfigDef(*HEALING_KEYS.values()).parse({**defaults, **connector})
        first, ceiling = found[RESTART_BACKOFF] / 1000, found[RESTART_MAX_BACKOFF] / 1000
        return cls(
            RestartMode(found[ERRORS_RESTART].lower()),
            RetryPolicy(first=first, ceiling=max(first, ceiling), jitter=_JITTER),
            found[RESTART_MAX_PER_HOUR],
        )


def poll_timeout(connector: Config, worker: Config) -> float:
    """Return for how many seconds a poll may not return, 0 for ever; the worker's value is the default.

    Raises:
        ConfigError: The value cannot be one.
    """
    defaults = {TASK_POLL_TIMEOUT: worker[TASK_POLL_TIMEOUT]} if worker.get(TASK_POLL_TIMEOUT) else {}
    milliseconds: int = ConfigDef(POLL_TIMEOUT_KEY).parse({**defaults, **connector})[TASK_POLL_TIMEOUT]
    return milliseconds / 1000


def _mode(name: str, value: ConfigSetting) -> None:
    one_of_ignoring_case(*(each.value for each in RestartMode))(name, value)


ERRORS_RESTART_KEY: Final = ConfigKey(
    ERRORS_RESTART,
    Type.STRING,
    Importance.MEDIUM,
    default=RestartMode.TRANSIENT.value,
    validator=_mode,
    doc=(
        "Which failed tasks are restarted without a hand: off (none, as with Kafka Connect), transient (the "
        "default: those whose failure may pass by itself, since a system is away or memory, disk or "
        "connections have run out), or always."
    ),
    group=ERRORS_GROUP,
    order=20,
    width=Width.SHORT,
    display_name="Restart Failed Tasks",
)
"""Of connectors, and of workers as the default of their connectors."""

POLL_TIMEOUT_KEY: Final = ConfigKey(
    TASK_POLL_TIMEOUT,
    Type.LONG,
    Importance.LOW,
    default=3_600_000,
    validator=at_least(0),
    doc=(
        "Milliseconds after which a poll of a source task that has not returned is given up: the task fails "
        "and, as the failure may pass by itself, is restarted (errors.restart), from committed offsets. A "
        "poll has three times as long as the longest one that came back, if that is more. Waits through the "
        "task's context do not count. 0 for never, for a source that waits for its data by itself for hours."
    ),
    group=ERRORS_GROUP,
    order=24,
    width=Width.SHORT,
    display_name="Longest Poll",
)
"""Of connectors, and of workers as the default of their connectors."""

HEALING_KEYS: Final = {
    key.name: key
    for key in (
        ERRORS_RESTART_KEY,
        POLL_TIMEOUT_KEY,
        ConfigKey(
            RESTART_BACKOFF,
            Type.LONG,
            Importance.LOW,
            default=1_000,
            validator=at_least(0),
            doc=(
                "How long a failed task waits for its first restart, in milliseconds; each wait is twice as "
                "long as the one before. After a minute of steady running it begins anew."
            ),
            group=ERRORS_GROUP,
            order=21,
            width=Width.SHORT,
            display_name="First Wait Before a Restart",
        ),
        ConfigKey(
            RESTART_MAX_BACKOFF,
            Type.LONG,
            Importance.LOW,
            default=180_000,
            validator=at_least(0),
            doc="The longest wait for a restart, in milliseconds; up to half of it is added at random.",
            group=ERRORS_GROUP,
            order=22,
            width=Width.SHORT,
            display_name="Longest Wait Before a Restart",
        ),
        ConfigKey(
            RESTART_MAX_PER_HOUR,
            Type.INT,
            Importance.LOW,
            default=30,
            validator=at_least(1),
            doc=(
                "Restarts of a task within an hour after which it stays FAILED until a user restarts it. "
                "With the other defaults a system that stays away is tried for ever, less often than that."
            ),
            group=ERRORS_GROUP,
            order=23,
            width=Width.SHORT,
            display_name="Restarts Within an Hour",
        ),
    )
}
"""Copycat's own keys: they are shown only where they are set, as Kafka Connect has none."""
