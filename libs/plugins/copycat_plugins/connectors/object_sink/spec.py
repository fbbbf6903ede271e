"""ObjectSink: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import HIGH, LOW, MEDIUM, STRING, ConfigDef, ConfigKey, one_of

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.stores import keys as stores

CLASS_NAME = "copycat_plugins.connectors.object_sink.connector.ObjectSinkConnector"
TASK_CLASS_NAME = "copycat_plugins.connectors.objects.task.ObjectSinkTask"

SUMMARY = (
    "Writes records to files in a folder, in HDFS or in S3, as JSON lines, Avro, Parquet, bytes or text."
)
GUARANTEES = (
    "Exactly once into files (`delivery.guarantee=exactly_once`; at least once without it): a file is "
    "seen whole or not at all, at `<topics.dir>/<topic>/<folder of the "
    "partitioner>/<topic>+<partition>+<first offset>+<last offset><extension>`. Complete files of a "
    "topic-partition appear with one entry in its commit log, a file in `<logs.dir>/<topic>/<partition>` "
    "that only one task can create. A task goes on behind the newest entry, or without one behind the "
    "last offset in the names of the files there, whatever the consumer group says; a task that was "
    "thought dead can commit no more. Order is kept within a file. Files are complete by `flush.size`, "
    "`flush.bytes`, `rotate.interval.ms` or `rotate.schedule.interval.ms`, of which the last two also end "
    "files of partitions that get no more records; records of files that are not complete are read again "
    "after a stop. Two connectors that write the same topic need folders of their own. In S3 a file is "
    "written to a temporary object and then copied, since S3 has no renaming. HDFS is tested with Hadoop "
    "3.5, S3 with moto's server, a simulator: another server must refuse to replace objects for "
    "`If-None-Match`, also when an upload in parts is completed."
)
CONFIG = ConfigDef(
    ConfigKey(
        stores.STORE_URL, STRING, HIGH, default="",
        doc="Where the files are: file:///folder, hdfs://host:port/folder, webhdfs://host:port/folder, "
        "s3://bucket/prefix; or http://host:port of a server like S3, whose bucket s3.bucket.name names.",
    ),
    *keys.writing_keys("json"),
    *keys.rotation_keys(),
    ConfigKey(
        keys.LOGS_DIR, STRING, LOW, default="logs",
        doc="Folder of the commit logs, below the store's root; ${topic} in it stands for the topic.",
    ),
    ConfigKey(
        keys.COMPRESSION, STRING, LOW, default="none", validator=one_of("none", "gzip"),
        doc="Compression of files of JSON lines, bytes and text.",
    ),
    ConfigKey(keys.FILE_DELIMITER, STRING, LOW, default="+", doc="Between the parts of a file's name."),
    *keys.partitioner_keys(),
    stores.WEBHDFS_URL_KEY,
    stores.HDFS_USER_KEY,
    ConfigKey(stores.BUCKET, STRING, MEDIUM, default=None, doc="Bucket, where the address names none."),
    stores.REGION_KEY,
    stores.PART_SIZE_KEY,
    stores.PART_RETRIES_KEY,
    stores.ACCESS_KEY_KEY,
    stores.SECRET_KEY_KEY,
    stores.ENDPOINT_KEY,
    stores.PATH_STYLE_KEY,
)  # fmt: skip
EXAMPLES = {
    "JSON lines in a folder": {
        "topics": "orders",
        stores.STORE_URL: "file:///tmp/exported",
        keys.FLUSH_SIZE: "1000",
        keys.ROTATE_SCHEDULE: "60000",
        keys.TIMEZONE: "UTC",
    },
    "Parquet by the hour, in HDFS": {
        "topics": "orders",
        stores.STORE_URL: "hdfs://namenode:9000/warehouse",
        keys.FORMAT: "parquet",
        keys.FLUSH_SIZE: "1000000",
        keys.ROTATE_INTERVAL: "600000",
        keys.PARTITIONER: "hourly",
        keys.TIMEZONE: "UTC",
        keys.EXTRACTOR: "Record",
    },
    "Avro by a field, in S3": {
        "topics": "orders",
        stores.STORE_URL: "s3://warehouse",
        stores.REGION: "eu-central-1",
        stores.ACCESS_KEY: "writer",
        stores.SECRET_KEY: "${env:S3_SECRET}",
        keys.FORMAT: "avro",
        keys.FLUSH_SIZE: "1000",
        keys.PARTITIONER: "field",
        keys.PARTITION_FIELDS: "country",
    },
}
