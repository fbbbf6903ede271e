"""Keys of the worker properties that more than one service reads."""

from __future__ import annotations

import re

from copycat_connect.cluster import default_address
from copycat_connect.config.key import ConfigKey, Importance
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.validators import (
    at_least,
    between,
    log_level_name,
    non_empty,
    non_empty_list,
    one_of_ignoring_case,
)
from copycat_connect.errors import ConfigError
from copycat_connect.log_levels import LEVELS


def _exactly_once_choice(name: str, value: ConfigSetting) -> None:
    if value is not None:
        one_of_ignoring_case("disabled", "enabled", "preparing")(name, value)


EXACTLY_ONCE = ConfigKey(
    "exactly.once.source.support",
    Type.STRING,
    Importance.HIGH,
    default=None,
    validator=_exactly_once_choice,
    doc=(
        "Which source connectors deliver exactly once (KIP-618). Not set: those that ask for it, by "
        "exactly.once.support=required or delivery.guarantee=exactly_once. enabled: all of them. disabled or "
        "preparing: none, and one that asks for it is refused."
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


BROKER_DATA_DIR = ConfigKey(
    "broker.data.dir",
    Type.STRING,
    Importance.LOW,
    default="",
    doc=(
        "Folder of the broker's data, where that lies on this machine: while Kafka takes nothing, statuses "
        "say whether its disk is full. `copycat up` sets it for its embedded Kafka."
    ),
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
CLIENT_METRIC_INTERVAL = ConfigKey(
    "client.metrics.interval.ms",
    Type.INT,
    Importance.LOW,
    default=5_000,
    validator=between(0, 3_600_000),
    doc="Milliseconds between two reports of a task's Kafka client, for its metrics; 0 for none.",
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
TASK_PROGRESS_TIMEOUT = ConfigKey(
    "task.progress.timeout.ms",
    Type.LONG,
    Importance.LOW,
    default=30_000,
    validator=at_least(0),
    doc=(
        "Milliseconds after which a call of a task that has not returned (start, poll, put, pre_commit, "
        "...) shows in the status: its connector is degraded then. Nothing is ended for it. A poll has three "
        "times as long as the longest one that came back, if that is more. 0 for never."
    ),
)
TASK_CALL_TIMEOUT = ConfigKey(
    "task.call.timeout.ms",
    Type.LONG,
    Importance.LOW,
    default=900_000,
    validator=at_least(0),
    doc=(
        "Milliseconds after which a call into a task (start, open, put, pre_commit, commit) is given up: the "
        "task fails and, as the failure may pass by itself, is restarted (errors.restart). Its host ends "
        "with it; tasks that share the host start again elsewhere. A poll has task.poll.timeout.ms. "
        "0 for never."
    ),
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
