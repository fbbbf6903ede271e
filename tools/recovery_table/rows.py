"""The rows of the table: each a failure, by the name that the report has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tools.recovery_table.strikes import (
    Strike,
    Target,
    broker_gone,
    connectors,
    disk_full,
    executor,
    frozen,
    host,
    in_call,
    in_connector,
    killed,
    line_cut,
    reconfigure,
    restart_connector,
    restart_task,
    service,
    spark,
)
from tools.recovery_table.system import SINK, STRUCK

#: How long the broker, the line to it and the disk stay away.
AWAY_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class Row:
    """One failure."""

    name: str
    strike: Strike
    away_seconds: float = 0.0
    """How long it lasts, where somebody else ends it; 0 where the system has to deal with it."""
    all_stand: bool = False
    """Every connector has to stand meanwhile, so that the gap of one beside says nothing."""
    stops_silently: bool = False
    """Something stops that records do not show: the status has to say so."""


_PROCESSES: Final[Mapping[str, Target]] = {
    "task host": host,
    "executor": executor,
    "Spark JVM": spark,
    "process of the connectors": connectors,
    **{f"{role} service": service(role) for role in ("config", "offset", "status")},
    "scheduler": service("scheduler"),
    "gateway": service("gateway"),
}
_HANGS: Final = (
    Row("a hang in start of a source task", in_call(STRUCK, "start", "hang", restart_task(STRUCK))),
    Row("a hang in poll", in_call(STRUCK, "poll", "hang")),
    Row("a hang in commit", in_call(STRUCK, "commit", "hang")),
    Row("a hang in stop of a source task", in_call(STRUCK, "stop", "hang", restart_task(STRUCK))),
    Row("a hang in start of a sink task", in_call(SINK, "start", "hang", restart_task(SINK))),
    Row("a hang in put", in_call(SINK, "put", "hang")),
    Row("a hang in flush", in_call(SINK, "flush", "hang")),
    Row("a hang in stop of a sink task", in_call(SINK, "stop", "hang", restart_task(SINK))),
    Row("a hang in start of a connector", in_connector("start", restart_connector), stops_silently=True),
    Row("a hang in taskConfigs", in_connector("taskConfigs", reconfigure)),
    Row("a hang in stop of a connector", in_connector("stop", restart_connector)),
)
_EVERY: Final = (
    *(Row(f"kill -9 of the {name}", killed(target)) for name, target in _PROCESSES.items()),
    *(Row(f"SIGSTOP of the {name}", frozen(target)) for name, target in _PROCESSES.items()),
    Row("a poll that takes memory without end", in_call(STRUCK, "poll", "leak")),
    *_HANGS,
    Row("broker killed, back after 30 s", broker_gone, AWAY_SECONDS, all_stand=True),
    Row("network to Kafka cut for 30 s", line_cut, AWAY_SECONDS, all_stand=True),
    Row("disk full under the sink for 30 s", disk_full, AWAY_SECONDS),
)
ROWS: Final[Mapping[str, Row]] = {row.name: row for row in _EVERY}
"""All of them, in the order of the table."""
