"""ObjectSource: what it is called and how it is configured."""

from __future__ import annotations

from enum import Enum

from copycat_connect.config import (
    HIGH,
    LONG,
    LOW,
    MEDIUM,
    Password,
    all_of,
    at_least,
    line_encoding,
    matches_java_regex,
    non_empty,
    one_of,
    topic_name,
)
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.errors import ConfigError

from copycat_objects.stores import keys

CLASS_NAME = "copycat_plugins.connectors.object_source.connector.ObjectSourceConnector"
TASK_CLASS_NAME = "copycat_plugins.connectors.object_source.task.ObjectSourceTask"

PATTERN, FORMAT = "pattern", "format.class"
AUTO = "auto"

TASK, TASKS = "task.number", "task.count"
"""Keys of a task: which of how many it is."""

STORE, PATH = "store", "path"
"""The keys of a source partition."""
RECORD, POSITION, SIZE, MODIFIED = "record", "position", "size", "modified"
DONE, BROKEN = "done", "broken"
"""The keys of a source offset."""

SUMMARY = (
    "Reads the records in files of a folder, of HDFS or of S3: Parquet, Avro, JSON lines, CSV and lines of "
    "text, those that the object sinks wrote among them; and goes on as new files come."
)
GUARANTEES = (
    "At least once; also exactly or at most once (delivery.guarantee). Each file is a source partition "
    "{store, path}; the source offset {record, position, size, modified, done} says how many records, and "
    "where the format has them bytes, come before the next one. Order: that of a file; files named as the "
    "object sinks name them in the order of their offsets, others by path. A file that is written anew is "
    "read anew: give files that grow in sight an object.min.age.ms. A row, line or record that cannot be "
    "read is a failed record (errors.tolerance, dead letters), and so is, once, the rest of a file that is "
    "not of its format, such as all behind a broken block of Avro or page of Parquet; the offset of such a "
    "file says broken, and it is not cleaned up. Files whose names begin with . or _, and those in folders "
    "named +tmp or _copycat, are not read. Fields of CSV are texts; the transformation Cast makes numbers of "
    "them."
)


def _topic(name: str, value: ConfigSetting) -> None:
    topic_name(name, str(value).replace("${topic}", "t"))


def _one_character(name: str, value: ConfigSetting) -> None:
    if not isinstance(value, str) or len(value) != 1 or value in "\r\n":
        raise ConfigError(f"Invalid value for configuration {name}: expected one character", key=name)


def _character_or_none(name: str, value: ConfigSetting) -> None:
    if value:
        _one_character(name, value)


class CleanupPolicy(Enum):
    """What becomes of a file whose records are committed."""

    NONE = "none"
    MOVE = "move"
    DELETE = "delete"


class ObjectSourceSettings(Settings):
    """Which files are read, as what, and what becomes of them."""

    topic: str = key(
        HIGH,
        check=all_of((non_empty, _topic)),
        doc="Topic that receives the records; ${topic} in it stands for the topic in the name of a file as "
        "the object "
        "sinks write them (<topic>+<partition>+<offset>...), and files without one are not read.",
    )
    store_url: str = key(
        HIGH,
        default="",
        doc="Where the files are: file:///folder, hdfs://host:port/folder, webhdfs://host:port/folder, "
        "s3://bucket/prefix; or http://host:port of a server like S3, whose bucket s3.bucket.name names.",
    )
    prefix: str = key(MEDIUM, default="", doc="Only files in this folder, or further below.")
    pattern: str = key(
        MEDIUM,
        name=PATTERN,
        default=".*",
        check=matches_java_regex,
        doc="Regular expression for the whole path of a file below the store's address.",
    )
    format: str = key(
        HIGH,
        name=FORMAT,
        default=AUTO,
        check=one_of(AUTO, "parquet", "avro", "json", "csv", "string", "bytes"),
        doc="Format of the files: parquet, avro, json (one value a line), csv, string or bytes (one a line); "
        "auto goes by the end of a name (.parquet .avro .json .jsonl .ndjson .csv .txt .log .bin) and leaves "
        "out others. Lines and CSV may be compressed (.gz .zst).",
    )
    batch_size: int = key(LOW, default=2000, check=at_least(1), doc="The most records of a batch.")
    poll_seconds: float = key(
        MEDIUM,
        name="object.poll.interval.ms",
        type=LONG,
        default=10_000,
        check=at_least(1),
        read=lambda millis: millis / 1000,
        doc="Milliseconds between two looks for new files.",
    )
    min_age_millis: int = key(
        LOW,
        name="object.min.age.ms",
        type=LONG,
        default=0,
        check=at_least(0),
        doc="How many milliseconds a file must have been left alone before it is read.",
    )
    cleanup_policy: CleanupPolicy = key(
        MEDIUM,
        default="none",
        doc="What becomes of a file whose records are committed: none, move (to cleanup.folder) or delete.",
    )
    cleanup_folder: str = key(
        LOW,
        default="processed",
        check=non_empty,
        read=lambda folder: folder.strip("/"),
        doc="Folder below the store's address that read files are moved to; it is not read.",
    )
    encoding: str = key(
        MEDIUM,
        name="file.encoding",
        default="UTF-8",
        check=line_encoding,
        doc="Character encoding of CSV, JSON and lines of text. A row or JSON value that is not in it cannot "
        "be read; in lines of text malformed characters are replaced.",
    )
    csv_separator: str = key(LOW, default=",", check=_one_character, doc="Separates fields in CSV.")
    csv_quote: str = key(
        LOW,
        default='"',
        check=_character_or_none,
        doc="What surrounds fields in CSV that hold separators and line ends; empty for nothing.",
    )
    csv_header: bool = key(
        LOW,
        default=True,
        doc="Whether the first row of CSV names the columns; else they are column1, column2 and so on.",
    )
    webhdfs_url: str | None = shared_key(keys.WEBHDFS_URL_KEY)
    hdfs_user: str | None = shared_key(keys.HDFS_USER_KEY)
    s3_bucket_name: str | None = key(MEDIUM, default=None, doc="Bucket, where the address names none.")
    s3_region: str = shared_key(keys.REGION_KEY)
    aws_access_key_id: str = shared_key(keys.ACCESS_KEY_KEY)
    aws_secret_access_key: Password = shared_key(keys.SECRET_KEY_KEY)
    s3_endpoint: str | None = shared_key(keys.ENDPOINT_KEY)
    s3_path_style_access_enabled: bool = shared_key(keys.PATH_STYLE_KEY)
    s3_part_retries: int = shared_key(keys.PART_RETRIES_KEY)


EXAMPLES = {
    "What the object sinks wrote to S3, each record to the topic it came from": {
        "topic": "${topic}",
        "store.url": "s3://warehouse/topics",
        "s3.region": "eu-central-1",
        "aws.access.key.id": "reader",
        "aws.secret.access.key": "${env:S3_SECRET}",
    },
    "Parquet files of a folder of HDFS, four tasks": {
        "tasks.max": "4",
        "topic": "orders",
        "store.url": "hdfs://namenode:9000/landing",
        "pattern": r"orders/.*\.parquet",
    },
    "CSV files of a folder, then deleted; rows that cannot be read go to a dead letter queue": {
        "topic": "deliveries",
        "store.url": "file:///tmp/deliveries",
        "pattern": r".*\.csv(\.gz)?",
        "csv.separator": ";",
        "cleanup.policy": "delete",
        "object.min.age.ms": "60000",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": "deliveries-unreadable",
        "errors.deadletterqueue.topic.replication.factor": "1",
    },
}
