"""What a broker finds on disk when it starts: a formatted log folder and its properties."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from pathlib import Path

from copycat_connect.files import make_private, open_private

from copycat_embedded.ports import LOOPBACK
from copycat_embedded.private_listener import PrivateListener

TEMPLATE = Path(__file__).with_name("template")
NODE_ID = 1
#: Where Kafka looks for the metadata that a new cluster begins with.
FIRST_METADATA = Path("__cluster_metadata-0", "00000000000000000000-0000000000.checkpoint")


def format_log_folder(folder: Path) -> None:
    """Do what Kafka's `StorageTool format` does, without a second of JVM; a formatted folder stays so.

    The folder and all in it are for their owner only.

    The checkpoint is the one the tool wrote for this Kafka version: without it only metadata.version would be
    finalized. A folder that an older version formatted keeps its own.
    """
    make_private(folder)
    if (folder / "meta.properties").is_file():
        return
    make_private(folder / FIRST_METADATA.parent)
    _write(folder / FIRST_METADATA, (TEMPLATE / "metadata.checkpoint").read_bytes())
    lines = (
        "version=1",
        f"node.id={NODE_ID}",
        f"cluster.id={_kafka_id()}",
        f"directory.id={_kafka_id()}",
        "",
    )
    half = folder / "meta.properties.half"
    _write(half, "\n".join(lines).encode())
    half.replace(folder / "meta.properties")  # last and at once: its presence says that the folder is whole


def write_broker_properties(
    file: Path,
    log_folder: Path,
    port: int,
    controller_port: int,
    more: Mapping[str, str] | None = None,
    *,
    private: PrivateListener | None = None,
) -> None:
    """Write the settings of a lean single node, and `more`; ports may differ from those of the run before.

    With a `private` listener all others are asked for what the access rules allow them.
    """
    everybody, controller = f"PLAINTEXT://{LOOPBACK}:{port}", f"CONTROLLER://{LOOPBACK}:{controller_port}"
    settings = {
        "process.roles": "broker,controller",
        "node.id": NODE_ID,
        "controller.quorum.voters": f"{NODE_ID}@{LOOPBACK}:{controller_port}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"{everybody},{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": _escaped(log_folder),
        "num.network.threads": 1,
        "num.io.threads": 2,
        "background.threads": 2,
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 1,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 1,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        "group.initial.rebalance.delay.ms": 0,  # nobody else is coming
        "broker.heartbeat.interval.ms": 1000,
        "broker.session.timeout.ms": 5000,  # a broker killed hard waits this long for its own former session
        "log.cleaner.dedupe.buffer.size": 2 * 1024 * 1024,
        **(private.broker(everybody, controller) if private else {}),
        **(more or {}),
    }
    _write(file, "".join(f"{key}={value}\n" for key, value in settings.items()).encode())


def _write(file: Path, content: bytes) -> None:
    with open(file, "wb", opener=open_private) as private:
        private.write(content)


def _kafka_id() -> str:
    """Return a new id in Kafka's form, never starting with a dash, which tools take for an option."""
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text


def _escaped(path: Path) -> str:
    """Write a path as a properties value; a backslash would escape what follows it."""
    return str(path.resolve()).replace("\\", "\\\\")
