"""A source whose records a test writes into a file, a line each: the topic, a blank, the value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from copycat_connect.config import ConfigDef
from copycat_connect.data import SourceRecord
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import ExactlyOnceSupport, PluginKind, PluginSpec, SourceConnector, SourceTask


def begin(config: Mapping[str, str], part: str) -> None:
    """Write what a part was started with where `emit.started` says; fail where `emit.fails` names it."""
    if "emit.started" in config:
        whole = Path(f"{config['emit.started']}.{part}")
        written = whole.with_name(f"{whole.name}.new")
        written.write_text(json.dumps(dict(config)))
        written.replace(whole)  # who reads it while a part starts again finds one of both
    if config.get("emit.fails") == part:
        message = f"cannot log in with {config['emit.login']}"
        raise ConnectError(message)


class EmitterConnector(SourceConnector):
    """Gives each task one file."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self.config = config
        begin(config, "connector")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Return a task for each file."""
        files = self.config["emit.files"].split(",")[:max_tasks]
        return [{**self.config, "emit.files": file} for file in files]

    def stop(self) -> None:
        """Hold nothing."""

    def exactly_once_support(self, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """A file can be read again from any position."""
        del config
        return ExactlyOnceSupport.SUPPORTED


class EmitterTask(SourceTask):
    """Follows its file."""

    def start(self, config: Mapping[str, str]) -> None:
        """Go on where the offset says."""
        begin(config, "task")
        self.path = Path(config["emit.files"])
        self.partition = {"file": str(self.path)}
        offset = self.context.offset(self.partition)
        self.position = int(offset["position"]) if offset else 0

    def poll(self) -> list[SourceRecord] | None:
        """Return a record for every whole line."""
        records = list(self._records())
        if not records:
            self.context.wait(0.05)
        return records or None

    def _records(self) -> Iterator[SourceRecord]:
        if not self.path.exists():
            return
        with self.path.open() as lines:
            lines.seek(self.position)
            while (line := lines.readline()).endswith("\n"):
                self.position = lines.tell()
                topic, _, value = line.rstrip("\n").partition(" ")
                yield SourceRecord(self.partition, {"position": self.position}, topic, value)

    def stop(self) -> None:
        """Hold nothing."""


PLUGIN = PluginSpec(
    "author.Emitter",
    PluginKind.SOURCE,
    "1.0",
    "Emits what a file says.",
    ConfigDef(),
    EmitterConnector,
    "author.EmitterTask",
    EmitterTask,
)
