"""The keys that the object sinks share, with the names and defaults of the published connectors.

Some of them do nothing here: configurations of the published connectors are taken as they are.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LONG,
    LOW,
    MEDIUM,
    ConfigDef,
    ConfigKey,
    at_least,
    one_of,
)
from copycat_connect.config.key import NO_DEFAULT, NoDefault
from copycat_connect.config.setting import ConfigSetting, Type
from copycat_connect.config.settings import Settings, key
from copycat_connect.errors import ConfigError

_PARTITIONERS = "io.confluent.connect.storage.partitioner."
_EXTRACTORS = _PARTITIONERS + "TimeBasedPartitioner$"
_FORMATS = {
    "avro": "avro.AvroFormat",
    "json": "json.JsonFormat",
    "parquet": "parquet.ParquetFormat",
    "bytes": "bytearray.ByteArrayFormat",
    "string": "string.StringFormat",
}
_KINDS = ("io.confluent.connect.hdfs", "io.confluent.connect.hdfs3", "io.confluent.connect.s3.format")
DEFAULT_PARTITIONER: Final = _PARTITIONERS + "DefaultPartitioner"
"""The class name of the default partitioner."""
COMPATIBILITY, NULL_VALUES = "schema.compatibility", "behavior.on.null.values"
PARTITION_FIELDS, PARTITION_DURATION = "partition.field.name", "partition.duration.ms"
PATH_FORMAT, TIMEZONE = "path.format", "timezone"
_AVRO_CODECS = ("null", "deflate", "snappy", "bzip2", "zstandard")
_PARQUET_CODECS = ("none", "snappy", "gzip", "brotli", "lz4", "zstd")
_OFF = "-1 turns it off"
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of a key that names a class: a short name, or the published class it stands for."""

    names: Mapping[str, str]
    """Each name that may be given, with the short one."""

    def check(self, name: str, value: ConfigSetting) -> None:
        """Accept these names.

        Raises:
            ConfigError: It is not one of them.
        """
        if value not in self.names:
            short = ", ".join(dict.fromkeys(self.names.values()))
            raise ConfigError(
                f"Invalid value {value} for configuration {name}: it must be one of {short}, or the "
                "class name "
                "that the published connectors have for one of these",
                key=name,
            )


def _with_classes(classes: Mapping[str, tuple[str, ...]]) -> Choices:
    names = {short: short for short in classes}
    return Choices(names | {full: short for short, several in classes.items() for full in several})


FORMATS: Final = _with_classes(
    {short: tuple(f"{kind}.{name}" for kind in _KINDS) for short, name in _FORMATS.items()}
)
PARTITIONERS: Final = _with_classes(
    {
        "default": (_PARTITIONERS + "DefaultPartitioner",),
        "field": (_PARTITIONERS + "FieldPartitioner",),
        "time": (_PARTITIONERS + "TimeBasedPartitioner",),
        "daily": (_PARTITIONERS + "DailyPartitioner",),
        "hourly": (_PARTITIONERS + "HourlyPartitioner",),
    }
)
EXTRACTORS: Final = _with_classes(
    {name: (f"{_EXTRACTORS}{name}TimestampExtractor",) for name in ("Wallclock", "Record", "RecordField")}
)


def format_key(default: str) -> Any:  # noqa: ANN401 - the field's annotation is its type
    """Declare the key with the format of the files."""
    return key(
        HIGH,
        name="format.class",
        default=default,
        check=FORMATS.check,
        read=FORMATS.names.__getitem__,
        doc="Format of the files: avro, json (one value a line), parquet, bytes or string (one a line), "
        "or the class name that the published connectors have for it.",
    )


def flush_size_key(default: int | NoDefault = NO_DEFAULT) -> Any:  # noqa: ANN401 - as above
    """Declare the key with the number of records of a file."""
    return key(
        HIGH,
        default=default,
        check=at_least(1),
        doc="Records of a topic-partition after which its files are complete.",
    )


class WritingSettings(Settings):
    """Files, their names and when they are complete."""

    format: str = format_key("json")
    flush_size: int = flush_size_key()
    rotate_schedule_interval_ms: int = key(
        MEDIUM,
        type=LONG,
        default=-1,
        check=at_least(-1),
        doc=f"How often files are complete by the clock, in ms from midnight in timezone; {_OFF}.",
    )
    topics_dir: str = key(
        HIGH,
        default="topics",
        doc="Folder of the files, below the store's root; ${topic} in it stands for the topic.",
    )
    schema_compatibility: str = key(
        HIGH,
        name=COMPATIBILITY,
        default="NONE",
        check=one_of("NONE", "BACKWARD", "FORWARD", "FULL"),
        doc="What a change of schema does: NONE begins new files; with the others, which need versions, "
        "records of older (BACKWARD, FULL) or newer (FORWARD) schemas are fitted into the open file.",
    )
    behavior_on_null_values: str = key(
        LOW,
        name=NULL_VALUES,
        default="fail",
        check=one_of("fail", "ignore", "write"),
        doc="Records without a value: fail (reported as errors), ignore, or write (format json).",
    )
    retry_seconds: float = key(
        LOW,
        name="retry.backoff.ms",
        type=LONG,
        default=5000,
        check=at_least(0),
        read=lambda millis: millis / 1000,
        doc="Milliseconds until the store is tried again.",
    )
    filename_offset_zero_pad_width: int = key(
        LOW, default=10, check=at_least(0), doc="Digits that offsets in the names of files have at least."
    )
    avro_codec: str = key(LOW, default="null", check=one_of(*_AVRO_CODECS), doc="Compression of Avro files.")
    parquet_codec: str = key(
        LOW, default="snappy", check=one_of(*_PARQUET_CODECS), doc="Compression of Parquet files."
    )


