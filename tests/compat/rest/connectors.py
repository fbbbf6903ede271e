"""Configurations of file connectors, for the script."""

from __future__ import annotations

from typing import Final

FILE: Final = "org.apache.kafka.connect.file.FileStream"
STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
CONVERTERS: Final = {"key.converter": STRING, "value.converter": STRING}


def source(name: str = "", **more: str) -> dict[str, str]:
    """Return a source's configuration; it reads the lines that are in the system's folder."""
    own = {"connector.class": f"{FILE}SourceConnector", "tasks.max": "1", "file": "$dir/lines.txt"}
    return {**own, "topic": "$id-lines", **CONVERTERS, **_named(name), **dotted(more)}


def sink(name: str = "", **more: str) -> dict[str, str]:
    """Return a sink's configuration."""
    own = {"connector.class": f"{FILE}SinkConnector", "tasks.max": "1", "file": "$dir/copy.txt"}
    return {**own, "topics": "$id-lines", **CONVERTERS, **_named(name), **dotted(more)}


def dotted(more: dict[str, str]) -> dict[str, str]:
    """Return keyword arguments as configuration keys."""
    return {key.replace("_", "."): value for key, value in more.items()}


def without(config: dict[str, str], *keys: str) -> dict[str, str]:
    """Return a configuration that lacks some keys."""
    return {key: value for key, value in config.items() if key not in keys}


def _named(name: str) -> dict[str, str]:
    return {"name": name} if name else {}
