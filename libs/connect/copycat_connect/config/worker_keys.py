"""Keys of the worker properties that more than one service reads."""

from __future__ import annotations

from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.validators import at_least, one_of_ignoring_case

_EXACTLY_ONCE_CHOICES = one_of_ignoring_case("disabled", "enabled", "preparing")


def _at_least_once_only(name: str, value: ConfigSetting) -> None:
    """Refuse what is not given: a source that runs in the belief of exactly once may repeat records."""
    _EXACTLY_ONCE_CHOICES(name, value)
    if value.lower() != "disabled":
        reason = "This version of Copycat delivers at least once; use disabled, or leave the setting out"
        raise invalid_value(name, value, reason)


EXACTLY_ONCE = ConfigKey(
    "exactly.once.source.support",
    Type.STRING,
    Importance.HIGH,
    default="disabled",
    validator=_at_least_once_only,
    doc=(
        "Whether source connectors can deliver exactly once (KIP-618). Only disabled is possible: this "
        "version of Copycat delivers at least once."
    ),
)

KIP_STRICT = ConfigKey(
    "kip.strict",
    Type.BOOLEAN,
    Importance.LOW,
    default=False,
    doc=(
        "Follow the KIPs' own text where Apache Kafka Connect was released with another behaviour. "
        "The README lists what changes."
    ),
)
TOPIC_CREATION = ConfigKey(
    "topic.creation.enable",
    Type.BOOLEAN,
    Importance.LOW,
    default=True,
    doc="Whether source connectors may have topics created by their topic.creation.* keys.",
)
TOPIC_TRACKING = ConfigKey(
    "topic.tracking.enable",
    Type.BOOLEAN,
    Importance.LOW,
    default=True,
    doc="Whether the topics that connectors use are recorded and shown.",
)
TOPIC_TRACKING_RESET = ConfigKey(
    "topic.tracking.allow.reset",
    Type.BOOLEAN,
    Importance.LOW,
    default=True,
    doc="Whether the topics recorded for a connector may be reset by a user; its deletion always does.",
)
METRIC_WINDOW = ConfigKey(
    "metrics.sample.window.ms",
    Type.LONG,
    Importance.LOW,
    default=30_000,
    validator=at_least(1),
    doc="Milliseconds of one window over which rates, means and maxima of metrics are computed.",
)
METRIC_WINDOWS = ConfigKey(
    "metrics.num.samples",
    Type.INT,
    Importance.LOW,
    default=2,
    validator=at_least(1),
    doc="How many windows of metrics are kept.",
)
