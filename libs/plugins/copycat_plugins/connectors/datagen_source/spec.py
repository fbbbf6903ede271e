"""DatagenSource: what it is called and how it is configured."""

from __future__ import annotations

import json

from copycat_connect.config import (
    HIGH,
    LONG,
    LOW,
    MEDIUM,
    all_of,
    at_least,
    non_empty,
    topic_name,
)
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key

from copycat_plugins.connectors.datagen_source.fields import check_fields

CLASS_NAME = "copycat_plugins.connectors.datagen_source.connector.DatagenSourceConnector"
TASK_CLASS_NAME = "copycat_plugins.connectors.datagen_source.connector.DatagenSourceTask"

KEY_FIELD = "key.field"
STREAMS = "streams"
STREAM = "stream"
"""The key of a source partition and of a task's configuration: numbers of streams, from 0."""
NEXT = "next"
"""The key of a source offset: the number of the record that follows."""

SUMMARY = "Makes records up, at a rate and from a seed: for demonstrations, tests and load."
GUARANTEES = (
    "At least once, in order per stream; also exactly or at most once (delivery.guarantee). Record n is "
    "made of the seed and n alone, so a run can be repeated. The source partition is {stream, streams}, the "
    "source offset {next}: the number of the next record. Streams share the numbers in portions of 2000; "
    "another number of streams begins at the start."
)


def _check_max(name: str, value: ConfigSetting) -> None:
    if value is not None:
        at_least(0)(name, value)


class DatagenSettings(Settings):
    """How many records are made, of what, and how fast."""

    topic: str = key(HIGH, check=all_of((non_empty, topic_name)), doc="Topic that receives the records.")
    fields: str = key(
        HIGH,
        check=check_fields,
        doc=(
            "The fields of each record, a JSON list of objects with name, type and what it takes: sequence "
            "(start, step), integer and double (min, max), choice (options), text (pattern: # a digit, ? a "
            "letter, {name} an earlier field), timestamp (start, step.ms), uuid, struct (fields)."
        ),
    )
    key_field: str | None = key(
        MEDIUM,
        default=None,
        doc="Field whose value is the record's key too; without it there are no keys.",
    )
    throughput: int = key(
        HIGH,
        type=LONG,
        default=10,
        check=at_least(-1),
        doc="Records per second of each task; -1 for as many as go through, 0 for none.",
    )
    max_records: int | None = key(
        MEDIUM,
        type=LONG,
        default=None,
        check=_check_max,
        doc="Records of all tasks together; without it there is no end.",
    )
    seed: int = key(
        MEDIUM, type=LONG, default=0, doc="Decides what chance decides; another seed, other records."
    )
    streams: int = key(
        MEDIUM,
        default=1,
        check=at_least(1),
        doc="In how many parts the numbers are dealt out; no more tasks than these have work.",
    )
    batch_size: int = key(LOW, default=2000, check=at_least(1), doc="The most records a task makes at once.")


_LOAD = [
    {"name": "id", "type": "sequence"},
    {"name": "text", "type": "text", "pattern": "?" * 32},
]
_ORDERS = [
    {"name": "id", "type": "sequence", "start": 1},
    {"name": "customer", "type": "text", "pattern": "customer-###"},
    {"name": "country", "type": "choice", "options": ["DE", "DE", "FR", "PL"]},
    {"name": "amount", "type": "double", "min": 1, "max": 500},
    {"name": "ordered", "type": "timestamp", "start": "2026-01-01T00:00:00Z", "step.ms": 250},
]
EXAMPLES = {
    "Five orders a second": {
        "topic": "orders",
        "fields": json.dumps(_ORDERS),
        "key.field": "id",
        "throughput": "5",
    },
    "Load from four tasks, ten million records": {
        "tasks.max": "4",
        "streams": "4",
        "topic": "load",
        "fields": json.dumps(_LOAD),
        "throughput": "-1",
        "max.records": "10000000",
    },
}
