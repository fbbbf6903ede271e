"""S3Sink: the published S3 sink's keys and names over the engine of all object sinks."""

from __future__ import annotations

from dataclasses import replace

from copycat_connect.errors import ConfigError

from copycat_objects.connector import Config, FilesSinkConnector
from copycat_objects.formats.parquet import ParquetFiles
from copycat_objects.keys import RotationSettings
from copycat_objects.reading import LineOptions, gzip_level, sink_settings
from copycat_objects.s3.plugin import UNUSED, S3SinkSettings
from copycat_objects.settings import SinkSettings
from copycat_objects.stores.keys import STORE_URL
from copycat_objects.stores.opening import open_store
from copycat_objects.task import ObjectSinkTask


class S3SinkConnector(FilesSinkConnector):
    """Reads the published connector's keys."""

    definition = S3SinkSettings.config_def()
    logged = False
    unused = UNUSED

    @classmethod
    def read(cls, config: Config) -> SinkSettings:
        """Return what a configuration means."""
        settings = S3SinkSettings.parse(config)
        url, reach = settings.store_url or "", settings.values_by_key()
        if url and not url.startswith(("http://", "https://")):
            raise ConfigError(
                f"Invalid value for configuration {STORE_URL}: expected http://host:port of a server "
                "that speaks S3, or nothing for AWS; ObjectSinkConnector writes to other stores",
                key=STORE_URL,
            )
        found = sink_settings(
            config.get("name") or "",
            lambda: open_store(reach, url),
            writing=settings.writing,
            rotation=RotationSettings(flush_bytes=-1, rotate_interval_ms=settings.rotate_interval_ms),
            partitioning=settings.partitioning,
            lines=LineOptions(
                gzip_level(settings.s3_compression_type, settings.s3_compression_level),
                settings.json_decimal_format,
                settings.format_bytearray_extension,
                settings.format_bytearray_separator,
            ),
            logs_dir="",
            file_delimiter=settings.delimiters.file_delim,
        )
        rotation, format_ = found.rotation, found.format
        return replace(
            found,
            logged=cls.logged,
            layout=replace(found.layout, names_last=False),
            format=format_.named_with_codec() if isinstance(format_, ParquetFiles) else format_,
            rotation=replace(
                rotation,
                quiet=found.times.is_clock,
                by_folder=rotation.interval > 0 and settings.rotate_file_on_partition_change,
            ),
        )


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(S3SinkConnector.read)
