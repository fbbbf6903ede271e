"""From a configuration to what it means."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from copycat_connect.errors import ConfigError

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.objects.choices import EXTRACTORS, FORMATS, PARTITIONERS
from copycat_plugins.connectors.objects.compatibility import Compatibility
from copycat_plugins.connectors.objects.formats.avro import AvroFiles
from copycat_plugins.connectors.objects.formats.format import Format
from copycat_plugins.connectors.objects.formats.json_lines import JsonLines
from copycat_plugins.connectors.objects.formats.parquet import ParquetFiles
from copycat_plugins.connectors.objects.formats.plain_lines import PlainLines
from copycat_plugins.connectors.objects.names import Layout
from copycat_plugins.connectors.objects.partitioners.default import DefaultPartitioner
from copycat_plugins.connectors.objects.partitioners.field import FieldPartitioner
from copycat_plugins.connectors.objects.partitioners.partitioner import Partitioner
from copycat_plugins.connectors.objects.partitioners.path_format import PathFormat
from copycat_plugins.connectors.objects.partitioners.time import DAY, HOUR, TimePartitioner
from copycat_plugins.connectors.objects.partitioners.times import (
    FieldTimes,
    RecordTimes,
    RecordTimestamps,
    Wallclock,
)
from copycat_plugins.connectors.objects.rotation import Rotation
from copycat_plugins.connectors.objects.settings import SinkSettings
from copycat_plugins.connectors.stores.store import Store

Parsed = Mapping[str, Any]
_DAILY: Final = "'year'=YYYY/'month'=MM/'day'=dd"
_BEST: Final = 9
_ZLIB_LEVEL: Final = 6
_HOURLY: Final = _DAILY + "/'hour'=HH"


def sink_settings(parsed: Parsed, connector: str, open_store: Callable[[], Store]) -> SinkSettings:
    """Return what a parsed configuration means.

    Args:
        parsed: The parsed configuration.
        connector: The connector's name.
        open_store: Connects to the store.

    Raises:
        ConfigError: Keys do not go together.
    """
    return SinkSettings(
        connector=connector,
        open_store=open_store,
        layout=_layout(parsed),
        format=file_format(parsed),
        partitioner=partitioner(parsed),
        times=_times(parsed),
        rotation=_rotation(parsed),
        compatibility=Compatibility(parsed[keys.COMPATIBILITY]),
        null_values=parsed[keys.NULL_VALUES],
        retry_seconds=parsed[keys.RETRY_BACKOFF] / 1000,
    )


def _layout(parsed: Parsed) -> Layout:
    return Layout(
        topics=parsed[keys.TOPICS_DIR].strip("/"),
        logs=parsed[keys.LOGS_DIR].strip("/"),
        digits=parsed[keys.ZERO_PAD],
        file_delimiter=parsed[keys.FILE_DELIMITER],
    )


def file_format(parsed: Parsed) -> Format:
    """Return the format of the files."""
    match FORMATS.names[parsed[keys.FORMAT]]:
        case "json":
            return JsonLines(gzip_level=_gzip_level(parsed), decimals=parsed.get(keys.DECIMALS, "BASE64"))
        case "avro":
            return AvroFiles(parsed[keys.AVRO_CODEC])
        case "parquet":
            return ParquetFiles(parsed[keys.PARQUET_CODEC])
        case "bytes":
            return PlainLines(
                "bytes",
                gzip_level=_gzip_level(parsed),
                extension=parsed.get(keys.BYTES_EXTENSION),
                separator=(parsed.get(keys.BYTES_SEPARATOR) or os.linesep).encode(),
            )
        case kind:
            return PlainLines(kind, gzip_level=_gzip_level(parsed))


def _gzip_level(parsed: Parsed) -> int | None:
    """Return how files are compressed; None where they are not."""
    if parsed[keys.COMPRESSION] != "gzip":
        return None
    level: int = parsed.get(keys.COMPRESSION_LEVEL, _BEST)
    return level if level >= 0 else _ZLIB_LEVEL


def partitioner(parsed: Parsed) -> Partitioner:
    """Return what names the folders.

    Raises:
        ConfigError: A key that it needs is missing or wrong.
    """
    match PARTITIONERS.names[parsed[keys.PARTITIONER]]:
        case "default":
            return DefaultPartitioner()
        case "field":
            if not parsed[keys.PARTITION_FIELDS]:
                raise _missing(keys.PARTITION_FIELDS, "the field partitioner")
            return FieldPartitioner(parsed[keys.PARTITION_FIELDS])
        case "daily":
            return TimePartitioner(PathFormat(_DAILY), DAY, _needed_zone(parsed))
        case "hourly":
            return TimePartitioner(PathFormat(_HOURLY), HOUR, _needed_zone(parsed))
    if not parsed[keys.PATH_FORMAT]:
        raise _missing(keys.PATH_FORMAT, "the time partitioner")
    if parsed[keys.PARTITION_DURATION] <= 0:
        raise _missing(keys.PARTITION_DURATION, "the time partitioner")
    duration = parsed[keys.PARTITION_DURATION]
    return TimePartitioner(PathFormat(parsed[keys.PATH_FORMAT]), duration, _needed_zone(parsed))


def _times(parsed: Parsed) -> RecordTimes:
    match EXTRACTORS.names[parsed[keys.EXTRACTOR]]:
        case "Record":
            return RecordTimestamps()
        case "RecordField":
            return FieldTimes(parsed[keys.TIMESTAMP_FIELD])
    return Wallclock()


def _rotation(parsed: Parsed) -> Rotation:
    scheduled = parsed[keys.ROTATE_SCHEDULE] > 0
    return Rotation(
        records=parsed[keys.FLUSH_SIZE],
        bytes=parsed[keys.FLUSH_BYTES],
        interval=parsed[keys.ROTATE_INTERVAL],
        schedule=parsed[keys.ROTATE_SCHEDULE],
        zone=_needed_zone(parsed) if scheduled else UTC,
    )


def _needed_zone(parsed: Parsed) -> tzinfo:
    name = parsed[keys.TIMEZONE]
    if not name:
        raise _missing(keys.TIMEZONE, "folders or files by the clock")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        message = (
            f"Invalid value {name} for configuration {keys.TIMEZONE}: it is no time zone such as UTC or "
            "Europe/Paris"
        )
        raise ConfigError(message, key=keys.TIMEZONE) from error


def _missing(key: str, whose: str) -> ConfigError:
    return ConfigError(f"Invalid configuration: {key} must be set for {whose}", key=key)
