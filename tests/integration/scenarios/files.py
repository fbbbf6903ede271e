"""A file that file connectors read or write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from copycat_testkit.kafka import wait_until

from tests.integration.scenarios.monitors import CONVERTERS
from tests.integration.scenarios.rest import PATIENCE


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
