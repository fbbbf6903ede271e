"""FileStreamSink: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import (
    HIGH,
    file_name,
)
from copycat_connect.config.settings import Settings, key, taken_from

CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSinkConnector"
TASK_CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSinkTask"

FILE = "file"

SUMMARY = "Appends the value of every record to a file, or to the standard output, one a line."
GUARANTEES = (
    "At least once, in order per Kafka partition; every task appends to the same file. Offsets are committed "
    "after the lines were handed to the operating system: they outlive the process, not the machine. "
    "A line that a full disk cut short is cut off, and written again once there is room; a piece of a line "
    "that a killed process left stays, as it may be somebody else's, and what comes next begins a new line. "
    "At most once on request. Exactly once on request, into a file: by one task, whose file, on a file "
    "system with locks that all workers see, is nobody else's; `<file>.copycat-positions` beside it has the "
    "positions, each commit waits for the disk, and what lies behind the last commit after a crash is cut "
    "off and written again."
)


class FileStreamSinkSettings(Settings):
    """Where values are written to."""

    file: str | None = key(
        HIGH,
        name=FILE,
        default=None,
        check=file_name,
        doc="File to append to; without it the standard output.",
    )
    connector: str = taken_from(lambda config: config.get("name") or "")


EXAMPLES = {
    "A copy of a topic": {"topics": "messages", "file": "/data/messages.txt"},
    "A copy without repeats": {
        "topics": "messages",
        "file": "/data/messages.txt",
        "delivery.guarantee": "exactly_once",
    },
}
