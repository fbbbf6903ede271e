"""Keys of the worker properties that more than one service reads."""

from __future__ import annotations

from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.setting import Type

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
