"""What a worker's properties must say, what `copycat up` says in them, and the file that holds them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from copycat_connect.config import BOOLEAN, HIGH, INT, LOW, STRING, ConfigDef, ConfigKey, at_least, non_empty
from copycat_connect.config.client_overrides import EMBEDDED_SERVERS
from copycat_connect.config.properties import format_properties
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.worker_keys import CLUSTER_SECRET
from copycat_connect.errors import ConfigError
from copycat_embedded.private_listener import PrivateListener
from copycat_rest.listeners import LISTENERS
from copycat_rpc.secret import new_secret

from copycat_launcher.roles import EXECUTOR, GRPC_ROLES

JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"
OFFSET_FILE = "offset.storage.file.filename"
STORED = ("config", "offset", "status", "assignment")
#: A machine with two busy cores stands still for 3 s.
MIN_HANG_TIMEOUT_MS = 3_000
TOPICS = {"config": "configs", "offset": "offsets", "status": "status", "assignment": "assignments"}


def _required(name: str, doc: str) -> ConfigKey:
    return ConfigKey(name, STRING, HIGH, validator=non_empty, doc=doc)


def _zero_or_enough(name: str, value: ConfigSetting) -> None:
    at_least(0)(name, value)
    if isinstance(value, int) and 0 < value < MIN_HANG_TIMEOUT_MS:
        raise ConfigError(
            f"Invalid value {value} for configuration {name}: must be 0, which turns it off, or at least "
            f"{MIN_HANG_TIMEOUT_MS}: a busy machine stands still for some seconds",
            key=name,
        )


HANG_TIMEOUT = ConfigKey(
    "service.hang.timeout.ms",
    INT,
    LOW,
    default=15_000,
    validator=_zero_or_enough,
    doc=(
        "How long a service that has answered before may answer nothing before `copycat up` and "
        "`copycat-worker --role all` kill it and start it anew; 0 for ever. Longer than worker.lease.ms, so "
        "that a worker's tasks run elsewhere before it is started again."
    ),
)
ONE_PROCESS = ConfigKey(
    "services.in.one.process",
    BOOLEAN,
    LOW,
    default=True,
    doc=(
        "Whether `copycat up` and `copycat-worker --role all` run config, offset, status and scheduler in "
        "one process: less memory and CPU, and ready in less time. With false each has one of its own, "
        "which ends alone and may use a core of its own."
    ),
)
CONVERTERS = (
    _required("key.converter", "Converter of record keys, when a connector names none."),
    _required("value.converter", "Converter of record values, when a connector names none."),
)
DISTRIBUTED = ConfigDef(
    _required("group.id", "Name of the Connect cluster."),
    _required("config.storage.topic", "Topic of the connector configurations."),
    _required("offset.storage.topic", "Topic of the source offsets."),
    _required("status.storage.topic", "Topic of the statuses."),
    *CONVERTERS,
)
SUPERVISION = ConfigDef(HANG_TIMEOUT, ONE_PROCESS)
STANDALONE = ConfigDef(*CONVERTERS)


def hang_timeout_seconds(properties: Mapping[str, str]) -> float:
    """Return for how long a service may answer nothing; 0 for ever.

    Raises:
        ConfigError: It is no number of milliseconds, or too small.
    """
    found: int = SUPERVISION.parse(properties)[HANG_TIMEOUT.name]
    return found / 1000


def services_share(properties: Mapping[str, str]) -> bool:
    """Tell whether the services that own a log run in one process.

    Raises:
        ConfigError: It is neither true nor false.
    """
    found: bool = SUPERVISION.parse(properties)[ONE_PROCESS.name]
    return found


def up_properties(
    bootstrap: str, rest_port: int, ports: Sequence[int], settings: Mapping[str, str]
) -> dict[str, str]:
    """Return the properties of every role of `copycat up`.

    Names and converters are those of Kafka's shipped `connect-distributed.properties`. The cluster's secret
    is a new one each time.

    Args:
        bootstrap: The brokers.
        rest_port: Where the gateway serves REST.
        ports: One free port for each role that answers gRPC, then one for each further executor.
        settings: What the user said; it wins.
    """
    group = settings.get("group.id", "copycat")
    properties = {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        CLUSTER_SECRET.name: new_secret(),
        "config.storage.topic": "connect-configs",
        "offset.storage.topic": "connect-offsets",
        "status.storage.topic": "connect-status",
        "assignment.storage.topic": "connect-assignments",
        "key.converter": JSON_CONVERTER,
        "value.converter": JSON_CONVERTER,
        "key.converter.schemas.enable": "true",
        "value.converter.schemas.enable": "true",
        LISTENERS.name: f"http://127.0.0.1:{rest_port}",
    }
    # The brokers' own default fits a laptop's single one and a cluster alike; the worker's, 3, does not.
    properties |= {f"{name}.storage.replication.factor": "-1" for name in STORED}
    return {**properties, **_meeting_points(ports), **settings}


def login_properties(listener: PrivateListener, everybody: str) -> dict[str, str]:
    """Return with what services and connectors' clients log in to the embedded Kafka.

    Args:
        listener: Where Copycat logs in.
        everybody: The address for all others.
    """
    login = listener.client()
    clients = ("", "producer.", "consumer.")  # the admin clients of connectors log in as the worker does
    keys = {f"{client}{key}": value for client in clients for key, value in login.items()}
    return {EMBEDDED_SERVERS: everybody, **keys}


def standalone_properties(given: Mapping[str, str], ports: Sequence[int]) -> dict[str, str]:
    """Return the properties of a standalone worker's roles: nothing of theirs is stored in Kafka.

    Args:
        given: What the worker's file says; it wins, except where the roles meet.
        ports: One free port for each role that answers gRPC.
    """
    names = {f"{name}.storage.topic": f"standalone-{name}" for name in STORED}  # named, never created
    meet = {"storage.backend": "memory", **_meeting_points(ports)}
    return {"group.id": "standalone", CLUSTER_SECRET.name: new_secret(), **names, **given, **meet}


def embedded_properties(
    app_id: str,
    bootstrap: str,
    settings: Mapping[str, str],
    *,
    rest_port: int,
    executor: str,
    services: Mapping[str, str],
    secret: str,
) -> dict[str, str]:
    """Return the properties of every role of an embedded copy: as of `copycat up`, named by the app id.

    Args:
        app_id: Names the cluster, its groups and its topics.
        bootstrap: The brokers.
        settings: What the application said; it wins, except for the app id.
        rest_port: Where the gateway serves REST unless `settings` names listeners.
        executor: Where the executor answers, `host:port`.
        services: Where this process finds each service, by role.
        secret: What all copies of this app id prove themselves with, unless `settings` names another.
    """
    given = {CLUSTER_SECRET.name: secret, **embedded_names(app_id, settings)}
    meet = {f"{role}.addresses": address for role, address in services.items()}
    return {
        **up_properties(bootstrap, rest_port, (), given),
        **meet,
        EXECUTOR.listen_key: executor,
    }


def embedded_names(app_id: str, settings: Mapping[str, str]) -> dict[str, str]:
    """Return what an application said, with the names of the cluster and its topics, where it named none."""
    topics = {f"{name}.storage.topic": f"{app_id}-{topic}" for name, topic in TOPICS.items()}
    return {**topics, **settings, "group.id": app_id}


def executor_properties(properties: Mapping[str, str], port: int) -> dict[str, str]:
    """Return the properties of a further executor: the same, but a port of its own."""
    return {**properties, EXECUTOR.listen_key: f"127.0.0.1:{port}", "executor.addresses": f"127.0.0.1:{port}"}


def _meeting_points(ports: Sequence[int]) -> dict[str, str]:
    pairs = [(role, f"127.0.0.1:{port}") for role, port in zip(GRPC_ROLES, ports, strict=False)]
    listen = {role.listen_key: address for role, address in pairs}
    return {**listen, **{f"{role.name}.addresses": address for role, address in pairs}}


def write_properties(path: Path, properties: Mapping[str, str], comment: str = "") -> None:
    """Write a file that is there whole or not at all, and that none but its owner may read.

    Properties may hold passwords, so the file is never wider, whatever was there before it.
    """
    half = path.with_name(f"{path.name}.half")
    half.unlink(missing_ok=True)  # left by a run that was killed
    descriptor = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(format_properties(properties, comment))
            file.flush()
            os.fsync(file.fileno())  # before the renaming, or a crash of the machine may leave an empty file
    except OSError:
        half.unlink(missing_ok=True)
        raise
    half.replace(path)
