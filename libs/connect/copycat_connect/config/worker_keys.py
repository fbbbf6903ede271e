"""Keys of the worker properties that more than one service reads."""

from __future__ import annotations

import re

from copycat_connect.cluster import default_address
from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.validators import (
    at_least,
    log_level_name,
    non_empty,
    non_empty_list,
    one_of_ignoring_case,
)
from copycat_connect.errors import ConfigError
from copycat_connect.log_levels import LEVELS

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
MIN_SECRET_CHARACTERS = 16


def _carried(name: str, value: ConfigSetting) -> None:
    """Accept a secret that gRPC's metadata can carry and nobody guesses."""
    text = "" if value is None else value.value.strip()
    if value is not None and (len(text) < MIN_SECRET_CHARACTERS or not re.fullmatch("[!-~]+", text)):
        raise ConfigError(
            f"Invalid value [hidden] for configuration {name}: it must have {MIN_SECRET_CHARACTERS} or more"
            " printable ASCII characters and no blanks, for example what `openssl rand -hex 32` prints",
            key=name,
        )


CLUSTER_SECRET = ConfigKey(
    "cluster.secret",
    Type.PASSWORD,
    Importance.HIGH,
    default=None,
    validator=_carried,
    doc=(
        "Secret that the processes of a cluster send with every gRPC call and ask of every caller, the same "
        "in all of them. Required where a service listens on more than loopback. Placeholders of config "
        "providers are resolved. `copycat up`, standalone workers and embedded copies make one by themselves."
    ),
)
KIP_STRICT = ConfigKey(
    "kip.strict",
    Type.BOOLEAN,
    Importance.LOW,
    default=False,
    doc=(
        "Follow the KIPs' own text where Apache Kafka Connect was released with another behaviour. "
        "services/gateway/DIFFERENCES.md lists what changes."
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
LOG_LEVEL = ConfigKey(
    "log.level",
    Type.STRING,
    Importance.LOW,
    default="INFO",
    validator=log_level_name,
    doc=f"The least level that is logged, of every service and task: {', '.join(LEVELS)}.",
)
OFFSET_FLUSH_INTERVAL = ConfigKey(
    "offset.flush.interval.ms",
    Type.LONG,
    Importance.LOW,
    default=5000,
    validator=at_least(1),
    doc="Milliseconds between two commits of a task's offsets. Apache Kafka Connect's default is 60000.",
)
OFFSET_FLUSH_TIMEOUT = ConfigKey(
    "offset.flush.timeout.ms",
    Type.LONG,
    Importance.LOW,
    default=5000,
    validator=at_least(1),
    doc="Milliseconds within which records must be flushed and offsets committed, or the commit is given up.",
)
TASK_SHUTDOWN_TIMEOUT = ConfigKey(
    "task.shutdown.graceful.timeout.ms",
    Type.LONG,
    Importance.LOW,
    default=5000,
    validator=at_least(1),
    doc="Milliseconds a task may take to drain.",
)
SPAN_ENDPOINT = ConfigKey(
    "otel.exporter.otlp.endpoint",
    Type.STRING,
    Importance.LOW,
    default=None,
    doc="OTLP collector (gRPC) that spans and metrics are sent to; nothing is sent without it.",
)


def listen_key(role: str) -> ConfigKey:
    """Return the key of the address on which a role answers gRPC, `<role>.listen`."""
    return ConfigKey(
        f"{role}.listen",
        Type.STRING,
        Importance.LOW,
        default=default_address(role),
        validator=non_empty,
        doc=f"host:port on which the {role} service answers gRPC; port 0 picks a free one.",
    )


def addresses_key(role: str) -> ConfigKey:
    """Return the key of the addresses at which others find a role, `<role>.addresses`."""
    return ConfigKey(
        f"{role}.addresses",
        Type.LIST,
        Importance.LOW,
        default=default_address(role),
        validator=non_empty_list,
        doc=f"host:port of each instance of the {role} service.",
    )
