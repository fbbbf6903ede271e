"""VerifiableSink: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import ConfigDef

CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSinkConnector"
TASK_CLASS_NAME = "org.apache.kafka.connect.tools.VerifiableSinkTask"

NAME = "name"

SUMMARY = "Prints a line of JSON for each record: once when it comes, and again when it is flushed."
GUARANTEES = (
    "At least once, in order per Kafka partition. Made for system tests, to read what VerifiableSource "
    "wrote: a record's key is printed as its task, its value as its seqno. What is printed goes to the "
    "standard output of the process the task runs in, the executor's log."
)
CONFIG = ConfigDef()
EXAMPLES = {"What VerifiableSource wrote": {"tasks.max": "2", "topics": "verifiable"}}
