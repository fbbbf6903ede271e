"""The keys that the object sinks share, with the names and defaults of the published connectors."""

from __future__ import annotations

from collections.abc import Sequence

from copycat_connect.config import HIGH, INT, LIST, LONG, LOW, MEDIUM, STRING, ConfigKey, at_least, one_of
from copycat_connect.config.key import NO_DEFAULT, NoDefault

from copycat_plugins.connectors.objects.choices import EXTRACTORS, FORMATS, PARTITIONERS

NAME = "name"
TOPICS_DIR = "topics.dir"
LOGS_DIR = "logs.dir"
FORMAT = "format.class"
FLUSH_SIZE = "flush.size"
FLUSH_BYTES = "flush.bytes"
ROTATE_INTERVAL = "rotate.interval.ms"
ROTATE_SCHEDULE = "rotate.schedule.interval.ms"
RETRY_BACKOFF = "retry.backoff.ms"
ZERO_PAD = "filename.offset.zero.pad.width"
FILE_DELIMITER = "file.delim"
FOLDER_DELIMITER = "directory.delim"
COMPATIBILITY = "schema.compatibility"
PARTITIONER = "partitioner.class"
PARTITION_FIELDS = "partition.field.name"
PARTITION_DURATION = "partition.duration.ms"
PATH_FORMAT = "path.format"
LOCALE = "locale"
TIMEZONE = "timezone"
EXTRACTOR = "timestamp.extractor"
TIMESTAMP_FIELD = "timestamp.field"
NULL_VALUES = "behavior.on.null.values"
AVRO_CODEC = "avro.codec"
PARQUET_CODEC = "parquet.codec"
COMPRESSION = "compression.type"
COMPRESSION_LEVEL = "s3.compression.level"
DECIMALS = "json.decimal.format"
BYTES_EXTENSION = "format.bytearray.extension"
BYTES_SEPARATOR = "format.bytearray.separator"

_AVRO_CODECS = ("null", "deflate", "snappy", "bzip2", "zstandard")
_PARQUET_CODECS = ("none", "snappy", "gzip", "brotli", "lz4", "zstd")
_OFF = "-1 turns it off"


def writing_keys(default_format: str, flush_size: int | NoDefault = NO_DEFAULT) -> Sequence[ConfigKey]:
    """Return the keys about files, their names and when they are complete."""
    return (
        ConfigKey(
            FORMAT, STRING, HIGH, default=default_format, validator=FORMATS.check,
            doc="Format of the files: avro, json (one value a line), parquet, bytes or string (one a line), "
            "or the class name that the published connectors have for it.",
        ),
        ConfigKey(
            FLUSH_SIZE, INT, HIGH, default=flush_size, validator=at_least(1),
            doc="Records of a topic-partition after which its files are complete.",
        ),
        ConfigKey(
            ROTATE_SCHEDULE, LONG, MEDIUM, default=-1, validator=at_least(-1),
            doc=f"How often files are complete by the clock, in ms from midnight in timezone; {_OFF}.",
        ),
        ConfigKey(
            TOPICS_DIR, STRING, HIGH, default="topics",
            doc="Folder of the files, below the store's root; ${topic} in it stands for the topic.",
        ),
        ConfigKey(
            COMPATIBILITY, STRING, HIGH, default="NONE",
            validator=one_of("NONE", "BACKWARD", "FORWARD", "FULL"),
            doc="What a change of schema does: NONE begins new files; with the others, which need versions, "
            "records of older (BACKWARD, FULL) or newer (FORWARD) schemas are fitted into the open file.",
        ),
        ConfigKey(
            NULL_VALUES, STRING, LOW, default="fail", validator=one_of("fail", "ignore", "write"),
            doc="Records without a value: fail (reported as errors), ignore, or write where the format can.",
        ),
        ConfigKey(
            RETRY_BACKOFF, LONG, LOW, default=5000, validator=at_least(0),
            doc="Milliseconds until the store is tried again.",
        ),
        ConfigKey(
            ZERO_PAD, INT, LOW, default=10, validator=at_least(0),
            doc="Digits that offsets in the names of files have at least.",
        ),
        ConfigKey(
            AVRO_CODEC, STRING, LOW, default="null", validator=one_of(*_AVRO_CODECS),
            doc="Compression of Avro files.",
        ),
        ConfigKey(
            PARQUET_CODEC, STRING, LOW, default="snappy", validator=one_of(*_PARQUET_CODECS),
            doc="Compression of Parquet files.",
        ),
    )  # fmt: skip


def rotation_keys(interval: int = -1) -> Sequence[ConfigKey]:
    """Return the keys about when files are complete, of connectors that may count by the clock."""
    return (
        ConfigKey(
            FLUSH_BYTES, LONG, LOW, default=-1, validator=at_least(-1),
            doc=f"Bytes of a topic-partition after which its files are complete, about; {_OFF}.",
        ),
        ConfigKey(
            ROTATE_INTERVAL, LONG, HIGH, default=interval, validator=at_least(-1),
            doc="How far apart in time, as timestamp.extractor says, the records of a file may be, in ms; "
            f"files of a partition without more records are complete after as long by the clock. {_OFF}.",
        ),
    )  # fmt: skip


def partitioner_keys(default: str = "default") -> Sequence[ConfigKey]:
    """Return the keys about folders and the records' times."""
    return (
        ConfigKey(
            PARTITIONER, STRING, HIGH, default=default, validator=PARTITIONERS.check,
            doc="How records are sorted into folders: default (partition=<number>), field, time, daily, "
            "hourly, or the published class name.",
        ),
        ConfigKey(
            PARTITION_FIELDS, LIST, MEDIUM, default=[],
            doc="Fields of the value whose contents name the folders; for the field partitioner.",
        ),
        ConfigKey(
            PARTITION_DURATION, LONG, MEDIUM, default=-1,
            doc="How much time a folder spans, in ms; for the time partitioner.",
        ),
        ConfigKey(
            PATH_FORMAT, STRING, MEDIUM, default="",
            doc="The folders' names as Joda-Time writes times, such as 'year'=YYYY/'month'=MM/'day'=dd; for "
            "the time partitioner.",
        ),
        ConfigKey(
            LOCALE, STRING, MEDIUM, default="", doc="Language of names of months and days; English only."
        ),
        ConfigKey(
            TIMEZONE, STRING, MEDIUM, default="", doc="Time zone of folders and schedules, such as UTC."
        ),
        ConfigKey(
            EXTRACTOR, STRING, MEDIUM, default="Wallclock", validator=EXTRACTORS.check,
            doc="A record's time: Wallclock (that of writing), Record (Kafka's timestamp) or RecordField.",
        ),
        ConfigKey(
            TIMESTAMP_FIELD, STRING, MEDIUM, default="timestamp",
            doc="The field with the time, points between the names of nested ones; for RecordField.",
        ),
    )  # fmt: skip
