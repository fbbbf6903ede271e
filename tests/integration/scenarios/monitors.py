"""The test's side of monitorable connectors and of files, and configurations that may be refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE, Rest

SOURCE = "monitorable.MonitorableSourceConnector"
SINK = "monitorable.MonitorableSinkConnector"
STRING = "org.apache.kafka.connect.storage.StringConverter"
#: What a task of the source logs at DEBUG.
TOLD = "a task of monitorable polls"
CONVERTERS = {"key.converter": STRING, "value.converter": STRING}


class Monitor:
    """One connector's journal and orders."""

    def __init__(self, folder: Path) -> None:
        """Make the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder

    def source(self, topic: str, **more: str) -> dict[str, str]:
        """Return the configuration of a source that writes to a topic; `_` in names stands for `.`."""
        return {"connector.class": SOURCE, "topic": topic, **self._shared(more)}

    def sink(self, topics: str, **more: str) -> dict[str, str]:
        """Return the configuration of a sink that reads topics; `_` in names stands for `.`."""
        return {"connector.class": SINK, "topics": topics, **self._shared(more)}

    def order(self, *orders: str) -> None:
        """Have it go wrong: `<who> <what> raises`, `blocks`, `is away`, `finds nobody`; no orders end all."""
        half = self.folder / "orders.half"
        half.write_text("\n".join(orders))
        half.replace(self.folder / "orders")

    def entries(self, what: str, who: str = "") -> list[dict[str, Any]]:
        """Return what was written down, about something or all, of everybody or one."""
        journal = self.folder / "journal"
        text = journal.read_text() if journal.exists() else ""
        found = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [entry for entry in found if what in ("", entry["what"]) and who in ("", entry["who"])]

    def counts(self, what: str) -> Counter[str]:
        """Return how often something happened, by who."""
        return Counter(entry["who"] for entry in self.entries(what))

    def values(self) -> list[str]:
        """Return the values a sink was given, in order."""
        return [entry["value"] for entry in self.entries("put")]

    def _shared(self, more: dict[str, str]) -> dict[str, str]:
        named = {key.replace("_", "."): value for key, value in more.items()}
        return {"monitor": str(self.folder), "tasks.max": "1", **CONVERTERS, **named}


class LineFile:
    """Lines, with the connectors that read or write them."""

    def __init__(self, path: Path) -> None:
        """The file need not be there."""
        self.path = path

    def source(self, topic: str) -> dict[str, str]:
        """Return the configuration of a connector that reads it."""
        return {"connector.class": "FileStreamSource", "file": str(self.path), "topic": topic, **CONVERTERS}

    def sink(self, *topics: str, tasks: int = 1) -> dict[str, str]:
        """Return the configuration of a connector that writes it."""
        own = {"connector.class": "FileStreamSink", "file": str(self.path), "tasks.max": str(tasks)}
        return {**own, "topics": ",".join(topics), **CONVERTERS}

    def append(self, lines: Iterable[str]) -> None:
        """Append whole lines."""
        with self.path.open("a") as out:
            out.writelines(f"{line}\n" for line in lines)

    def lines(self) -> list[str]:
        """Return the whole lines that are there."""
        text = self.path.read_text() if self.path.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def holds(self, *lines: str) -> None:
        """Wait until exactly these lines are there, in their order."""
        wait_until(lambda: self.lines() == list(lines), PATIENCE, f"{len(lines)} lines in {self.path}")


def is_created(rest: Rest, folder: Path, **overrides: str) -> None:
    """Create a connector and wait until it runs."""
    name = unique("policy")
    rest.create(name, Monitor(folder / name).source(name, **overrides))
    rest.runs(name)
    rest.delete(name)


def is_refused(rest: Rest, folder: Path, **overrides: str) -> None:
    """Try to create a connector; it is not there afterwards."""
    name = unique("policy")
    config = Monitor(folder / name).source(name, **overrides)
    reply = rest.call("POST", "/connectors", {"name": name, "config": config})
    assert reply.status_code == 400, reply.text
    assert " policy does not allow " in reply.json()["message"]
    assert rest.call("GET", f"/connectors/{name}").status_code == 404


SINK_CONFIG: Final = {"connector.class": SINK, "name": "validated", "topics": "t", "monitor": "."}
SOURCE_CONFIG: Final = {"connector.class": SOURCE, "name": "validated", "topic": "t", "monitor": "."}
#: A key with no value is taken out.
WITHOUT: Final = ""


def errors(cluster: Cluster, config: Mapping[str, str]) -> int:
    """Return how many errors validation counts, and see that it counts those it lists."""
    given = {key: value for key, value in config.items() if value != WITHOUT}
    plugin = config["connector.class"]
    found = cluster.rest.ok("PUT", f"/connector-plugins/{plugin}/config/validate", given)
    listed = [error for each in found["configs"] for error in each["value"]["errors"]]
    assert found["error_count"] == len(listed), listed
    return len(listed)
