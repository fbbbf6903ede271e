"""PyPI `kafkaconnect` (kafka-connect-manager): its class, and its command of the same name.

Both give Connect's JSON as text; of a 404 they say `Resource ... not found.` instead.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from kafkaconnect.connect import Connect

from tests.compat.clients.commands import CommandLine
from tests.compat.clients.driver import Config

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
