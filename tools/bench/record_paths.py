"""Configurations of the file connectors, their converters and transformations; the same on both systems."""

from __future__ import annotations

from pathlib import Path
from typing import Final

STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_TRANSFORMS: Final = "org.apache.kafka.connect.transforms"

JSON_PLAIN: Final = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
JSON_SCHEMAS: Final = {"value.converter": JSON, "value.converter.schemas.enable": "true"}
_INSERT: Final = {
    "transforms.insert.type": f"{_TRANSFORMS}.InsertField$Value",
    "transforms.insert.static.field": "site",
    "transforms.insert.static.value": "north",
}
TOPIC_TO_FILE_JSON_4SMT: Final = {
    **JSON_PLAIN,
    **_INSERT,
    "transforms": "insert,mask,replace,cast",
    "transforms.mask.type": f"{_TRANSFORMS}.MaskField$Value",
    "transforms.mask.fields": "user",
    "transforms.replace.type": f"{_TRANSFORMS}.ReplaceField$Value",
    "transforms.replace.exclude": "agent",
    "transforms.cast.type": f"{_TRANSFORMS}.Cast$Value",
    "transforms.cast.spec": "ms:string",
}
FILE_TO_TOPIC_JSON_2SMT: Final = {
    **JSON_PLAIN,
    **_INSERT,
    "transforms": "hoist,insert",
    "transforms.hoist.type": f"{_TRANSFORMS}.HoistField$Value",
    "transforms.hoist.field": "line",
}


_FILE: Final = "org.apache.kafka.connect.file.FileStream"
_ONE_TASK: Final = {"tasks.max": "1", "key.converter": STRING, "value.converter": STRING}


def file_source(file: Path, topic: str) -> dict[str, str]:
    """Return a source of one task, from a file to a topic."""
    return {**_ONE_TASK, "connector.class": f"{_FILE}SourceConnector", "file": str(file), "topic": topic}


def file_sink(file: Path, topic: str) -> dict[str, str]:
    """Return a sink of one task, from a topic to a file."""
    return {**_ONE_TASK, "connector.class": f"{_FILE}SinkConnector", "file": str(file), "topics": topic}
