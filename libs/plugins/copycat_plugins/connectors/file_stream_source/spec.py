"""FileStreamSource: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import (
    HIGH,
    INT,
    LOW,
    STRING,
    ConfigDef,
    ConfigKey,
    all_of,
    file_name,
    non_empty,
    topic_name,
)

CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSourceConnector"
TASK_CLASS_NAME = "org.apache.kafka.connect.file.FileStreamSourceTask"

FILE = "file"
TOPIC = "topic"
BATCH_SIZE = "batch.size"

FILENAME = "filename"
"""The key of a source partition."""
POSITION = "position"
"""The key of a source offset."""

SUMMARY = "Copies the lines of a file, or of the standard input, into a topic, and goes on as the file grows."
GUARANTEES = (
    "At least once, in file order; with a file also exactly once, or at most once (delivery.guarantee). The "
    "source partition is {filename}, the source offset {position}: the bytes before the next line. The "
    "standard input has no offsets. A last line without an end waits for one."
)
CONFIG = ConfigDef(
    ConfigKey(
        FILE,
        STRING,
        HIGH,
        default=None,
        validator=file_name,
        doc="File to read; without it the standard input is read.",
    ),
    ConfigKey(
        TOPIC, STRING, HIGH, validator=all_of((non_empty, topic_name)), doc="Topic that receives the lines."
    ),
    ConfigKey(BATCH_SIZE, INT, LOW, default=2000, doc="The most lines the task takes from the file at once."),
)
EXAMPLES = {
    "A log file": {"file": "/var/log/messages", "topic": "messages"},
    "Many lines at once": {"file": "/data/big.txt", "topic": "lines", "batch.size": "10000"},
}
