"""How the clients of a mirror reach the source and the target, and those clients."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient
from copycat_connect.config import ConfigValue
from copycat_connect.config.client_choices import INTERCEPTORS, OFFSET_RESET, refusal
from copycat_connect.config.client_names import (
    ADMIN,
    CONSUMER,
    PRODUCER,
    READ_AHEAD,
    STORES,
    Rename,
    translated,
)
from copycat_connect.config.client_overrides import CONSUMER_OVERRIDE, PRODUCER_OVERRIDE
from copycat_connect.errors import ConfigError

from copycat_mirror.settings import (
    SOURCE_ALIAS,
    SOURCE_CLUSTER,
    TARGET_ALIAS,
    TARGET_CLUSTER,
)

Client = TypeVar("Client")
_log = logging.getLogger(__name__)
_SERVERS: Final = "bootstrap.servers"
#: All that MirrorMaker takes from below `source.cluster.` and `target.cluster.`.
_CONNECTION: Final = ("security.protocol", "ssl.", "sasl.")
_ALIASES: Final = {SOURCE_CLUSTER: SOURCE_ALIAS, TARGET_CLUSTER: TARGET_ALIAS}
_ENDS: Final = {SOURCE_CLUSTER: "source.", TARGET_CLUSTER: "target."}

#: What each kind of client has. A mirror's producers have no transactions of their own.
_NAMES: Final[Mapping[str, Mapping[str, Rename]]] = {
    "consumer.": CONSUMER,
    "producer.": {key: name for key, name in PRODUCER.items() if not key.startswith("transaction")},
    "admin.": ADMIN,
}
#: What says which records are read or what becomes of them; a mirror chooses partitions itself.
_CHOICES: Final = {
    "consumer.": (CONSUMER_OVERRIDE, (OFFSET_RESET, INTERCEPTORS)),
    "producer.": (PRODUCER_OVERRIDE, (INTERCEPTORS,)),
}


def refused_client_settings(config: Mapping[str, str | None]) -> list[ConfigValue]:
    """Return an error for each setting of a client that cannot be honoured."""
    found = []
    for end in ("", *_ENDS.values()):
        for kind, (client, settings) in _CHOICES.items():
            for setting in settings:
                key = f"{end}{kind}{setting}"
                value = config.get(key)
                refused = value and refusal(client, setting, value, key)
                if refused:
                    found.append(ConfigValue(key, value=value, errors=[refused]))
    return found


class Clients:
    """Makes the clients of a connector or task, their settings composed as MirrorMaker composes them.

    Keys below `source.cluster.` say how to reach the cluster; below `consumer.`, `producer.` and `admin.`
    stand settings of the clients of both clusters, below `source.consumer.` and the like those of one.
    """

    def __init__(self, config: Mapping[str, str], role: str) -> None:
        """Use the configuration, and what the clients are there for: a part of their client.id."""
        self._config = config
        self._role = role

    def settings(self, cluster: str, kind: str) -> dict[str, str]:
        """Return the settings of a client under their Java names.

        Args:
            cluster: `source.cluster.` or `target.cluster.`.
            kind: `consumer.`, `producer.` or `admin.`.
        """
        reached = {
            name: value
            for name, value in self._below(cluster).items()
            if name == _SERVERS or name.startswith(_CONNECTION)
        }
        return {**reached, **self._below(kind), **self._below(f"{_ENDS[cluster]}{kind}")}

    def place(self, cluster: str) -> str:
        """Return a cluster's alias and addresses, for people."""
        alias = self._config.get(_ALIASES[cluster], "target")
        return f"{alias} ({self._config.get(f'{cluster}{_SERVERS}', 'no addresses')})"

    @property
    def places(self) -> str:
        """Both clusters, for people."""
        return f"{self.place(SOURCE_CLUSTER)} and {self.place(TARGET_CLUSTER)}"

    def consumer(self, cluster: str, more: Mapping[str, str] | None = None) -> Consumer:
        """Return a consumer that joins no group; `more` are settings in librdkafka's words.

        Raises:
            ConfigError: A setting is wrong or missing.
        """
        given = {"auto.offset.reset": "earliest", **self.settings(cluster, "consumer.")}
        own = {"group.id": "mirror", "enable.auto.commit": "false", "enable.auto.offset.store": "false"}
        return self._made(Consumer, cluster, "consumer.", given, {**READ_AHEAD, **own, **(more or {})})

    def producer(self, cluster: str) -> Producer:
        """Return a producer.

        Raises:
            ConfigError: A setting is wrong or missing.
        """
        return self._made(Producer, cluster, "producer.", self.settings(cluster, "producer."), {})

    def admin(self, cluster: str) -> AdminClient:
        """Return an admin client.

        Raises:
            ConfigError: A setting is wrong or missing.
        """
        return self._made(AdminClient, cluster, "admin.", self.settings(cluster, "admin."), {})

    def _made(
        self,
        make: Callable[..., Client],
        cluster: str,
        kind: str,
        java: Mapping[str, str],
        fixed: Mapping[str, str],
    ) -> Client:
        if not java.get(_SERVERS):
            raise ConfigError(
                f"Missing required configuration {cluster}{_SERVERS}: the addresses of that cluster",
                key=f"{cluster}{_SERVERS}",
            )
        label = f"{self._config.get(SOURCE_ALIAS)}->{self._config.get(TARGET_ALIAS, 'target')}"
        own = "|".join(filter(None, (java.get("client.id"), label, self._config.get("name"), self._role)))
        settings = {**self._translated(java, cluster, _NAMES[kind]), **fixed, "client.id": own}
        try:
            return make(settings, logger=_log)
        except KafkaException as error:
            message = f"A client of {cluster}* cannot be made, a setting below {cluster} or {kind} is wrong: "
            raise ConfigError(f"{message}{error.args[0].str()}", key=f"{cluster}{_SERVERS}") from error

    @staticmethod
    def _translated(java: Mapping[str, str], cluster: str, names: Mapping[str, Rename]) -> dict[str, str]:
        found = translated(java, names, cluster)
        for store in STORES:
            if store in found.unknown:
                raise _unreadable(cluster, store)
        return found.properties

    def _below(self, prefix: str) -> dict[str, str]:
        size = len(prefix)
        return {
            name[size:]: value
            for name, value in self._config.items()
            if name.startswith(prefix) and value is not None
        }


def _unreadable(cluster: str, store: str) -> ConfigError:
    formats = "PEM" if "truststore" in store else "PEM or PKCS12"
    return ConfigError(
        f"{cluster}{store} must be a {formats} file, with {store.replace('location', 'type')} saying so: "
        "stores that only Java reads cannot be used here. keytool -exportcert and openssl pkcs12 convert "
        "them",
        key=f"{cluster}{store}",
    )
