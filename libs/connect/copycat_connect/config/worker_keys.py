"""Keys of the worker properties that more than one service reads."""

from __future__ import annotations

from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.setting import Type
from copycat_connect.config.validators import at_least

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
