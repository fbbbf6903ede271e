"""HdfsSink: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import ConfigDef

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.objects.hdfs_keys import hdfs_keys
from copycat_plugins.connectors.stores import keys as stores

CLASS_NAME = "io.confluent.connect.hdfs.HdfsSinkConnector"
TASK_CLASS_NAME = "io.confluent.connect.hdfs.HdfsSinkTask"

SUMMARY = (
    "Writes records to files in HDFS as Avro, Parquet, JSON lines or text, with the keys, folders and names "
    "of the published connector."
)
GUARANTEES = (
    "Exactly once into files, with `delivery.guarantee=exactly_once` and without: a file is written below "
    "`<topics.dir>/+tmp`, then renamed to `<topics.dir>/<topic>/<folder of the partitioner>/<topic>+"
    "<partition>+<first offset>+<last offset><extension>`, so that nobody sees a part of it. All files of a "
    "topic-partition are complete together; an entry of its commit log in `<logs.dir>/<topic>/<partition>` "
    "names them before the first is renamed, and whoever comes after a crash renames the rest. A task goes "
    "on behind the newest entry, or without one behind the last offset that the names of the files tell, "
    "wherever the consumer group is. To go on where the published connector stopped, end it cleanly: the "
    "names of its files are read, its own log (`log`, `log.1`) is not. Other than there, "
    "`rotate.interval.ms` also ends the files of a partition that gets no more records, by the clock; there "
    "are no ORC files and no tables in Hive. HDFS is reached over WebHDFS."
)
CONFIG = ConfigDef(*hdfs_keys())
EXAMPLES = {
    "Avro, a thousand records a file": {
        "topics": "orders",
        stores.HDFS_URL: "hdfs://namenode:9000",
        keys.FLUSH_SIZE: "1000",
    },
    "Parquet by the hour": {
        "topics": "orders",
        stores.HDFS_URL: "hdfs://namenode:9000/warehouse",
        stores.WEBHDFS_URL: "http://namenode:9870",
        keys.FORMAT: "io.confluent.connect.hdfs.parquet.ParquetFormat",
        keys.FLUSH_SIZE: "1000000",
        keys.ROTATE_INTERVAL: "600000",
        keys.PARTITIONER: "io.confluent.connect.storage.partitioner.HourlyPartitioner",
        keys.LOCALE: "en",
        keys.TIMEZONE: "UTC",
        keys.EXTRACTOR: "Record",
    },
}
