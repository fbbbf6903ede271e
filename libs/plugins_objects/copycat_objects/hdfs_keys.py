"""The keys of the published HDFS sink."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import BOOLEAN, HIGH, LONG, LOW, STRING, ConfigDef, one_of
from copycat_connect.config.settings import Settings, key, nested, shared_key, taken_from
from copycat_connect.errors import ConfigError

from copycat_objects.keys import (
    COMPATIBILITY,
    DelimiterSettings,
    PublishedPartitioning,
    RotationSettings,
    WritingSettings,
    format_key,
)
from copycat_objects.published_keys import UNUSED_BY_ALL, WithoutEffect, not_offered
from copycat_objects.stores import keys as stores

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
