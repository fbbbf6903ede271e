"""Configurations of the file connectors; the same on both systems."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tools.bench.record_paths import STRING

_FILE: Final = "org.apache.kafka.connect.file.FileStream"
_ONE_TASK: Final = {"tasks.max": "1", "key.converter": STRING, "value.converter": STRING}


def file_source(file: Path, topic: str) -> dict[str, str]:
    """Return a source of one task, from a file to a topic."""
    return {**_ONE_TASK, "connector.class": f"{_FILE}SourceConnector", "file": str(file), "topic": topic}


def file_sink(file: Path, topic: str) -> dict[str, str]:
    """Return a sink of one task, from a topic to a file."""
    return {**_ONE_TASK, "connector.class": f"{_FILE}SinkConnector", "file": str(file), "topics": topic}
