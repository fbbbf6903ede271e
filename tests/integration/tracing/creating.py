"""Connectors as a client of the REST interface makes them."""

from __future__ import annotations

import httpx2
from copycat_testkit.system import CopycatUp

STRING = "org.apache.kafka.connect.storage.StringConverter"


def create(
    system: CopycatUp, name: str, config: dict[str, str], headers: dict[str, str] | None = None
) -> None:
    """Create a connector with converters of strings."""
    strings = {f"{each}.converter": STRING for each in ("key", "value")}
    url = f"{system.url}/connectors/{name}/config"
    reply = httpx2.put(url, json={**strings, **config}, headers=headers, timeout=90)
    assert reply.status_code == 201, reply.text


def file_source(path: object, topic: str) -> dict[str, str]:
    """Return the configuration of a source that reads a file."""
    return {"connector.class": "FileStreamSource", "file": str(path), "topic": topic}


def file_sink(path: object, topic: str) -> dict[str, str]:
    """Return the configuration of a sink that writes a file."""
    return {"connector.class": "FileStreamSink", "file": str(path), "topics": topic}
