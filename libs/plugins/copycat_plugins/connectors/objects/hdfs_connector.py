"""The connector of the sinks that have the published HDFS sink's keys."""

from __future__ import annotations

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.objects.connector import Config, FilesSinkConnector
from copycat_plugins.connectors.objects.hdfs_keys import UNUSED, address_of, check_hive
from copycat_plugins.connectors.objects.reading import sink_settings
from copycat_plugins.connectors.objects.settings import SinkSettings
from copycat_plugins.connectors.stores.opening import open_store


class HdfsFilesConnector(FilesSinkConnector):
    """Reads those keys; derive from it to name the definition."""

    unused = UNUSED

    @classmethod
    def read(cls, config: Config) -> SinkSettings:
        """Return what a configuration means."""
        parsed = cls.definition.parse(config)
        key, url = address_of(parsed)
        check_hive(parsed)
        open_store(parsed, url, key).close()
        return sink_settings(parsed, config.get(keys.NAME) or "", lambda: open_store(parsed, url, key))
