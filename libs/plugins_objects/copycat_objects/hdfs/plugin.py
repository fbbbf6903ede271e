"""HdfsSink: its keys, and how the engine finds it; Arrow and Avro are loaded where one is made."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import BOOLEAN, HIGH, LONG, LOW, STRING, ConfigDef, one_of
from copycat_connect.config.settings import Settings, key, nested, shared_key, taken_from
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.keys import (
    COMPATIBILITY,
    UNUSED_BY_ALL,
    DelimiterSettings,
    PublishedPartitioning,
    RotationSettings,
    WithoutEffect,
    WritingSettings,
    format_key,
    not_offered,
)
from copycat_objects.stores import keys as stores
from copycat_objects.stores.errors import FAILURES
from copycat_objects.version import VERSION

_CLASS_NAME = "io.confluent.connect.hdfs.HdfsSinkConnector"
_TASK_CLASS_NAME = "io.confluent.connect.hdfs.HdfsSinkTask"

_SUMMARY = (
    "Writes records to files in HDFS as Avro, Parquet, JSON lines or text, with the keys, folders and names "
    "of the published connector."
)
_GUARANTEES = (
    "Exactly once into files, with `delivery.guarantee=exactly_once` and without: a file is written below "
    "`<topics.dir>/+tmp`, then renamed to `<topics.dir>/<topic>/<folder of the "
    "partitioner>/<topic>+<partition>+<first offset>+<last offset><extension>`. An entry in the commit log "
    "of the topic-partition (`<logs.dir>/<topic>/<partition>`) names complete files before the first is "
    "renamed; after a crash the rest is renamed. A task goes on behind the newest entry, or else behind the "
    "last offset in the names of files, wherever the consumer group is. A topic that is deleted and made "
    "anew fails a running task whose folder has files of it, with what to do; a stopped one does not notice "
    "it. To go on where the published connector stopped, end it cleanly: its own log (`log`, `log.1`) is "
    "not read. Other than there, `rotate.interval.ms` also ends the files of quiet partitions, by the "
    "clock. HDFS is reached over WebHDFS."
)


_EXAMPLES = {
    "Avro, a thousand records a file": {
        "topics": "orders",
        "hdfs.url": "hdfs://namenode:9000",
        "flush.size": "1000",
    },
    "Parquet by the hour": {
        "topics": "orders",
        "hdfs.url": "hdfs://namenode:9000/warehouse",
        "webhdfs.url": "http://namenode:9870",
        "format.class": "io.confluent.connect.hdfs.parquet.ParquetFormat",
        "flush.size": "1000000",
        "rotate.interval.ms": "600000",
        "partitioner.class": "io.confluent.connect.storage.partitioner.HourlyPartitioner",
        "locale": "en",
        "timezone": "UTC",
        "timestamp.extractor": "Record",
    },
}
_HIVE: Final = "hive.integration"
_NO_HIVE: Final = "there are no tables in Hive; make an external table over the folders of the files"
_NO_KERBEROS: Final = "a login by Kerberos is not supported"
_STORAGE: Final = "io.confluent.connect.hdfs.storage.HdfsStorage"

UNUSED: Final = (
    WithoutEffect("storage.class", STRING, _STORAGE, "the address says which store"),
    WithoutEffect("shutdown.timeout.ms", LONG, 3000, "a task that stops drops what is not complete at once"),
    WithoutEffect("hadoop.home", STRING, "", "nothing of Hadoop is installed here"),
    WithoutEffect(_HIVE, BOOLEAN, False, _NO_HIVE),
    WithoutEffect("hive.metastore.uris", STRING, "", _NO_HIVE),
    WithoutEffect("hive.conf.dir", STRING, "", _NO_HIVE),
    WithoutEffect("hive.home", STRING, "", _NO_HIVE),
    WithoutEffect("hive.database", STRING, "default", _NO_HIVE),
    WithoutEffect("hive.table.name", STRING, "${topic}", _NO_HIVE),
    WithoutEffect("connect.hdfs.principal", STRING, "", _NO_KERBEROS),
    WithoutEffect("connect.hdfs.keytab", STRING, "", _NO_KERBEROS),
    WithoutEffect("hdfs.namenode.principal", STRING, "", _NO_KERBEROS),
    WithoutEffect("kerberos.ticket.renew.period.ms", LONG, 3_600_000, _NO_KERBEROS),
    *UNUSED_BY_ALL,
)


class HdfsWriting(WritingSettings):
    """Writes as the published connector does by default."""

    format: str = format_key("io.confluent.connect.hdfs.avro.AvroFormat")


class HdfsSettings(Settings):
    """The keys of the published connector."""

    hdfs_url: str | None = key(
        HIGH,
        name=stores.HDFS_URL,
        default=None,
        doc="Address of HDFS, hdfs://host:port/folder; that of store.url where this is not set.",
    )
    store_url: str | None = key(
        HIGH,
        name=stores.STORE_URL,
        default=None,
        doc="Another key for the address, which comes before hdfs.url; also file:///folder.",
    )
    writing: HdfsWriting = nested()
    rotation: RotationSettings = nested()
    logs_dir: str = key(
        HIGH,
        default="logs",
        doc="Folder of the commit logs, below the address; ${topic} in it stands for the topic.",
    )
    delimiters: DelimiterSettings = nested()
    compression_type: str = key(
        LOW,
        default="none",
        check=one_of("none", "gzip"),
        doc="Compression of files of JSON lines and text.",
    )
    partitioning: PublishedPartitioning = nested()
    webhdfs_url: str | None = shared_key(stores.WEBHDFS_URL_KEY)
    hdfs_user: str | None = shared_key(stores.HDFS_USER_KEY)
    hadoop_conf_dir: str = shared_key(stores.HADOOP_CONF_KEY)
    hdfs_authentication_kerberos: bool = shared_key(not_offered("hdfs.authentication.kerberos", _NO_KERBEROS))
    hive: bool = taken_from(lambda config: (config.get(_HIVE) or "").strip().lower() == "true")

    @classmethod
    def config_def(cls) -> ConfigDef:
        """Return the definition, with the keys that do nothing behind the others."""
        return super().config_def().extended(*(each.key() for each in UNUSED))

    @property
    def address(self) -> tuple[str, str]:
        """The key that holds the address, and the address.

        Raises:
            ConfigError: Neither key is set.
        """
        for name, url in ((stores.STORE_URL, self.store_url), (stores.HDFS_URL, self.hdfs_url)):
            if url:
                return name, url
        raise ConfigError(
            f'Missing required configuration "{stores.HDFS_URL}" which has no default value.',
            key=stores.HDFS_URL,
        )

    def check_hive(self) -> None:
        """Check what the published connector asks of those who want tables in Hive.

        Raises:
            ConfigError: Their schemas may change in any way.
        """
        if self.hive and self.writing.schema_compatibility == "NONE":
            raise ConfigError(
                "Hive Integration requires schema compatibility to be BACKWARD, FORWARD or FULL",
                key=COMPATIBILITY,
            )


PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=_SUMMARY,
    config=HdfsSettings.config_def(),
    factory="copycat_objects.hdfs.connector:HdfsSinkConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_objects.hdfs.connector:new_task",
    guarantees=_GUARANTEES,
    tested_with="HDFS 3.5.0 over WebHDFS",
    examples=_EXAMPLES,
    failures=FAILURES,
)
