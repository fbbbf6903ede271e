"""S3Sink: the published S3 sink's keys and names over the engine of all object sinks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from copycat_connect.errors import ConfigError

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.objects.connector import Config, FilesSinkConnector
from copycat_plugins.connectors.objects.formats.parquet import ParquetFiles
from copycat_plugins.connectors.objects.reading import sink_settings
from copycat_plugins.connectors.objects.settings import SinkSettings
from copycat_plugins.connectors.objects.task import ObjectSinkTask
from copycat_plugins.connectors.s3_sink import spec
from copycat_plugins.connectors.s3_sink.s3_keys import COMPRESSION, ROTATE_ON_CHANGE, UNUSED
from copycat_plugins.connectors.stores import keys as stores
from copycat_plugins.connectors.stores.opening import open_store


class S3SinkConnector(FilesSinkConnector):
    """Reads the published connector's keys."""

    definition = spec.CONFIG
    logged = False
    unused = UNUSED

    @classmethod
    def read(cls, config: Config) -> SinkSettings:
        """Return what a configuration means."""
        parsed = cls.definition.parse(config)
        url = parsed[stores.STORE_URL] or ""
        if url and not url.startswith(("http://", "https://")):
            message = (
                f"Invalid value for configuration {stores.STORE_URL}: expected http://host:port of a server "
                "that speaks S3, or nothing for AWS; ObjectSinkConnector writes to other stores"
            )
            raise ConfigError(message, key=stores.STORE_URL)
        known: dict[str, Any] = {
            **parsed,
            keys.COMPRESSION: parsed[COMPRESSION],
            keys.FLUSH_BYTES: -1,
            keys.LOGS_DIR: "",
        }
        found = sink_settings(known, config.get(keys.NAME) or "", lambda: open_store(known, url))
        rotation, format_ = found.rotation, found.format
        return replace(
            found,
            logged=cls.logged,
            layout=replace(found.layout, names_last=False),
            format=format_.named_with_codec() if isinstance(format_, ParquetFiles) else format_,
            rotation=replace(
                rotation,
                quiet=found.times.is_clock,
                by_folder=rotation.interval > 0 and parsed[ROTATE_ON_CHANGE],
            ),
        )


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(S3SinkConnector.read)
