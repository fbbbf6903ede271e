"""ObjectSink: one connector for all stores."""

from __future__ import annotations

from copycat_plugins.connectors.object_sink import spec
from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.objects.connector import Config, FilesSinkConnector
from copycat_plugins.connectors.objects.reading import sink_settings
from copycat_plugins.connectors.objects.settings import SinkSettings
from copycat_plugins.connectors.objects.task import ObjectSinkTask
from copycat_plugins.connectors.stores import keys as stores
from copycat_plugins.connectors.stores.opening import open_store


class ObjectSinkConnector(FilesSinkConnector):
    """Reads its own keys."""

    definition = spec.CONFIG

    @classmethod
    def read(cls, config: Config) -> SinkSettings:
        """Return what a configuration means."""
        parsed = spec.CONFIG.parse(config)
        url = parsed[stores.STORE_URL]
        open_store(parsed, url).close()
        return sink_settings(parsed, config.get(keys.NAME) or "", lambda: open_store(parsed, url))


def new_task() -> ObjectSinkTask:
    """Make a task."""
    return ObjectSinkTask(ObjectSinkConnector.read)
