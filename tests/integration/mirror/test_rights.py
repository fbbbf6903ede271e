"""Rights to topics follow from one cluster that checks them to another; the right to write never does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from copycat_mirror.cluster import MirrorCluster
from copycat_mirror.source.connector import MirrorSourceConnector
from copycat_testkit.conformance import FakeConnectorContext
from copycat_testkit.kafka import wait_until

from tests.integration.guarded.broker import SECURE, GuardedKafka, guarded_kafka, login

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
Right = tuple[str, str, AclOperation | str | int, AclPermissionType | str | int]
"""Topic, principal, operation, and whether it is allowed or denied."""
GIVEN: tuple[Right, ...] = (
    ("orders", "User:alice", AclOperation.READ, ALLOW),
    ("orders", "User:bob", AclOperation.ALL, ALLOW),
    ("orders", "User:carol", AclOperation.WRITE, ALLOW),
    ("orders", "User:dave", AclOperation.WRITE, DENY),
    ("orders", "User:eve", AclOperation.DESCRIBE, ALLOW),
    ("private", "User:alice", AclOperation.READ, ALLOW),
)


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GuardedKafka, GuardedKafka]]:
    folder: Path = tmp_path_factory.mktemp("rights")
    with guarded_kafka(folder / "source") as source, guarded_kafka(folder / "target") as target:
        yield source, target


def rights(admin: AdminClient) -> set[Right]:
    """Return the rights to topics that a cluster knows."""
    found = MirrorCluster(admin, "guarded", 30).topic_acls()
    assert found is not None, "the cluster has no authorizer"
    return {(acl.name, acl.principal, acl.operation, acl.permission_type) for acl in found}


def give(admin: AdminClient, *given: Right) -> None:
    """Create rights, for clients of any host."""
    asked = [
        AclBinding(
            ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, principal, "*", operation, permission
        )
        for topic, principal, operation, permission in given
    ]
    for made in admin.create_acls(asked).values():
        made.result(60)


def config(source: GuardedKafka, target: GuardedKafka) -> Mapping[str, str]:
    """Return a mirror of one topic that logs in at both ends."""
    keys = {**SECURE, "sasl.jaas.config": login("admin")}
    return {
        "name": "berlin-to-paris",
        "topics": "orders",
        "source.cluster.alias": "berlin",
        "target.cluster.alias": "paris",
        "source.cluster.bootstrap.servers": source.bootstrap,
        "target.cluster.bootstrap.servers": target.bootstrap,
        **{f"{end}.cluster.{key}": value for end in ("source", "target") for key, value in keys.items()},
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "sync.topic.acls.interval.seconds": "1",
    }


@pytest.mark.row("K26-72")
def test_who_may_read_a_topic_may_read_its_copy_and_nobody_may_write_to_it(
    clusters: tuple[GuardedKafka, GuardedKafka],
) -> None:
    source, target = clusters
    source.admin.create_topics([NewTopic("orders", 1), NewTopic("private", 1)])["orders"].result(60)
    give(source.admin, *GIVEN)
    wait_until(lambda: rights(source.admin) == set(GIVEN), 60, "the source knows the rights")
    connector = MirrorSourceConnector()
    context = FakeConnectorContext()
    connector.initialize(context)
    connector.start(config(source, target))
    try:
        expected: set[Right] = {
            ("berlin.orders", "User:alice", AclOperation.READ, ALLOW),
            ("berlin.orders", "User:bob", AclOperation.READ, ALLOW),
            ("berlin.orders", "User:dave", AclOperation.WRITE, DENY),
            ("berlin.orders", "User:eve", AclOperation.DESCRIBE, ALLOW),
        }
        wait_until(lambda: rights(target.admin) == expected, 60, "the rights of the copy")
        later: Right = ("orders", "User:frank", AclOperation.READ, ALLOW)
        give(source.admin, later)
        wait_until(
            lambda: rights(target.admin) == {*expected, ("berlin.orders", *later[1:])},
            60,
            "a right that came later",
        )
        assert context.errors == []
    finally:
        connector.stop()
