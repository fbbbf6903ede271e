"""What tests ask about the past of a connector."""

from __future__ import annotations

from typing import Any

from copycat_testkit.kafka import wait_until

from tests.integration.history.conftest import Guarded
from tests.integration.scenarios.rest import PATIENCE, Rest


def source(guarded: Guarded, name: str, topic: str) -> dict[str, str]:
    """Return the configuration of a source of lines."""
    file = guarded.folder / f"{name}.txt"
    file.touch()
    return {"connector.class": "FileStreamSource", "file": str(file), "topic": topic, "tasks.max": "1"}


def history(rest: Rest, name: str, query: str = "") -> list[dict[str, Any]]:
    """Return a page of changes, newest first."""
    found: dict[str, Any] = rest.get(f"/connectors/{name}/history{query}")
    return list(found["changes"])


def told(rest: Rest, name: str, count: int, query: str) -> list[dict[str, Any]]:
    """Wait until so many changes are known, and who asked for each: they are kept in the background."""
    found: list[dict[str, Any]] = []

    def known() -> bool:
        if rest.call("GET", f"/connectors/{name}/history{query}").status_code != 200:
            return False
        found[:] = history(rest, name, query)
        return len(found) == count and all(each["by"]["type"] != "unknown" for each in found)

    wait_until(known, PATIENCE, f"{count} changes of {name}")
    return found
