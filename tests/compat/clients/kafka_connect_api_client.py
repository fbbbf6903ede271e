"""PyPI `kafka-connect-api`: objects for cluster, connector and task.

It has no calls for plugins, validation and topics: its own request methods make these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_connect_api.errors import GenericNotFound
from kafka_connect_api.kafka_connect_api import Api, Cluster, Connector

from tests.compat.clients.driver import Config


class KafkaConnectApi:
    """`kafka_connect_api.Cluster` and what hangs on it."""

    def __init__(self, url: str, _folder: Path) -> None:
        self._api = Api(url=url)
        self._cluster = Cluster(self._api)

    def plugins(self) -> Collection[str]:
        return [plugin["class"] for plugin in self._api.get("/connector-plugins")]

    def errors(self, config: Config) -> int:
        path = f"/connector-plugins/{config['connector.class']}/config/validate"
        return int(self._api.put(path, json=config)["error_count"])

    def create(self, name: str, config: Config) -> None:
        assert self._api.post("/connectors", json={"name": name, "config": config})["name"] == name

    def update(self, name: str, config: Config) -> None:
        self._connector(name).config = dict(config)

    def names(self) -> Collection[str]:
        return list(self._cluster.connectors)

    def config(self, name: str) -> Config:
        return dict(self._connector(name).config)

    def status(self, name: str) -> Mapping[str, Any]:
        try:
            return dict(self._connector(name).status)
        except GenericNotFound:
            return {}

    def tasks(self, name: str) -> Sequence[int]:
        return [task.id for task in self._connector(name).tasks]

    def topics(self, name: str) -> Collection[str]:
        return list(self._api.get(f"/connectors/{name}/topics")[name]["topics"])

    def pause(self, name: str) -> None:
        self._connector(name).pause()

    def resume(self, name: str) -> None:
        self._connector(name).resume()

    def restart(self, name: str) -> None:
        """Restart the connector, then each of its tasks."""
        connector = self._connector(name)
        connector.restart()
        connector.restart_all_tasks()

    def delete(self, name: str) -> None:
        self._connector(name).delete()

    def _connector(self, name: str) -> Connector:
        return Connector(self._cluster, name)
