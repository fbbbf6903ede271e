"""Connectors that report what happens to them, and go wrong when a test wants it."""

from __future__ import annotations

from copycat_connect.config import HIGH, INT, LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_monitorable.sink import MonitorableSink, MonitorableSinkTask
from copycat_monitorable.source import MonitorableSource, MonitorableSourceTask
from copycat_monitorable.transform import FaultyPassthrough

SHARED = (
    ConfigKey("monitor", STRING, HIGH, doc="Folder of the journal and of the orders to go wrong."),
    ConfigKey("task.count", INT, LOW, default=None, doc="How many tasks to make; tasks.max by default."),
    ConfigKey(
        "alters.offsets", STRING, LOW, default="false", doc="Whether it takes part in changed offsets."
    ),
)
SAYS = "supported, unsupported, null, or it fails"
SOURCE = ConfigDef(
    *SHARED,
    ConfigKey("topic", STRING, HIGH, doc="Topic of the records."),
    ConfigKey("max.messages", INT, LOW, default=10, doc="How many records a task makes in all."),
    ConfigKey("messages.per.poll", INT, LOW, default=10, doc="How many it makes at once."),
    ConfigKey("exactly.once", STRING, LOW, default="null", doc=f"Says of exactly-once: {SAYS}."),
    ConfigKey("boundaries", STRING, LOW, default="null", doc=f"Says of boundaries of its own: {SAYS}."),
)
PLUGINS = (
    PluginSpec(
        "monitorable.MonitorableSourceConnector",
        PluginKind.SOURCE,
        "1.0",
        "Numbers records.",
        SOURCE,
        MonitorableSource,
        "monitorable.MonitorableSourceTask",
        MonitorableSourceTask,
    ),
    PluginSpec(
        "monitorable.MonitorableSinkConnector",
        PluginKind.SINK,
        "1.0",
        "Writes records down.",
        ConfigDef(*SHARED),
        MonitorableSink,
        "monitorable.MonitorableSinkTask",
        MonitorableSinkTask,
    ),
    PluginSpec(
        "monitorable.FaultyPassthrough",
        PluginKind.TRANSFORMATION,
        "1.0",
        "Fails for one value.",
        ConfigDef(ConfigKey("value", STRING, HIGH, doc="The value it fails for.")),
        FaultyPassthrough,
    ),
)
