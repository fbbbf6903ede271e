"""Lines of the logs of a system: read, chosen, and written for people."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from copycat_connect.log_levels import LEVELS, setting_level

#: Keys of a line that are shown in a place of their own; all others follow the message.
PLACED: Final = frozenset({"time", "level", "service", "logger", "message", "trace"})
#: As Kafka's broker writes: `[2026-01-31 23:59:59,123] WARN text`, in local time.
BROKER: Final = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] ([A-Z]+) (.*)", re.DOTALL)
#: What a process says outside of its log, such as why it cannot start.
UNSPOKEN_LEVEL: Final = "WARN"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log, in its parts."""

    service: str
    """Which program wrote it: the name of its file."""
    time: str
    """ISO 8601, UTC, milliseconds; of a line without one that of the line before."""
    level: str
    """A name in `copycat_connect.log_levels.LEVELS`."""
    message: str
    """What it says."""
    fields: Mapping[str, object] = field(default_factory=dict)
    """What it is about: `connector`, `task`, `why` ..."""
    trace: str = ""
    """The stack trace, or nothing."""

    def tree(self) -> dict[str, object]:
        """Return the line for programs."""
        trace = {"trace": self.trace} if self.trace else {}
        return {
            "time": self.time, "level": self.level, "service": self.service, "message": self.message,
            **self.fields, **trace,
        }  # fmt: skip

    def text(self) -> str:
        """Return the line for people; a trace follows it, indented."""
        about = "".join(f" {key}={value}" for key, value in self.fields.items())
        trace = "".join(f"\n    {line}" for line in self.trace.splitlines())
        return f"{self.time} {self.level:5} {self.service}: {self.message}{about}{trace}"


def read_line(service: str, text: str, last_time: str = "") -> LogLine:
    """Read a line of a program's log file, whatever it is."""
    found = _object(text)
    if found is not None and isinstance(found.get("message"), str):
        level = setting_level(str(found.get("level"))) or UNSPOKEN_LEVEL
        fields = {key: value for key, value in found.items() if key not in PLACED}
        time = str(found.get("time") or last_time)
        return LogLine(service, time, level, str(found["message"]), fields, str(found.get("trace") or ""))
    match = BROKER.fullmatch(text)
    if match is not None:
        local = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S,%f").astimezone(UTC)
        level = setting_level(match[2]) or UNSPOKEN_LEVEL
        return LogLine(service, local.isoformat(timespec="milliseconds"), level, match[3])
    return LogLine(service, last_time, UNSPOKEN_LEVEL, text)


@dataclass(frozen=True, slots=True)
class Choice:
    """Which lines are wanted."""

    level: str = "ALL"
    """The least level."""
    connector: str | None = None
    """Only lines about this connector and its tasks."""

    def takes(self, line: LogLine) -> bool:
        """Whether a line is wanted."""
        about = self.connector is None or line.fields.get("connector") == self.connector
        return about and LEVELS[line.level] >= LEVELS[self.level]


def _object(text: str) -> dict[str, object] | None:
    if not text.startswith("{"):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
