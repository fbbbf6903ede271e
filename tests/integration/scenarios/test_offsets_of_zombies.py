"""A task of a stopped exactly-once source that wakes up late cannot undo a change of offsets (KIP-875)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from copycat_connect.config.delivery import transactional_id
from copycat_eventlog.producers import SILENT
from copycat_testkit.kafka import consume_all, create_topic, unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.files import LineFile
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = pytest.mark.timeout(300)


def shown(file: LineFile, position: int) -> list[dict[str, Any]]:
    """Return the offsets of a source that has read its file so far."""
    return [{"partition": {"filename": str(file.path)}, "offset": {"position": position}}]


def frozen_task(cluster: Cluster, name: str, file: LineFile, topic: str) -> Producer:
    """Return the producer of a task, with a record and its offset in a transaction that is open."""
    zombie = Producer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "transactional.id": transactional_id(cluster.group, name, 0),
        },
        logger=SILENT,
    )
    zombie.init_transactions(PATIENCE)
    zombie.begin_transaction()
    zombie.produce(topic, b"late")
    key = json.dumps([name, {"filename": str(file.path)}], separators=(",", ":"))
    zombie.produce(cluster.topic("offsets"), key=key, value=b'{"position":999}')
    assert zombie.flush(PATIENCE) == 0
    return zombie


@pytest.mark.parametrize(
    ("method", "position"),
    [
        pytest.param("PATCH", 4, marks=pytest.mark.row("K875-18")),
        pytest.param("DELETE", None, marks=pytest.mark.row("K875-26")),
    ],
)
def test_a_zombie_task_cannot_take_back_a_change_of_its_offsets(
    cluster: Cluster, rest: Rest, tmp_path: Path, method: str, position: int | None
) -> None:
    name, topic, file = unique("zombie"), create_topic(cluster.bootstrap), LineFile(tmp_path / "in.txt")
    file.append(["one", "two"])
    path = f"/connectors/{name}/offsets"
    rest.create(name, {**file.source(topic), "delivery.guarantee": "exactly_once"})
    wait_until(lambda: rest.get(path)["offsets"] == shown(file, 8), PATIENCE, "both lines")
    rest.ok("PUT", f"/connectors/{name}/stop")
    rest.released(name)
    zombie = frozen_task(cluster, name, file, topic)

    changed = shown(file, position) if position is not None else []
    rest.ok(method, path, {"offsets": changed} if changed else None)
    with pytest.raises(KafkaException) as refused:
        zombie.commit_transaction(PATIENCE)

    assert refused.value.args[0].code() == KafkaError._FENCED
    assert rest.get(path)["offsets"] == changed
    assert [message.value() for message in consume_all(cluster.bootstrap, topic)] == [b"one", b"two"]
    counts = [
        message.value()
        for message in consume_all(cluster.bootstrap, cluster.topic("configs"))
        if message.key() == f"tasks-fencing-{name}".encode()
    ]
    assert counts == [b'{"task-count":1}', b'{"task-count":0}']
