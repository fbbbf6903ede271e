"""HDFSSink of KIP-26: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import INT, LOW, ConfigDef, ConfigKey, at_least

from copycat_plugins.connectors.objects.hdfs_keys import hdfs_keys
from copycat_plugins.connectors.stores import keys as stores

CLASS_NAME = "org.apache.kafka.copycat.HDFSSinkConnector"
TASK_CLASS_NAME = "org.apache.kafka.copycat.HDFSSinkTask"
TASKS_MAX = "connector.tasks.max"
_FLUSH_SIZE = 1000

SUMMARY = "Exports topics to JSON lines in HDFS with the keys of KIP-26's sample."
GUARANTEES = (
    "Exactly once into files, as HdfsSinkConnector, whose keys it has, with defaults so that `hdfs.url` is "
    f"all it needs: JSON lines, {_FLUSH_SIZE} records a file, and a file a minute after its first record at "
    "the latest."
)
CONFIG = ConfigDef(
    ConfigKey(
        TASKS_MAX, INT, LOW, default=1, validator=at_least(1),
        doc="KIP-26's name of tasks.max, which comes before it.",
    ),
    *hdfs_keys("json", flush_size=_FLUSH_SIZE, interval=60_000),
)  # fmt: skip
EXAMPLES = {
    "The sample of KIP-26": {
        "topics": "orders",
        TASKS_MAX: "20",
        stores.HDFS_URL: "hdfs://my-hdfs-server:9001/export/",
    }
}
