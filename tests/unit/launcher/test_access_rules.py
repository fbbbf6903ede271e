"""Which rules the embedded Kafka goes by: topics that settings name are closed, whatever they are called."""

from __future__ import annotations

from confluent_kafka.admin import AclBinding, AclOperation, AclPermissionType, ResourceType
from copycat_embedded.private_listener import PrivateListener
from copycat_eventlog.access_rules import access_rules
from copycat_launcher.worker_properties import login_properties, up_properties

PORTS = (1, 2, 3, 4, 5)


def rules(**settings: str) -> list[AclBinding]:
    given = {key.replace("_", "."): value for key, value in settings.items()}
    return access_rules(up_properties("a:1", 8083, PORTS, given))


def closed(found: list[AclBinding], kind: ResourceType, operation: AclOperation) -> set[str]:
    return {
        rule.name
        for rule in found
        if (rule.restype, rule.operation, rule.permission_type) == (kind, operation, AclPermissionType.DENY)
    }


def test_the_topics_of_the_settings_are_closed_and_those_that_have_names_by_default() -> None:
    found = rules(
        group_id="mine", config_storage_topic="a", status_storage_topic="b", changes_storage_topic="c"
    )

    for operation in (AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE, AclOperation.DELETE):
        assert closed(found, ResourceType.TOPIC, operation) >= {
            "a", "b", "c", "connect-offsets", "connect-assignments", "mine-services", "connect-cluster-mine",
            "copycat-status-mine", "__consumer_offsets", "__transaction_state",
        }  # fmt: skip
    assert "mine-changes" in closed(rules(group_id="mine"), ResourceType.TOPIC, AclOperation.WRITE)


def test_writers_and_groups_of_the_cluster_are_closed() -> None:
    found = rules(group_id="mine")

    writers = closed(found, ResourceType.TRANSACTIONAL_ID, AclOperation.WRITE)
    assert writers == {"mine-", "connect-cluster-mine", "copycat-status-mine"}
    for operation in (AclOperation.READ, AclOperation.DELETE):
        assert closed(found, ResourceType.GROUP, operation) == {
            "connect-", "connect-cluster-mine", "copycat-status-mine",
        }  # fmt: skip


def test_everybody_may_do_what_is_not_refused_but_change_the_cluster() -> None:
    found = rules()
    allowed = [rule for rule in found if rule.permission_type == AclPermissionType.ALLOW]
    of_cluster = {rule.operation for rule in allowed if rule.restype == ResourceType.BROKER}

    assert {rule.restype for rule in allowed if rule.operation == AclOperation.ALL} == {
        ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID,
    }  # fmt: skip
    assert of_cluster.isdisjoint({
        AclOperation.ALL, AclOperation.ALTER, AclOperation.ALTER_CONFIGS, AclOperation.CLUSTER_ACTION,
        AclOperation.CREATE,
    })  # fmt: skip
    first_allowed = found.index(allowed[0])
    assert all(rule.permission_type == AclPermissionType.ALLOW for rule in found[first_allowed:])


def test_services_and_connectors_log_in_and_the_address_for_all_others_is_told() -> None:
    login = login_properties(PrivateListener(9, "word"), "127.0.0.1:7")

    assert login["embedded.bootstrap.servers"] == "127.0.0.1:7"
    assert (
        login["sasl.jaas.config"] == login["producer.sasl.jaas.config"] == login["consumer.sasl.jaas.config"]
    )
    assert 'password="word"' in login["sasl.jaas.config"]
