"""What a transformation or predicate answers to a case written as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from copycat_connect.data import (
    STRING_SCHEMA,
    ConnectRecord,
    ConnectValue,
    Header,
    Schema,
    SinkRecord,
    TimestampType,
)
from copycat_connect.errors import CopycatError, DataError
from copycat_connect.plugin import PluginKind, load_plugins
from copycat_json.converter import JsonConverter

PLUGINS = load_plugins()
KINDS = (PluginKind.TRANSFORMATION, PluginKind.PREDICATE)
ENVELOPES = JsonConverter()
ENVELOPES.configure({})


def encoded(schema: Schema | None, value: ConnectValue) -> Any:
    """Return what JsonConverter makes of a value, parsed: the order of schemaless maps does not count."""
    try:
        data = ENVELOPES.from_connect("t", None, schema, value)
    except DataError as error:
        return f"!!{error.message}"
    return None if data is None else json.loads(data)


def parsed(text: str | None) -> Any:
    return text if text is None or text.startswith("!!") else json.loads(text)


def record_of(case: dict[str, Any]) -> SinkRecord:
    key, value = (
        ENVELOPES.to_connect("t", None, None if case[part] is None else case[part].encode())
        for part in ("key", "value")
    )
    headers = [Header(name, text, STRING_SCHEMA) for name, text in case["headers"]]
    return SinkRecord(
        case["topic"], 3, 42, key.value, value.value, key.schema, value.schema, case["ts"],
        TimestampType.CREATE_TIME, headers,
    )  # fmt: skip


def answer_to(
    case: dict[str, Any],
    classes: Mapping[type, str] | None = None,
    make: Callable[[dict[str, Any]], SinkRecord] = record_of,
) -> dict[str, Any]:
    """Return what came of a record; a failure is its message, with its class if those have names."""
    try:
        record = make(case)
        plugin = PLUGINS.find(case["class"], KINDS).make()
        plugin.configure(case["config"])
        if hasattr(plugin, "test"):
            return {"test": plugin.test(record)}
        result: ConnectRecord | None = plugin.apply(record)
    except CopycatError as error:
        answer = {"error": error.message}
        return answer if classes is None else {**answer, "class": classes.get(type(error), "")}
    if result is None:
        return {"dropped": True}
    return described(result)


def described(record: ConnectRecord) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "key": encoded(record.key_schema, record.key),
        "value": encoded(record.value_schema, record.value),
        "headers": [[header.key, encoded(header.schema, header.value)] for header in record.headers],
    }
