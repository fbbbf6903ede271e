"""SchemaSource: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LONG,
    MEDIUM,
    STRING,
    ConfigDef,
    ConfigKey,
    all_of,
    at_least,
    non_empty,
    non_null,
    topic_name,
)

CLASS_NAME = "org.apache.kafka.connect.tools.SchemaSourceConnector"
TASK_CLASS_NAME = "org.apache.kafka.connect.tools.SchemaSourceTask"

TOPIC = "topic"
NUM_MESSAGES = "num.messages"
THROUGHPUT = "throughput"
MULTIPLE_SCHEMA = "multiple.schema"
PARTITION_COUNT = "partition.count"

SUMMARY = "Writes so many structs that are alike but for their number, of one schema or of two in turn."
GUARANTEES = (
    "At least once, in order per task: a task's records go to the Kafka partition with the task's number, so "
    "the topic needs as many partitions as there are tasks. The source partition is {id}, the task's number; "
    "the source offset is {seqno}, the number of the last record. A task that is started again writes as "
    "many records as are asked for once more, with the numbers that follow. Made for system tests: the "
    "number of each record is printed on the standard output of the process the task runs in."
)
CONFIG = ConfigDef(
    ConfigKey(
        TOPIC, STRING, HIGH, validator=all_of((non_empty, topic_name)), doc="Topic that receives the structs."
    ),
    ConfigKey(
        NUM_MESSAGES, LONG, HIGH, validator=at_least(0), doc="Records of each task, from its start on."
    ),
    ConfigKey(
        THROUGHPUT,
        LONG,
        HIGH,
        validator=non_null,
        doc="Records per second of each task; -1 for as many as go through, 0 for none.",
    ),
    ConfigKey(
        MULTIPLE_SCHEMA,
        BOOLEAN,
        MEDIUM,
        default=False,
        doc="Whether every other record has version 2 of the schema, with a field more.",
    ),
    ConfigKey(
        PARTITION_COUNT,
        INT,
        MEDIUM,
        default=1,
        validator=at_least(1),
        doc="The field partitioning counts from 0 to below this, again and again.",
    ),
)
EXAMPLES = {
    "A thousand records of two schemas": {
        "topic": "structs",
        "num.messages": "1000",
        "throughput": "-1",
        "multiple.schema": "true",
    },
}