def rotate_interval_key(default: int = -1) -> Any:  # noqa: ANN401 - as above
    """Declare the key with the time that a file may span."""
    return key(
        HIGH,
        type=LONG,
        default=default,
        check=at_least(-1),
        doc="How far apart in time, as timestamp.extractor says, the records of a file may be, in ms; "
        f"files of a partition without more records are complete after as long by the clock. {_OFF}.",
    )


class RotationSettings(Settings):
    """When files are complete, of connectors that may count by the clock."""

    flush_bytes: int = key(
        LOW,
        type=LONG,
        default=-1,
        check=at_least(-1),
        doc=f"Bytes of a topic-partition after which its files are complete, about; {_OFF}.",
    )
    rotate_interval_ms: int = rotate_interval_key()


def partitioner_key(default: str) -> Any:  # noqa: ANN401 - as above
    """Declare the key with what sorts records into folders."""
    return key(
        HIGH,
        name="partitioner.class",
        default=default,
        check=PARTITIONERS.check,
        read=PARTITIONERS.names.__getitem__,
        doc="How records are sorted into folders: default (partition=<number>), field, time, daily, "
        "hourly, or the published class name.",
    )


class PartitioningSettings(Settings):
    """Folders and the records' times."""

    partitioner: str = partitioner_key("default")
    partition_field_name: tuple[str, ...] = key(
        MEDIUM,
        name=PARTITION_FIELDS,
        default=[],
        doc="Fields of the value whose contents name the folders; for the field partitioner.",
    )
    partition_duration_ms: int = key(
        MEDIUM,
        name=PARTITION_DURATION,
        type=LONG,
        default=-1,
        doc="How much time a folder spans, in ms; for the time partitioner.",
    )
    path_format: str = key(
        MEDIUM,
        name=PATH_FORMAT,
        default="",
        doc="The folders' names as Joda-Time writes times, such as 'year'=YYYY/'month'=MM/'day'=dd; for "
        "the time partitioner.",
    )
    locale: str = key(MEDIUM, default="", doc="Language of names of months and days; English only.")
    timezone: str = key(
        MEDIUM, name=TIMEZONE, default="", doc="Time zone of folders and schedules, such as UTC."
    )
    timestamp_extractor: str = key(
        MEDIUM,
        default="Wallclock",
        check=EXTRACTORS.check,
        read=EXTRACTORS.names.__getitem__,
        doc="A record's time: Wallclock (that of writing), Record (Kafka's timestamp) or RecordField.",
    )
    timestamp_field: str = key(
        MEDIUM,
        default="timestamp",
        doc="The field with the time, points between the names of nested ones; for RecordField.",
    )


class PublishedPartitioning(PartitioningSettings):
    """The same, with the default of the published connectors."""

    partitioner: str = partitioner_key(DEFAULT_PARTITIONER)


class DelimiterSettings(Settings):
    """What the published connectors let stand between the parts of names."""

    file_delim: str = key(MEDIUM, default="+", doc="Between the parts of a name.")
    directory_delim: str = key(
        MEDIUM, default="/", check=one_of("/"), doc="Between the names of folders; only /."
    )


@dataclass(frozen=True, slots=True)
class WithoutEffect:
    """A key that is accepted, and does nothing."""

    name: str
    """The key."""
    type: Type
    """What its values are."""
    default: ConfigSetting
    """What it is without a value."""
    why: str
    """Why it does nothing, for people."""

    def key(self) -> ConfigKey:
        """Return its definition."""
        return ConfigKey(self.name, self.type, LOW, default=self.default, doc=f"No effect: {self.why}.")


UNUSED_BY_ALL: Final = (
    WithoutEffect("schema.cache.size", INT, 1000, "schemas are kept as long as they are used"),
    WithoutEffect("enhanced.avro.schema.support", BOOLEAN, False, "schemas are written with all they hold"),
    WithoutEffect("connect.meta.data", BOOLEAN, True, "Avro schemas always tell Connect's own"),
    WithoutEffect("allow.optional.map.keys", BOOLEAN, False, "a map's keys are as its schema says"),
)
"""Keys that all of them have."""


def not_offered(name: str, why: str) -> ConfigKey:
    """Return a switch that may stay off: on, the published connector writes what is not written here.

    Args:
        name: The key.
        why: What is not offered, and what to do instead.
    """

    def check(name: str, value: ConfigSetting) -> None:
        if value:
            raise ConfigError(f"Invalid value true for configuration {name}: {why}", key=name)

    return ConfigKey(name, BOOLEAN, LOW, default=False, validator=check, doc=f"Only false: {why}.")


def tell_unused(
    connector: str, definition: ConfigDef, unused: Sequence[WithoutEffect], config: Mapping[str, str]
) -> None:
    """Log a warning for each key that somebody set and that does nothing here."""
    parsed = definition.parse(config)
    for each in unused:
        if parsed[each.name] != each.default:
            _log.warning("%s: '%s' has no effect: %s", connector, each.name, each.why)
