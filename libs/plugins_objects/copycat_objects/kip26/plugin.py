"""KIP-26's HDFSSink: its keys, and how the engine finds it; Arrow and Avro are loaded where one is made."""

from __future__ import annotations

from copycat_connect.config import LOW, at_least
from copycat_connect.config.settings import Settings, key, nested
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.hdfs.plugin import HdfsSettings, HdfsWriting
from copycat_objects.keys import (
    RotationSettings,
    flush_size_key,
    format_key,
    rotate_interval_key,
)
from copycat_objects.stores.errors import FAILURES
from copycat_objects.version import VERSION

_CLASS_NAME = "org.apache.kafka.copycat.HDFSSinkConnector"
_TASK_CLASS_NAME = "org.apache.kafka.copycat.HDFSSinkTask"
_FLUSH_SIZE = 1000

_SUMMARY = "Exports topics to JSON lines in HDFS with the keys of KIP-26's sample."
_GUARANTEES = (
    "Exactly once into files, as HdfsSinkConnector, whose keys it has, with defaults so that `hdfs.url` is "
    f"all it needs: JSON lines, {_FLUSH_SIZE} records a file, and a file a minute after its first record at "
    "the latest."
)


class _ExportWriting(HdfsWriting):
    """What is written: small files of JSON, so that the example needs no more keys."""

    format: str = format_key("json")
    flush_size: int = flush_size_key(_FLUSH_SIZE)


class _ExportRotation(RotationSettings):
    """When a file ends: after a minute, unless another time is given."""

    rotate_interval_ms: int = rotate_interval_key(60_000)


class _ExportHdfsSettings(HdfsSettings):
    """The published connector's keys with other defaults."""

    writing: _ExportWriting = nested()
    rotation: _ExportRotation = nested()


class HdfsExportSettings(Settings):
    """KIP-26's name of a key of the framework, and the published connector's keys."""

    connector_tasks_max: int = key(
        LOW, default=1, check=at_least(1), doc="KIP-26's name of tasks.max, which comes before it."
    )
    hdfs: _ExportHdfsSettings = nested()


_EXAMPLES = {
    "The sample of KIP-26": {
        "topics": "orders",
        "connector.tasks.max": "20",
        "hdfs.url": "hdfs://my-hdfs-server:9001/export/",
    }
}

PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=_SUMMARY,
    config=HdfsExportSettings.config_def(),
    factory="copycat_objects.kip26.connector:HDFSSinkConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_objects.kip26.connector:new_task",
    guarantees=_GUARANTEES,
    tested_with="HDFS 3.5.0 over WebHDFS",
    examples=_EXAMPLES,
    failures=FAILURES,
)
