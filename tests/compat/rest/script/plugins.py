"""Plugins: listed, described, and configurations validated."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from tests.compat.rest.step import FILE, Step, get, put, sink, source, without

CONNECT: Final = "org.apache.kafka.connect."
KINDS: Final = ("transformation", "predicate", "converter", "header_converter")
DESCRIBED: Final = (
    "FileStreamSource",
    f"{FILE}SinkConnector",
    "StringConverter",
    "JsonConverter",
    "SimpleHeaderConverter",
    "IntegerConverter",
    "ByteArrayConverter",
    "HasHeaderKey",
    "TopicNameMatches",
    "RecordIsTombstone",
    "Cast$Key",
    "DropHeaders",
    "ExtractField$Value",
    "Filter",
    "Flatten$Value",
    "HeaderFrom$Key",
    "HoistField$Key",
    "InsertField$Value",
    "InsertHeader",
    "MaskField$Value",
    "RegexRouter",
    "ReplaceField$Value",
    "SetSchemaMetadata$Value",
    "TimestampConverter$Value",
    "TimestampRouter",
    "ValueToKey",
)


def kafkas(plugins: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep what comes with Apache Kafka Connect, whose connectors for tests are a jar apart."""
    return [
        plugin
        for plugin in plugins
        if plugin["class"].startswith(CONNECT) and not plugin["class"].startswith(f"{CONNECT}tools.")
    ]


def kind(name: str) -> Any:
    return lambda plugins: [plugin for plugin in kafkas(plugins) if plugin["type"] == name]


def validate(name: str, config: Any, plugin: str = "FileStreamSource") -> Step:
    return put(f"validate {name}", f"/connector-plugins/{plugin}/config/validate", config)


def validate_sink(name: str, **more: str) -> Step:
    keys = {key.replace("__", "-"): value for key, value in more.items()}
    return validate(name, sink("v", **keys), "FileStreamSink")


VERSIONS: Final = (
    "4.4.0", " 4.4.0 ", "latest", "LATEST", "[4.0,5.0)", "[1,2),[4,5)", "4.4.0.0",
    "", "1.0", "[1.0, 2.0)", "4.4.0-SNAPSHOT", "1.0,2.0",
    "[1.0", "(1.0)", "[5,4]", "[4,5],[4.5,6]", "[4,5),6", "]",
)  # fmt: skip
"""Found by Kafka Connect, then not there, then malformed."""


def config_of(plugin: str, version: str) -> Step:
    return get(
        f"config of {plugin} version {version!r}",
        f"/connector-plugins/{plugin}/config?version={quote(version)}",
    )


LISTED = (
    get("connector plugins", "/connector-plugins", select=kafkas),
    get("connector plugins only", "/connector-plugins?connectorsOnly=true", select=kafkas),
    *(
        get(f"plugins: {name}", "/connector-plugins?connectorsOnly=false", select=kind(name))
        for name in KINDS
    ),
    *(get(f"config of {name}", f"/connector-plugins/{name}/config") for name in DESCRIBED),
    get("config of an unknown plugin", "/connector-plugins/org.example.Nothing/config"),
    *(config_of("FileStreamSource", version) for version in VERSIONS),
    *(
        config_of(plugin, version)
        for plugin in ("StringConverter", "Filter", "HasHeaderKey", "org.example.Nothing")
        for version in ("1.0", "[1.0")
    ),
)

