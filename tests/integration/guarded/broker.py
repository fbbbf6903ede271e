"""A broker that asks for a password, checks what each user may do, and writes down every request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from copycat_embedded.broker import EmbeddedKafka
from copycat_testkit.kafka import unique, wait_until
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
PASSWORDS = {
    "admin": "admin-secret",
    "creator": "creator-secret",
    "alice": "alice-hidden-word",
    "bob": "bob-hidden-word",
    "carol": "carol-hidden-word",
    "dave": "dave-hidden-word",
    "eve": "eve-hidden-word",
}
SETTINGS = {
    "auto.create.topics.enable": "false",
    "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "listener.name.plaintext.plain.sasl.jaas.config": f'{LOGIN} username="admin" '
    f'password="{PASSWORDS["admin"]}" '
    + " ".join(f'user_{name}="{password}"' for name, password in PASSWORDS.items())
    + ";",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:admin;User:ANONYMOUS",
}
SECURE = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
REQUEST = "Completed request:"


def login(user: str, password: str | None = None) -> str:
    """Return the `sasl.jaas.config` of a client of a user."""
    return f'{LOGIN} username="{user}" password="{password or PASSWORDS[user]}";'


def client_of(user: str) -> dict[str, str]:
    """Return what a client of librdkafka needs to be this user."""
    return {**SECURE, "sasl.username": user, "sasl.password": PASSWORDS[user]}


def overrides(**users: str) -> dict[str, str]:
    """Return a connector's keys that make its clients (producer, consumer, admin) these users."""
    return {f"{client}.override.sasl.jaas.config": login(user) for client, user in users.items()}


def secure(client: str) -> dict[str, str]:
    """Return a connector's keys that make one of its clients log in."""
    return {f"{client}.override.{key}": value for key, value in SECURE.items()}


def sink_of(topic: str, folder: Path, user: str) -> dict[str, str]:
    """Return a sink that reads a topic into a file of its name, as this user."""
    return {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "file": str(folder / topic),
        "topics": topic,
        **secure("consumer"),
        **overrides(consumer=user),
    }


class GuardedKafka:
    """A running broker of that kind."""

    def __init__(self, kafka: EmbeddedKafka) -> None:
        self.bootstrap = kafka.bootstrap
        self.admin = AdminClient({"bootstrap.servers": kafka.bootstrap, **client_of("admin")})
        self._log = kafka.log

    def allow(
        self, user: str, kind: ResourceType, prefix: str, *operations: AclOperation
    ) -> list[AclBinding]:
        """Let a user do something with all whose names begin so."""
        bindings = [_binding(AclBinding, user, kind, prefix, operation) for operation in operations]
        for made in self.admin.create_acls(bindings).values():
            made.result(60)
        for binding in bindings:
            self._wait(binding, there=True)
        return bindings

    def forbid(self, user: str, kind: ResourceType, prefix: str, *operations: AclOperation) -> None:
        """Withdraw what a user was allowed."""
        filters = [_binding(AclBindingFilter, user, kind, prefix, operation) for operation in operations]
        for gone in self.admin.delete_acls(filters).values():
            assert gone.result(60), f"{user} was not allowed {operations}"
        for binding in filters:
            self._wait(binding, there=False)

    def _wait(self, acl: AclBinding | AclBindingFilter, *, there: bool) -> None:
        """Wait until the broker goes by it: the controller, which answers, sends it later."""
        asked = AclBindingFilter(
            acl.restype,
            acl.name,
            acl.resource_pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        wait_until(lambda: bool(self.admin.describe_acls(asked).result(60)) is there, 60, f"{acl}")

    def requests(self, kind: str, client: str) -> list[Any]:
        """Return what a client, by its id, has asked for so far: PRODUCE, FETCH, CREATE_TOPICS."""
        lines = self._log.read_text().splitlines()
        found = [json.loads(_document(line)) for line in lines if REQUEST in line and f'"{client}"' in line]
        wanted = {"requestApiKeyName": kind, "clientId": client}
        return [each for each in found if wanted.items() <= each["requestHeader"].items()]


def _document(line: str) -> str:
    return line.partition(REQUEST)[2].rpartition(" (")[0]


def _binding(made: Any, user: str, kind: ResourceType, prefix: str, operation: AclOperation) -> Any:
    return made(
        kind,
        prefix,
        ResourcePatternType.PREFIXED,
        f"User:{user}",
        "*",
        operation,
        AclPermissionType.ALLOW,
    )


@contextmanager
def guarded_kafka(folder: Path) -> Iterator[GuardedKafka]:
    """Run one on which nobody but its admin may do anything yet."""
    with EmbeddedKafka(folder, settings=SETTINGS) as kafka:
        _write_down_requests(kafka.bootstrap)
        yield GuardedKafka(kafka)


def _write_down_requests(bootstrap: str) -> None:
    """Have the broker log each request with its client and its user."""
    admin = KafkaAdminClient(
        bootstrap_servers=bootstrap,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        sasl_plain_username="admin",
        sasl_plain_password=PASSWORDS["admin"],
    )
    logger = ConfigResource(ConfigResourceType.BROKER_LOGGER, "1", {"kafka.request.logger": "DEBUG"})
    admin.alter_configs([logger])
    admin.close()
