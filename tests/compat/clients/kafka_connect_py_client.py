"""PyPI `kafka-connect-py`: its class, and its command `kc`."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from kafka_connect import KafkaConnect
from requests import HTTPError

from tests.compat.clients.commands import CommandLine
from tests.compat.clients.driver import Config


class KafkaConnectPyClass:
    """`kafka_connect.KafkaConnect`."""

    def __init__(self, url: str, _folder: Path) -> None:
        self._connect = KafkaConnect(url)

    def plugins(self) -> Collection[str]:
        return [plugin["class"] for plugin in self._connect.list_connector_plugins()]

    def errors(self, config: Config) -> int:
        return int(self._connect.validate_connector_config(config["connector.class"], config)["error_count"])

    def create(self, name: str, config: Config) -> None:
        assert self._connect.create_connector({"name": name, "config": config})["name"] == name

    def update(self, name: str, config: Config) -> None:
        assert self._connect.update_connector(name, config)["name"] == name

    def names(self) -> Collection[str]:
        return list(self._connect.list_connectors(expand="info"))

    def config(self, name: str) -> Config:
        return dict(self._connect.get_connector_config(name))

    def status(self, name: str) -> Mapping[str, Any]:
        try:
            return dict(self._connect.get_connector_status(name))
        except HTTPError as error:
            if error.response is None or error.response.status_code != HTTPStatus.NOT_FOUND:
                raise
            return {}

    def tasks(self, name: str) -> Sequence[int]:
        return [task["id"]["task"] for task in self._connect.list_connector_tasks(name)]

    def topics(self, name: str) -> Collection[str]:
        return list(self._connect.list_connector_topics(name)[name]["topics"])

    def pause(self, name: str) -> None:
        self._connect.pause_connector(name)

    def resume(self, name: str) -> None:
        self._connect.resume_connector(name)

    def restart(self, name: str) -> None:
        shown = self._connect.restart_connector(name, include_tasks=True)
        assert [task["state"] for task in shown["tasks"]] == ["RESTARTING"]

    def delete(self, name: str) -> None:
        self._connect.delete_connector(name)


class KafkaConnectPyCommand:
    """`kc --url URL ...`."""

    def __init__(self, url: str, folder: Path) -> None:
        self._command = CommandLine("kc", "--url", url, "--log-level", "ERROR")
        self._class = KafkaConnectPyClass(url, folder)

    def plugins(self) -> Collection[str]:
        return [plugin["class"] for plugin in self._command.ask("list-plugins")]

    def errors(self, config: Config) -> int:
        """Ask the class: the command encodes its body twice, which Kafka Connect cannot read either."""
        return self._class.errors(config)

    def create(self, name: str, config: Config) -> None:
        body = json.dumps({"name": name, "config": config})
        assert self._command.ask("create", "--config-data", body)["name"] == name

    def update(self, name: str, config: Config) -> None:
        assert self._command.ask("update", name, "--config-data", json.dumps(config))["name"] == name

    def names(self) -> Collection[str]:
        return list(self._command.ask("list"))

    def config(self, name: str) -> Config:
        return dict(self._command.ask("config", name))

    def status(self, name: str) -> Mapping[str, Any]:
        printed = self._command.run("status", name)
        return {} if printed.startswith("404 Client Error") else dict(json.loads(printed))

    def tasks(self, name: str) -> Sequence[int]:
        return [task["id"]["task"] for task in self._command.ask("list-tasks", name)]

    def topics(self, name: str) -> Collection[str]:
        return list(self._command.ask("list-topics", name)[name]["topics"])

    def pause(self, name: str) -> None:
        assert self._command.run("pause", name) == ""

    def resume(self, name: str) -> None:
        assert self._command.run("resume", name) == ""

    def restart(self, name: str) -> None:
        assert self._command.ask("restart", name, "--include-tasks")["name"] == name

    def delete(self, name: str) -> None:
        assert self._command.run("delete", name) == ""
