"""HdfsSink as the engine finds it; Arrow and Avro are loaded where one is made, not by a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.hdfs_keys import HdfsSettings
from copycat_objects.stores.errors import FAILURES
from copycat_objects.version import VERSION

_CLASS_NAME = "io.confluent.connect.hdfs.HdfsSinkConnector"
_TASK_CLASS_NAME = "io.confluent.connect.hdfs.HdfsSinkTask"

_SUMMARY = (
    "Writes records to files in HDFS as Avro, Parquet, JSON lines or text, with the keys, folders and names "
    "of the published connector."
)
_GUARANTEES = (
    "Exactly once into files, with `delivery.guarantee=exactly_once` and without: a file is written below "
    "`<topics.dir>/+tmp`, then renamed to `<topics.dir>/<topic>/<folder of the "
    "partitioner>/<topic>+<partition>+<first offset>+<last offset><extension>`. An entry in the commit log "
    "of the topic-partition (`<logs.dir>/<topic>/<partition>`) names its complete files before the first is "
    "renamed; whoever comes after a crash renames the rest. A task goes on behind the newest entry, or else "
    "behind the last offset in the names of files, wherever the consumer group is. A topic that is "
    "deleted and made anew fails a running task whose folder has files of it, with what to do; a stopped one "
    "does not notice it. To go on where the published "
    "connector stopped, end it cleanly: its own log (`log`, `log.1`) is not read. Other than "
    "there, `rotate.interval.ms` also ends the files of quiet partitions, by the clock; there are no ORC "
    "files and no tables in Hive. HDFS is reached over WebHDFS."
)


_EXAMPLES = {
    "Avro, a thousand records a file": {
        "topics": "orders",
        "hdfs.url": "hdfs://namenode:9000",
        "flush.size": "1000",
    },
    "Parquet by the hour": {
        "topics": "orders",
        "hdfs.url": "hdfs://namenode:9000/warehouse",
        "webhdfs.url": "http://namenode:9870",
        "format.class": "io.confluent.connect.hdfs.parquet.ParquetFormat",
        "flush.size": "1000000",
        "rotate.interval.ms": "600000",
        "partitioner.class": "io.confluent.connect.storage.partitioner.HourlyPartitioner",
        "locale": "en",
        "timezone": "UTC",
        "timestamp.extractor": "Record",
    },
}

PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=_SUMMARY,
    config=HdfsSettings.config_def(),
    factory="copycat_objects.hdfs.connector:HdfsSinkConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_objects.hdfs.connector:new_task",
    guarantees=_GUARANTEES,
    tested_with="HDFS 3.5.0 over WebHDFS",
    examples=_EXAMPLES,
    failures=FAILURES,
)
