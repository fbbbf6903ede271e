"""MockSource: what it is called and how it is configured."""

from __future__ import annotations

from copycat_plugins.connectors import ordered_failure

CLASS_NAME = "org.apache.kafka.connect.tools.MockSourceConnector"
TASK_CLASS_NAME = "org.apache.kafka.connect.tools.MockSourceTask"

SUMMARY = "Reads nothing, and fails on order: the connector or its task, some time after the start."
GUARANTEES = "It delivers nothing, and has neither source partitions nor offsets. Made for system tests."
CONFIG = ordered_failure.CONFIG
EXAMPLES = ordered_failure.EXAMPLES
