"""The examples on the connectors' pages run as they stand, but for the addresses of the clusters."""

from __future__ import annotations

import pytest
from copycat_connect.plugin import PluginSpec
from copycat_mirror.checkpoint.plugin import PLUGIN as CHECKPOINT
from copycat_mirror.heartbeat.plugin import PLUGIN as HEARTBEAT
from copycat_mirror.source.plugin import PLUGIN as SOURCE
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.mirror.pair import SECONDS, Pair, consumed
from tests.integration.mirror.test_failover import read

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


@pytest.mark.parametrize(
    ("spec", "title"),
    [(spec, title) for spec in (SOURCE, CHECKPOINT, HEARTBEAT) for title in spec.examples],
    ids=lambda each: each if isinstance(each, str) else each.task_class_name.rpartition(".")[2],
)
def test_an_example_runs(pair: Pair, spec: PluginSpec, title: str) -> None:
    group, name = unique("group"), unique("example")
    topic = create_topic(pair.source, unique("invoices-x"))
    produce(pair.source, topic, [b"one"])
    read(pair.source, group, [topic], 1)
    example = {
        key: value.replace("localhost:19092", pair.source).replace("localhost:9092", pair.target)
        for key, value in spec.examples[title].items()
    }
    pair.put(name, {"connector.class": spec.class_name, **example})
    if spec is SOURCE:
        identity = "IdentityReplicationPolicy" in example.get("replication.policy.class", "")
        remote = topic if identity else f"berlin.{topic}"
        wait_until(lambda: consumed(pair.target, remote), SECONDS, f"{remote} has the record")
    pair.runs(name)
    pair.delete(name)
