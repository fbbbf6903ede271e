"""Clients of Kafka Connect from PyPI, each behind one vocabulary for a connector's life.

`kafka-connect-api` has objects for cluster, connector and task, and no calls for plugins, validation and
topics: its own request methods make these. `kafka-connect-py` has a class, and its command `kc`;
`kafkaconnect` (kafka-connect-manager) a class, and its command of the same name. Both give Connect's JSON
as text; of a 404 they say `Resource ... not found.` instead.
"""

from __future__ import annotations

import json
import subprocess
import sys
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Protocol

from kafka_connect import KafkaConnect
from kafka_connect_api.errors import GenericNotFound
from kafka_connect_api.kafka_connect_api import Api, Cluster, Connector
from kafkaconnect.connect import Connect
from requests import HTTPError

Config = Mapping[str, str]


class Driver(Protocol):
    """One client, unmodified, called as its users call it."""

    def plugins(self) -> Collection[str]:
        """Return the classes of the connector plugins."""

    def errors(self, config: Config) -> int:
        """Validate a configuration; returns how many errors it has."""

    def create(self, name: str, config: Config) -> None:
        """Create a connector."""

    def update(self, name: str, config: Config) -> None:
        """Replace a connector's configuration."""

    def names(self) -> Collection[str]:
        """Return the connectors."""

    def config(self, name: str) -> Config:
        """Return a connector's configuration."""

    def status(self, name: str) -> Mapping[str, Any]:
        """Return a connector's status as Connect shows it; empty while it has none."""

    def tasks(self, name: str) -> Sequence[int]:
        """Return the indices of a connector's tasks."""

    def topics(self, name: str) -> Collection[str]:
        """Return the topics a connector used."""

    def pause(self, name: str) -> None:
        """Pause a connector."""

    def resume(self, name: str) -> None:
        """Resume a connector."""

    def restart(self, name: str) -> None:
        """Restart a connector, with its tasks where the client can."""

    def delete(self, name: str) -> None:
        """Delete a connector."""


SECONDS = 60.0


class CommandLine:
    """One client's program, with the address of Connect."""

    def __init__(self, program: str, *options: str) -> None:
        """`options` stand before every command."""
        self._command = [str(Path(sys.executable).with_name(program)), *options]

    def run(self, *arguments: str) -> str:
        """Run a command; returns what it printed.

        Raises:
            AssertionError: It failed; the text has what it said.
        """
        done = subprocess.run(
            [*self._command, *arguments], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def ask(self, *arguments: str) -> Any:
        """Run a command that prints JSON; returns that."""
        printed = self.run(*arguments)
        try:
            return json.loads(printed)
        except ValueError as error:
            raise AssertionError(f"{arguments} printed no JSON: {printed}") from error


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


NOT_FOUND: Final = "not found."


class _Texts:
    """Reads what both say about a connector."""

    @abstractmethod
    def say(self, about: str, *name: str) -> str:
        """Return a text: list, plugins, or one about a connector."""

    def plugins(self) -> Collection[str]:
        return [plugin["class"] for plugin in json.loads(self.say("plugins"))]

    def names(self) -> Collection[str]:
        return list(json.loads(self.say("list")))

    def config(self, name: str) -> Config:
        return dict(json.loads(self.say("config", name)))

    def status(self, name: str) -> Mapping[str, Any]:
        text = self.say("status", name)
        return {} if text.endswith(NOT_FOUND) else dict(json.loads(text))

    def tasks(self, name: str) -> Sequence[int]:
        return [task["id"]["task"] for task in json.loads(self.say("tasks", name))]

    def topics(self, name: str) -> Collection[str]:
        return list(json.loads(self.say("topics", name))[name]["topics"])

    def pause(self, name: str) -> None:
        assert self.say("pause", name) == ""

    def resume(self, name: str) -> None:
        assert self.say("resume", name) == ""

    def restart(self, name: str) -> None:
        assert self.say("restart", name) == ""


class KafkaconnectClass(_Texts):
    """`kafkaconnect.connect.Connect`."""

    def __init__(self, url: str, _folder: Path) -> None:
        self._connect = Connect(url)

    def say(self, about: str, *name: str) -> str:
        return str(getattr(self._connect, about)(*name))

    def errors(self, config: Config) -> int:
        found = self._connect.validate(config["connector.class"], json.dumps(config))
        return int(json.loads(found)["error_count"])

    def create(self, name: str, config: Config) -> None:
        made = self._connect.validate_and_create(name, json.dumps({**config, "name": name}))
        assert json.loads(made)["name"] == name

    def update(self, name: str, config: Config) -> None:
        made = self._connect.create_or_update(name, json.dumps(config))
        assert json.loads(made)["name"] == name

    def delete(self, name: str) -> None:
        assert self._connect.remove(name) == ""


class KafkaconnectCommand(_Texts):
    """`kafkaconnect --connect URL ...`; configurations are uploaded from files."""

    def __init__(self, url: str, folder: Path) -> None:
        self._command = CommandLine("kafkaconnect", "--connect", url)
        self._file = folder / "upload.json"

    def say(self, about: str, *name: str) -> str:
        return self._command.run(about, *name)

    def errors(self, config: Config) -> int:
        self._file.write_text(json.dumps(config))
        return int(self._command.ask("upload", "--dry-run", "--name", "dry", str(self._file))["error_count"])

    def create(self, name: str, config: Config) -> None:
        self._file.write_text(json.dumps(config))
        said, _, made = self._command.run("upload", "--name", name, str(self._file)).partition("\n")
        assert said == f"Uploading {name} connector configuration..."
        assert json.loads(made)["name"] == name

    def update(self, name: str, config: Config) -> None:
        self.create(name, config)

    def delete(self, name: str) -> None:
        assert self.say("delete", name) == ""
