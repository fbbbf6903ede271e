"""The test's side of a monitorable connector: what happened to it, and orders to go wrong."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

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
