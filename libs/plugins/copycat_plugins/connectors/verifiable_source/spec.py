"""VerifiableSource: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    LONG,
    LOW,
    STRING,
    ConfigDef,
    ConfigKey,
    all_of,
    non_empty,
    non_null,
    topic_name,
)

CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSourceConnector"
TASK_CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSourceTask"

NAME = "name"
TOPIC = "topic"
THROUGHPUT = "throughput"
COMPLETE_RECORD_DATA = "complete.record.data"

SUMMARY = (
    "Counts, one record a number, and prints a line of JSON for each: once sent, and again once it is safe."
)
GUARANTEES = (
    "At least once, in order per task. The source partition is {id}, the task's number, which is the key of "
    "its records too; the source offset is {seqno}, the number of the last record. Made for system tests: "
    "what is printed goes to the standard output of the process the task runs in, the executor's log."
)
CONFIG = ConfigDef(
    ConfigKey(
        TOPIC, STRING, HIGH, validator=all_of((non_empty, topic_name)), doc="Topic that receives the numbers."
    ),
    ConfigKey(
        THROUGHPUT,
        LONG,
        HIGH,
        validator=non_null,
        doc="Records per second of each task; -1 for as many as go through, 0 for none.",
    ),
    ConfigKey(
        COMPLETE_RECORD_DATA,
        BOOLEAN,
        LOW,
        default=False,
        doc="Whether values are structs of all that is printed, and not the number alone.",
    ),
)
EXAMPLES = {
    "Two tasks, a thousand records per second each": {
        "tasks.max": "2",
        "topic": "verifiable",
        "throughput": "1000",
    },
}