RENAMED = {
    "transforms": "up, keep",
    "transforms.up.type": f"{CONNECT}transforms.HoistField$Value",
    "transforms.up.field": "line",
    "transforms.keep.type": f"{CONNECT}transforms.Filter",
    "transforms.keep.predicate": "gone",
    "transforms.keep.negate": "true",
    "predicates": "gone",
    "predicates.gone.type": f"{CONNECT}transforms.predicates.TopicNameMatches",
    "predicates.gone.pattern": "a.*",
}
ROLES: Final = {
    "connector": {},
    "key.converter": {"key.converter": f"{CONNECT}storage.StringConverter"},
    "transforms.up": {
        "transforms": "up",
        "transforms.up.type": f"{CONNECT}transforms.HoistField$Value",
        "transforms.up.field": "line",
    },
    "predicates.p": {
        "predicates": "p",
        "predicates.p.type": f"{CONNECT}transforms.predicates.RecordIsTombstone",
    },
}
"""What may have a `plugin.version`, and the keys that name its class."""
VERSIONED = (
    *(
        validate(f"{role} version {version!r}", {**source("v"), **keys, f"{role}.plugin.version": version})
        for role, keys in ROLES.items()
        for version in ("4.4.0", "[4.0,5.0)", "1.0", "[1.0", "")
    ),
    validate("converter version without its class", {**source("v"), "key.converter.plugin.version": "1.0"}),
)
SOURCES = (
    validate("source", source("v")),
    validate("source without name", source()),
    validate("source by its whole name", source("v"), f"{FILE}SourceConnector"),
    validate("source by alias", {**source("v"), "connector.class": "FileStreamSource"}),
    validate("empty", {}),
    validate("class unknown", {"connector.class": "org.example.FileStreamSource"}),
    validate("class of another plugin", sink("v")),
    validate("class only", {"connector.class": "FileStreamSource"}),
    validate("class null", {"connector.class": None}),
    validate("no JSON", b"{"),
    validate("null", b"null"),
    validate("array", b"[]"),
    validate("nothing", b""),
    validate("null value", {**source("v"), "topic": None}),
    validate("unknown key", {**source("v"), "colour": "red"}),
    validate("placeholder", {**source("v"), "file": "${env:HOME}", "a": "x-${env:HOME}", "b": "${env:HOME}"}),
    validate("placeholder of nobody", {**source("v"), "file": "${nobody:HOME}"}),
    validate("placeholder for a number", {**source("v"), "tasks.max": "${env:HOME}"}),
    validate("placeholder for one of a few", {**source("v"), "errors.tolerance": "${env:HOME}"}),
    validate("config providers", {**source("v"), "config.providers": "x", "config.providers.x.class": "X"}),
    validate(
        "bad numbers", {**source("v"), "tasks.max": "none", "batch.size": "0", "errors.retry.timeout": "x"}
    ),
    validate(
        "bad enumerations", {**source("v"), "errors.tolerance": "some", "config.action.reload": "later"}
    ),
    validate("bad booleans", {**source("v"), "errors.log.enable": "yes", "tasks.max.enforce": "maybe"}),
    validate("converter unknown", {**source("v"), "value.converter": "org.example.Nothing"}),
    validate("converter of a wrong kind", {**source("v"), "key.converter": f"{FILE}SourceConnector"}),
    validate(
        "json converter",
        {
            **source("v"),
            "value.converter": f"{CONNECT}json.JsonConverter",
            "value.converter.schemas.enable": "false",
            "value.converter.schemas.cache.size": "lots",
        },
    ),
    validate(
        "header converter", {**source("v"), "header.converter": f"{CONNECT}converters.ByteArrayConverter"}
    ),
    validate("transforms and predicates", {**source("v"), **RENAMED}),
    validate("transform without type", {**source("v"), "transforms": "x"}),
    validate("transform of unknown type", {**source("v"), "transforms": "x", "transforms.x.type": "Nothing"}),
    validate("transform twice", {**source("v"), **RENAMED, "transforms": "up,up"}),
    validate("transform without field", without({**source("v"), **RENAMED}, "transforms.up.field")),
    validate("transform of unknown predicate", {**source("v"), **RENAMED, "predicates": ""}),
    validate("negate without predicate", without({**source("v"), **RENAMED}, "transforms.keep.predicate")),
    validate("predicate without type", {**source("v"), "predicates": "p"}),
    validate("predicate twice", {**source("v"), **RENAMED, "predicates": "gone,gone"}),
    validate("predicate with a bad pattern", {**source("v"), **RENAMED, "predicates.gone.pattern": "("}),
    validate(
        "topic creation",
        {
            **source("v"),
            "topic.creation.groups": "more",
            "topic.creation.default.partitions": "0",
            "topic.creation.default.replication.factor": "-1",
            "topic.creation.more.include": "(",
        },
    ),
    validate("topic creation group twice", {**source("v"), "topic.creation.groups": "more,more"}),
    validate("exactly once required", {**source("v"), "exactly.once.support": "required"}),
    validate("transaction boundary connector", {**source("v"), "transaction.boundary": "connector"}),
    validate("transaction interval", {**source("v"), "transaction.boundary.interval.ms": "0"}),
    validate("producer override", {**source("v"), "producer.override.linger.ms": "7"}),
    validate("producer override bad", {**source("v"), "producer.override.linger.ms": "soon"}),
)
SINKS = (
    validate_sink("sink"),
    validate_sink("sink with both topics keys", topics_regex="a.*"),
    validate("sink without topics", without(sink("v"), "topics"), "FileStreamSink"),
    validate("sink by regex", {**without(sink("v"), "topics"), "topics.regex": "a.*"}, "FileStreamSink"),
    validate("sink by a bad regex", {**without(sink("v"), "topics"), "topics.regex": "("}, "FileStreamSink"),
    validate_sink("sink with dead letters", errors_deadletterqueue_topic_name="dead"),
    validate_sink("sink with dead letters among its topics", errors_deadletterqueue_topic_name="$id-lines"),
    validate(
        "sink with dead letters in its regex",
        {
            **without(sink("v"), "topics"),
            "topics.regex": "dead.*",
            "errors.deadletterqueue.topic.name": "dead-letters",
            "errors.deadletterqueue.topic.replication.factor": "0",
        },
        "FileStreamSink",
    ),
    validate_sink("sink with empty topics", topics=""),
    validate_sink("sink in the worker's group", consumer_override_group_id="$group"),
    validate_sink("sink with a consumer override", consumer_override_max_poll_records="10"),
)

STEPS = (*LISTED, *SOURCES, *SINKS, *VERSIONED)
