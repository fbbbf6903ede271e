"""ObjectSink: one connector for all stores."""

from __future__ import annotations

from copycat_objects.connector import Config, FilesSinkConnector
from copycat_objects.reading import LineOptions, gzip_level, sink_settings
from copycat_objects.settings import SinkSettings
from copycat_objects.sink.plugin import ObjectSinkSettings
from copycat_objects.stores.opening import open_store
from copycat_objects.task import ObjectSinkTask


class ObjectSinkConnector(FilesSinkConnector):
    """Reads its own keys."""

    definition = ObjectSinkSettings.config_def()

    @classmethod
    def read(cls, config: Config) -> SinkSettings:
        """Return what a configuration means."""
        settings = ObjectSinkSettings.parse(config)
        reach, url = settings.values_by_key(), settings.store_url
        open_store(reach, url).close()
        return sink_settings(
            config.get("name") or "",
            lambda: open_store(reach, url),
            writing=settings.writing,
            rotation=settings.rotation,
            partitioning=settings.partitioning,
            lines=LineOptions(gzip_level(settings.compression_type)),
            logs_dir=settings.logs_dir,
            file_delimiter=settings.file_delim,
        )


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(ObjectSinkConnector.read)
