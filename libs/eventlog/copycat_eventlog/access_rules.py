"""What others may do on a Kafka of Copycat's own: everything but what is Copycat's own.

The broker refuses whatever no rule allows, so that a moment without rules opens nothing. Rules are kept by
the broker and only added: topics that had other names once are still Copycat's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from copycat_connect.errors import UnavailableError

from copycat_eventlog.clients import librdkafka_config, read_security

ANSWER_SECONDS: Final = 30.0
EVERYBODY: Final = "User:*"
"""Whoever does not log in as Copycat, for whom the broker asks no rule."""
KAFKAS_TOPICS: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
"""Kafka takes records of these from any client that gives itself a certain name."""
SINK_GROUPS: Final = "connect-"
_CHANGES: Final = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.CREATE,
    AclOperation.DELETE,
    AclOperation.ALTER,
    AclOperation.ALTER_CONFIGS,
)
_CLUSTER: Final = (AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS, AclOperation.IDEMPOTENT_WRITE)
_OPEN: Final = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
_LITERAL, _PREFIXED = ResourcePatternType.LITERAL, ResourcePatternType.PREFIXED


def access_rules(properties: Mapping[str, str]) -> list[AclBinding]:
    """Return the rules for everybody but Copycat, whose worker properties these are; refusals come first.

    Others may see all that is there. They may not read internal topics either, which may hold passwords.
    """
    group = properties["group.id"]
    names = [value for key, value in properties.items() if key.endswith(".storage.topic") and value]
    own = {*names, f"{group}-changes", f"{group}-services", *KAFKAS_TOPICS}
    elected = (f"connect-cluster-{group}", f"copycat-status-{group}")
    refused = [
        *((ResourceType.TOPIC, topic, _LITERAL) for topic in sorted(own)),
        *((ResourceType.TOPIC, prefix, _PREFIXED) for prefix in elected),
        *((ResourceType.GROUP, prefix, _PREFIXED) for prefix in (SINK_GROUPS, *elected)),
        *((ResourceType.TRANSACTIONAL_ID, prefix, _PREFIXED) for prefix in (f"{group}-", *elected)),
    ]
    rules = [_rule(*what, each, AclPermissionType.DENY) for what in refused for each in _changes_of(what[0])]
    rules += [_allowed(ResourceType.BROKER, "kafka-cluster", operation) for operation in _CLUSTER]
    return [*rules, *(_allowed(kind, "*", AclOperation.ALL) for kind in _OPEN)]


async def give_access(bootstrap: str, login: Mapping[str, str], properties: Mapping[str, str]) -> None:
    """Have a broker go by these rules.

    Args:
        bootstrap: Where to log in.
        login: As whom, in the words of Kafka's Java clients.
        properties: The worker's.

    Raises:
        UnavailableError: The broker does not take them.
    """
    connection = librdkafka_config(bootstrap, read_security(login))
    await asyncio.to_thread(_give, AdminClient({**connection}), access_rules(properties))


def _give(admin: AdminClient, rules: list[AclBinding]) -> None:
    try:
        for made in admin.create_acls(rules, request_timeout=ANSWER_SECONDS).values():
            made.result(ANSWER_SECONDS)
    except (KafkaException, TimeoutError) as error:
        raise UnavailableError(
            f"Kafka does not take the access rules of Copycat's own topics: {error}. Its log says more."
        ) from error


def _changes_of(kind: ResourceType) -> tuple[AclOperation, ...]:
    match kind:
        case ResourceType.TOPIC:
            return _CHANGES
        case ResourceType.GROUP:
            return AclOperation.READ, AclOperation.DELETE, AclOperation.ALTER_CONFIGS
        case _:
            return (AclOperation.WRITE,)


def _allowed(kind: ResourceType, name: str, operation: AclOperation) -> AclBinding:
    return _rule(kind, name, _LITERAL, operation, AclPermissionType.ALLOW)


def _rule(
    kind: ResourceType,
    name: str,
    pattern: ResourcePatternType,
    operation: AclOperation,
    permission: AclPermissionType,
) -> AclBinding:
    return AclBinding(kind, name, pattern, EVERYBODY, "*", operation, permission)
