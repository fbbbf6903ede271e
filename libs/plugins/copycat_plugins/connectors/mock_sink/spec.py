"""MockSink: what it is called and how it is configured."""

from __future__ import annotations

from copycat_plugins.connectors import ordered_failure

CLASS_NAME = "org.apache.kafka.connect.tools.MockSinkConnector"
TASK_CLASS_NAME = "org.apache.kafka.connect.tools.MockSinkTask"

SUMMARY = "Writes nothing, and fails on order: the connector or its task, some time after the start."
GUARANTEES = "It takes records and drops them; what it took is committed. Made for system tests."
CONFIG = ordered_failure.CONFIG
EXAMPLES = {title: {"topics": "messages", **example} for title, example in ordered_failure.EXAMPLES.items()}
