"""What every container of a fleet reads as its worker properties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from copycat_connect.cluster import GRPC_PORTS, REST_PORT
from copycat_testkit.cluster import OWNERS, STRING

from tools.containers.brokers import Brokers

#: Nothing waits for a commit of a minute, or for a task that is slow to end.
QUICK: Final = {"offset.flush.interval.ms": "1000"}
STORED: Final = {"config": "configs", "offset": "offsets", "status": "status", "assignment": "assignments"}


def worker_properties(group: str, brokers: Brokers, more: Mapping[str, str]) -> str:
    """Return the text of the file: each service is known by one name that leads to all its instances."""
    replicas = min(3, len(brokers.boxes))
    settings = {
        "bootstrap.servers": brokers.inside,
        "group.id": group,
        "cluster.secret": "${env:COPYCAT_CLUSTER_SECRET}",
        "config.providers": "env",
        "config.providers.env.class": "EnvVarConfigProvider",
        "config.providers.env.param.allowlist.pattern": "COPYCAT_.*",
        "key.converter": STRING,
        "value.converter": STRING,
        **{f"{name}.storage.topic": f"{group}-{suffix}" for name, suffix in STORED.items()},
        **{f"{name}.storage.replication.factor": replicas for name in STORED},
        **{f"{role}.listen": f"0.0.0.0:{port}" for role, port in GRPC_PORTS.items()},
        "listeners": f"http://0.0.0.0:{REST_PORT}",
        **{f"{role}.addresses": f"{role}:{GRPC_PORTS[role]}" for role in OWNERS},
        **QUICK,
        **more,
    }
    return "".join(f"{key}={value}\n" for key, value in settings.items())
