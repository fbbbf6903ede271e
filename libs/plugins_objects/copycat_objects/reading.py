"""From a configuration to what it means."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from copycat_connect.errors import ConfigError, DataError

from copycat_objects.formats.avro import AvroFiles
from copycat_objects.formats.format import Format
from copycat_objects.formats.lines import JsonLines, PlainLines
from copycat_objects.formats.parquet import ParquetFiles
from copycat_objects.keys import (
    NULL_VALUES,
    PARTITION_DURATION,
    PARTITION_FIELDS,
    PATH_FORMAT,
    TIMEZONE,
    PartitioningSettings,
    RotationSettings,
    WritingSettings,
)
from copycat_objects.names import FileLayout
from copycat_objects.partitioners.partitioner import (
    DAY,
    HOUR,
    DefaultPartitioner,
    FieldPartitioner,
    Partitioner,
    TimePartitioner,
)
from copycat_objects.partitioners.path_format import PathFormat
from copycat_objects.partitioners.times import (
    FieldTimes,
    RecordTimes,
    RecordTimestamps,
    Wallclock,
)
from copycat_objects.settings import Compatibility, Rotation, SinkSettings
from copycat_objects.stores.store import Store

_DAILY: Final = "'year'=YYYY/'month'=MM/'day'=dd"
_BEST: Final = 9
_ZLIB_LEVEL: Final = 6
_HOURLY: Final = _DAILY + "/'hour'=HH"


@dataclass(frozen=True, slots=True)
class LineOptions:
    """How files of JSON lines, of bytes and of text are written."""

    gzip_level: int | None
    """How they are compressed; None where they are not."""
    decimals: str = "BASE64"
    """How JSON has decimals."""
    bytes_extension: str | None = None
    """End of the names of files of bytes; None for that of the format."""
    bytes_separator: str | None = None
    """Between values in files of bytes; None for the end of a line."""


def sink_settings(
    connector: str,
    open_store: Callable[[], Store],
    *,
    writing: WritingSettings,
    rotation: RotationSettings,
    partitioning: PartitioningSettings,
    lines: LineOptions,
    logs_dir: str,
    file_delimiter: str,
) -> SinkSettings:
    """Return what the settings of a connector mean.

    Args:
        connector: Its name.
        open_store: Connects to the store.
        writing: Files, their names and when they are complete.
        rotation: When they are complete by size and time.
        partitioning: Their folders.
        lines: How files of lines are written.
        logs_dir: Folder of the commit logs.
        file_delimiter: Between the parts of a file's name.

    Raises:
        ConfigError: Keys do not go together.
    """
    format_ = _file_format(writing, lines)
    if writing.behavior_on_null_values == "write":
        _check_nulls(format_, partitioning)
    scheduled = writing.rotate_schedule_interval_ms > 0
    return SinkSettings(
        connector=connector,
        open_store=open_store,
        layout=FileLayout(
            topics=writing.topics_dir.strip("/"),
            logs=logs_dir.strip("/"),
            digits=writing.filename_offset_zero_pad_width,
            file_delimiter=file_delimiter,
        ),
        format=format_,
        partitioner=_partitioner(partitioning),
        times=_times(partitioning),
        rotation=Rotation(
            records=writing.flush_size,
            bytes=rotation.flush_bytes,
            interval=rotation.rotate_interval_ms,
            schedule=writing.rotate_schedule_interval_ms,
            zone=_needed_zone(partitioning.timezone) if scheduled else UTC,
        ),
        compatibility=Compatibility(writing.schema_compatibility),
        null_values=writing.behavior_on_null_values,
        retry_seconds=writing.retry_seconds,
    )


def gzip_level(compression: str, level: int = _BEST) -> int | None:
    """Return how files are compressed; None where they are not."""
    if compression != "gzip":
        return None
    return level if level >= 0 else _ZLIB_LEVEL


def _file_format(writing: WritingSettings, lines: LineOptions) -> Format:
    match writing.format:
        case "json":
            return JsonLines(gzip_level=lines.gzip_level, decimals=lines.decimals)
        case "avro":
            return AvroFiles(writing.avro_codec)
        case "parquet":
            return ParquetFiles(writing.parquet_codec)
        case "bytes":
            return PlainLines(
                "bytes",
                gzip_level=lines.gzip_level,
                extension=lines.bytes_extension,
                separator=(lines.bytes_separator or os.linesep).encode(),
            )
        case kind:
            return PlainLines(kind, gzip_level=lines.gzip_level)


class _Nowhere:
    """Takes the bytes of a file that nobody wants."""

    def write(self, content: bytes | memoryview) -> None:
        """Drop what a writer puts into a file."""


def _check_nulls(format_: Format, partitioning: PartitioningSettings) -> None:
    """Try to write a null, which has neither a schema nor fields.

    Raises:
        ConfigError: The format cannot, or folders and times are to come from fields.
    """
    try:
        format_.writer(_Nowhere(), None).write([None])
    except DataError as error:
        raise _no_nulls(error.message) from error
    if partitioning.partitioner == "field" or partitioning.timestamp_extractor == "RecordField":
        raise _no_nulls("a null has no fields to choose its folder by")


def _no_nulls(why: str) -> ConfigError:
    message = f"Invalid value write for configuration {NULL_VALUES}: {why}. Set fail or ignore"
    return ConfigError(message, key=NULL_VALUES)


def _partitioner(settings: PartitioningSettings) -> Partitioner:
    match settings.partitioner:
        case "default":
            return DefaultPartitioner()
        case "field":
            if not settings.partition_field_name:
                raise _missing(PARTITION_FIELDS, "the field partitioner")
            return FieldPartitioner(settings.partition_field_name)
        case "daily":
            return TimePartitioner(PathFormat(_DAILY), DAY, _needed_zone(settings.timezone))
        case "hourly":
            return TimePartitioner(PathFormat(_HOURLY), HOUR, _needed_zone(settings.timezone))
    if not settings.path_format:
        raise _missing(PATH_FORMAT, "the time partitioner")
    duration = settings.partition_duration_ms
    if duration <= 0:
        raise _missing(PARTITION_DURATION, "the time partitioner")
    return TimePartitioner(PathFormat(settings.path_format), duration, _needed_zone(settings.timezone))


def _times(settings: PartitioningSettings) -> RecordTimes:
    match settings.timestamp_extractor:
        case "Record":
            return RecordTimestamps()
        case "RecordField":
            return FieldTimes(settings.timestamp_field)
    return Wallclock()


def _needed_zone(name: str) -> tzinfo:
    if not name:
        raise _missing(TIMEZONE, "folders or files by the clock")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ConfigError(
            f"Invalid value {name} for configuration {TIMEZONE}: it is no time zone such as UTC or "
            "Europe/Paris",
            key=TIMEZONE,
        ) from error


def _missing(key: str, whose: str) -> ConfigError:
    return ConfigError(f"Invalid configuration: {key} must be set for {whose}", key=key)
