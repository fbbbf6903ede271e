"""ObjectSink: its keys, and how the engine finds it; Arrow and Avro are loaded where one is made."""

from __future__ import annotations

from copycat_connect.config import HIGH, LOW, MEDIUM, Password, one_of
from copycat_connect.config.settings import Settings, key, nested, shared_key
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.keys import PartitioningSettings, RotationSettings, WritingSettings
from copycat_objects.stores import keys as stores
from copycat_objects.stores.errors import FAILURES
from copycat_objects.version import VERSION

_CLASS_NAME = "copycat_plugins.connectors.object_sink.connector.ObjectSinkConnector"
_TASK_CLASS_NAME = "copycat_plugins.connectors.objects.task.ObjectSinkTask"

_SUMMARY = (
    "Writes records to files in a folder, in HDFS or in S3, as JSON lines, Avro, Parquet, bytes or text."
)
_GUARANTEES = (
    "Exactly once into files (`delivery.guarantee=exactly_once`; at least once without it): a file appears "
    "whole, as `<topics.dir>/<topic>/<folder of the partitioner>/<topic>+<partition>+<first offset>+<last "
    "offset><extension>`, with one entry in the commit log of its topic-partition, a file in "
    "`<logs.dir>/<topic>/<partition>` that only one task can create. A task goes on behind the newest "
    "entry, or else behind the last offset in the names of files, whatever the consumer group says. Files "
    "are complete by `flush.size`, `flush.bytes`, `rotate.interval.ms` or `rotate.schedule.interval.ms`; "
    "the last two also end files of quiet partitions. Records of incomplete files are read again after a "
    "stop. A topic that is deleted and made anew fails a running task whose folder has files of it, with "
    "what to do; a stopped one does not notice it. Two connectors that write the same topic need folders of "
    "their own. A server other than S3 must refuse to replace objects for `If-None-Match`, also when an "
    "upload in parts is completed."
)


class ObjectSinkSettings(Settings):
    """Where files are, what is in them and when they are complete."""

    store_url: str = key(
        HIGH,
        default="",
        doc="Where the files are: file:///folder, hdfs://host:port/folder, webhdfs://host:port/folder, "
        "s3://bucket/prefix; or http://host:port of a server like S3, whose bucket s3.bucket.name names.",
    )
    writing: WritingSettings = nested()
    rotation: RotationSettings = nested()
    logs_dir: str = key(
        LOW,
        default="logs",
        doc="Folder of the commit logs, below the store's root; ${topic} in it stands for the topic.",
    )
    compression_type: str = key(
        LOW,
        default="none",
        check=one_of("none", "gzip"),
        doc="Compression of files of JSON lines, bytes and text.",
    )
    file_delim: str = key(LOW, default="+", doc="Between the parts of a file's name.")
    partitioning: PartitioningSettings = nested()
    webhdfs_url: str | None = shared_key(stores.WEBHDFS_URL_KEY)
    hdfs_user: str | None = shared_key(stores.HDFS_USER_KEY)
    s3_bucket_name: str | None = key(MEDIUM, default=None, doc="Bucket, where the address names none.")
    s3_region: str = shared_key(stores.REGION_KEY)
    s3_part_size: int = shared_key(stores.PART_SIZE_KEY)
    s3_part_retries: int = shared_key(stores.PART_RETRIES_KEY)
    aws_access_key_id: str = shared_key(stores.ACCESS_KEY_KEY)
    aws_secret_access_key: Password = shared_key(stores.SECRET_KEY_KEY)
    s3_endpoint: str | None = shared_key(stores.ENDPOINT_KEY)
    s3_path_style_access_enabled: bool = shared_key(stores.PATH_STYLE_KEY)


_EXAMPLES = {
    "JSON lines in a folder": {
        "topics": "orders",
        "store.url": "file:///tmp/exported",
        "flush.size": "1000",
        "rotate.schedule.interval.ms": "60000",
        "timezone": "UTC",
    },
    "Parquet by the hour, in HDFS": {
        "topics": "orders",
        "store.url": "hdfs://namenode:9000/warehouse",
        "format.class": "parquet",
        "flush.size": "1000000",
        "rotate.interval.ms": "600000",
        "partitioner.class": "hourly",
        "timezone": "UTC",
        "timestamp.extractor": "Record",
    },
    "Avro by a field, in S3": {
        "topics": "orders",
        "store.url": "s3://warehouse",
        "s3.region": "eu-central-1",
        "aws.access.key.id": "writer",
        "aws.secret.access.key": "${env:S3_SECRET}",
        "format.class": "avro",
        "flush.size": "1000",
        "partitioner.class": "field",
        "partition.field.name": "country",
    },
}

PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=_SUMMARY,
    config=ObjectSinkSettings.config_def(),
    factory="copycat_objects.sink.connector:ObjectSinkConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_objects.sink.connector:new_task",
    guarantees=_GUARANTEES,
    tested_with="folders on Linux, HDFS 3.5.0 over WebHDFS, and S3 as moto simulates it",
    examples=_EXAMPLES,
    failures=FAILURES,
)
