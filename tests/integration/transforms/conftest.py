"""One whole running system for the transformations of our own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import CopycatUp

AUTHOR = Path(__file__).with_name("author")
STRING = "org.apache.kafka.connect.storage.StringConverter"


class Rest:
    """What these tests do over REST."""

    def __init__(self, system: CopycatUp, folder: Path) -> None:
        self.system = system
        self.folder = folder

    def put(self, path: str, body: dict[str, str]) -> httpx2.Response:
        return httpx2.put(f"{self.system.url}{path}", json=body, timeout=90)

    def errors(self, config: dict[str, str]) -> dict[str, list[str]]:
        """Validate a configuration; returns the errors by key."""
        answer = self.put("/connector-plugins/FileStreamSource/config/validate", {"name": "v", **config})
        assert answer.status_code == 200, answer.text
        found = {each["value"]["name"]: each["value"]["errors"] for each in answer.json()["configs"]}
        return {name: errors for name, errors in found.items() if errors}

    def create(self, name: str, config: dict[str, str]) -> None:
        answer = self.put(f"/connectors/{name}/config", config)
        assert answer.status_code == 201, answer.text

    def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = httpx2.get(f"{self.system.url}/connectors/{name}/status", timeout=30).json()
        return found

    def failure(self, name: str) -> str:
        """Wait until the connector's task failed; returns its trace."""

        def trace() -> str | None:
            tasks = self.status(name).get("tasks", [])
            return tasks[0].get("trace") if tasks and tasks[0]["state"] == "FAILED" else None

        return wait_until(trace, 60, f"{name} failed")

    def delete(self, name: str) -> None:
        httpx2.delete(f"{self.system.url}/connectors/{name}", timeout=60)


class Pipe:
    """A file, through a chain, into a topic and out into another file."""

    def __init__(self, rest: Rest, transforms: dict[str, str], **more: str) -> None:
        self.topic = unique("pipe")
        self.source = rest.folder / f"{self.topic}.in"
        self.target = rest.folder / f"{self.topic}.out"
        self.source.touch()
        self._rest = rest
        rest.create(f"{self.topic}-in", {**source(self.source, self.topic), **transforms, **more})
        sink = {"connector.class": "FileStreamSink", "file": str(self.target), "topics": self.topic}
        rest.create(f"{self.topic}-out", {**sink, "key.converter": STRING, "value.converter": STRING})

    def write(self, *lines: str) -> None:
        with self.source.open("a") as file:
            file.writelines(f"{line}\n" for line in lines)

    def arrived(self) -> list[str]:
        text = self.target.read_text() if self.target.exists() else ""
        return text[: text.rfind("\n") + 1].splitlines()

    def wait_for(self, *lines: str, seconds: float = 60) -> list[str]:
        wait_until(lambda: set(lines) <= set(self.arrived()), seconds, f"the arrival of {lines[:5]}")
        return self.arrived()

    def close(self) -> None:
        for end in ("in", "out"):
            self._rest.delete(f"{self.topic}-{end}")


def source(file: Path, topic: str) -> dict[str, str]:
    """Configure a file source that writes schemaless JSON."""
    return {
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": topic,
        "key.converter": STRING,
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }


@pytest.fixture(scope="package")
def rest(tmp_path_factory: pytest.TempPathFactory, kafka: str) -> Iterator[Rest]:
    """Run the system, with the author's functions on its Python path."""
    folder = tmp_path_factory.mktemp("transforms")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(AUTHOR))
        with CopycatUp(folder / "data", kafka) as system:
            yield Rest(system, folder)
