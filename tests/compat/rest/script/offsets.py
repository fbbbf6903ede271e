"""Offsets: shown, altered and reset, and everything that is refused."""

from __future__ import annotations

from typing import Any

from tests.compat.rest.script.creating import create
from tests.compat.rest.step import Answer, Step, delete, get, patch, put, sink, source, states

SOURCE = "/connectors/$id-offsets/offsets"
SINK = "/connectors/$id-sunk/offsets"
FILE = {"filename": "$dir/lines.txt"}
PARTITION = {"kafka_topic": "$id-read", "kafka_partition": 0}
LINES = 100
SIZE = 790


def at(offset: Any, partition: Any) -> dict[str, Any]:
    return {"offsets": [{"partition": partition, "offset": offset}]}


def shows(offset: Any) -> Any:
    def shown(answer: Answer) -> bool:
        return answer.status == 200 and [found["offset"] for found in answer.body["offsets"]] == [offset]

    return shown


def is_empty(answer: Answer) -> bool:
    return answer.status == 200 and not answer.body["offsets"]


def refused(path: str, kind: str, bodies: dict[str, Any]) -> tuple[Step, ...]:
    return tuple(patch(f"{kind}: {name}", path, body) for name, body in bodies.items())


UNREADABLE = {
    "an array": [],
    "an empty object": {},
    "no body": b"",
    "null": b"null",
    "unknown field": {"key": []},
    "no offsets": {"offsets": []},
    "offsets null": {"offsets": None},
    "offsets an object": {"offsets": {}},
    "offset a number": {"offsets": [123]},
    "offset a text": {"offsets": ["123"]},
    "offset null": {"offsets": [None]},
    "offset with an unknown field": {"offsets": [{"key": "val"}]},
    "partition an array": {"offsets": [{"partition": []}]},
    "offset an array": {"offsets": [{"partition": {}, "offset": []}]},
    "brackets do not match": b'{"offsets":[{"partition":[]]}]}',
}
BAD_SOURCE = {
    "empty entry": {"offsets": [{}]},
    "partition null": at({"position": 3}, None),
    "partition empty": at({"position": 3}, {}),
    "partition with a wrong key": at({"position": 3}, {"file": "x"}),
    "file name a number": at({"position": 3}, {"filename": 3}),
    "offset empty": at({}, FILE),
    "offset with a wrong key": at({"place": 3}, FILE),
    "position a text": at({"position": "3"}, FILE),
    "position a fraction": at({"position": 3.5}, FILE),
    "position null": at({"position": None}, FILE),
    "position below zero": at({"position": -1}, FILE),
}
BAD_SINK = {
    "empty entry": {"offsets": [{}]},
    "partition null": at({"kafka_offset": 3}, None),
    "partition empty": at({"kafka_offset": 3}, {}),
    "partition without number": at({"kafka_offset": 3}, {"kafka_topic": "t"}),
    "topic null": at({"kafka_offset": 3}, {**PARTITION, "kafka_topic": None}),
    "number null": at({"kafka_offset": 3}, {**PARTITION, "kafka_partition": None}),
    "number a word": at({"kafka_offset": 3}, {**PARTITION, "kafka_partition": "zero"}),
    "number a fraction": at({"kafka_offset": 3}, {**PARTITION, "kafka_partition": 0.5}),
    "number an object": at({"kafka_offset": 3}, {**PARTITION, "kafka_partition": {}}),
    "offset empty": at({}, PARTITION),
    "offset null inside": at({"kafka_offset": None}, PARTITION),
    "offset a word": at({"kafka_offset": "three"}, PARTITION),
    "offset a fraction": at({"kafka_offset": 1.5}, PARTITION),
    "topic unknown": at({"kafka_offset": 3}, {"kafka_topic": "$id-nowhere", "kafka_partition": 0}),
    "partition unknown": at({"kafka_offset": 3}, {**PARTITION, "kafka_partition": 99}),
    "offset below zero": at({"kafka_offset": -3}, PARTITION),
}

STEPS = (
    create("create for offsets", "$id-offsets", source(topic="$id-read")),
    get("offsets run", "/connectors/$id-offsets/status", states("RUNNING", "RUNNING")),
    get("source offsets", SOURCE, shows({"position": SIZE})),
    patch("alter while running", SOURCE, at({"position": 3}, FILE)),
    delete("reset while running", SOURCE),
    put("pause for offsets", "/connectors/$id-offsets/pause"),
    patch("alter while paused", SOURCE, at({"position": 3}, FILE)),
    patch("alter nothing while paused", SOURCE, {"offsets": []}),
    put("stop for offsets", "/connectors/$id-offsets/stop"),
    get("stopped for offsets", "/connectors/$id-offsets/status", states("STOPPED")),
    patch("alter", SOURCE, at({"position": 28}, FILE)),
    get("altered", SOURCE, shows({"position": 28})),
    *refused(SOURCE, "source", {**UNREADABLE, **BAD_SOURCE}),
    get("source offsets in the end", SOURCE),
    patch("alter to null", SOURCE, at(None, FILE)),
    get("altered to null", SOURCE, lambda answer: "None" not in str(answer.body)),
    patch("alter again", SOURCE, at({"position": 28}, FILE)),
    delete("reset", SOURCE),
    get("is reset", SOURCE, is_empty),
    delete("reset again", SOURCE),
    create("create sunk", "$id-sunk", sink(topics="$id-read")),
    get("sink offsets", SINK, shows({"kafka_offset": LINES})),
    patch("alter sink while running", SINK, at({"kafka_offset": 3}, PARTITION)),
    put("stop sunk", "/connectors/$id-sunk/stop"),
    get("stopped sunk", "/connectors/$id-sunk/status", states("STOPPED")),
    patch(
        "alter sink",
        SINK,
        at({"kafka_offset": 3}, PARTITION),
        lambda answer: "hasn't" not in str(answer.body),
    ),
    get("altered sink", SINK, shows({"kafka_offset": 3})),
    patch(
        "alter sink with numbers as text",
        SINK,
        at({"kafka_offset": "5"}, {**PARTITION, "kafka_partition": "0"}),
    ),
    get("altered sink by text", SINK, shows({"kafka_offset": 5})),
    *refused(SINK, "sink", BAD_SINK),
    get("sink offsets in the end", SINK),
    patch("alter sink to null", SINK, at(None, PARTITION)),
    get("altered sink to null", SINK, is_empty),
    delete("reset sink", SINK),
    delete("reset sink again", SINK),
    get("sink is reset", SINK, is_empty),
    get("offsets of an unknown connector", "/connectors/$id-none/offsets"),
    patch("alter an unknown connector", "/connectors/$id-none/offsets", at({}, FILE)),
    delete("reset an unknown connector", "/connectors/$id-none/offsets"),
    delete("delete for offsets", "/connectors/$id-offsets"),
    delete("delete sunk", "/connectors/$id-sunk"),
)
