"""The two systems that the script is played against, each on a broker that is there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from confluent_kafka.admin import AdminClient
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.system import CopycatUp, names

from tests.compat.rest.play import System

THEIR_GROUP: Final = "their-workers"
OUR_GROUP: Final = "our-workers"
#: Worker properties of both.
PROPERTIES: Final = {
    "offset.flush.interval.ms": "1000",
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}
CLUSTER_SECONDS: Final = 60.0


@contextmanager
def kafka_connect(bootstrap: str, folder: Path) -> Iterator[System]:
    """Run Apache Kafka Connect."""
    worker = ConnectPeer(
        bootstrap,
        folder / "connect",
        group=THEIR_GROUP,
        properties=PROPERTIES,
        jars=("connect", "mirror"),
    )
    with worker:
        yield System(worker.url, "by-theirs", THEIR_GROUP, folder / "their-files", _cluster_id(bootstrap))


@contextmanager
def copycat(bootstrap: str, folder: Path) -> Iterator[System]:
    """Run Copycat."""
    settings = {**names(OUR_GROUP), **PROPERTIES}
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    with CopycatUp(folder / "copycat", bootstrap, options=options) as up:
        yield System(up.url, "by-ours", OUR_GROUP, folder / "our-files", _cluster_id(bootstrap))


def _cluster_id(bootstrap: str) -> str:
    metadata: Any = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=CLUSTER_SECONDS)
    return str(metadata.cluster_id)
