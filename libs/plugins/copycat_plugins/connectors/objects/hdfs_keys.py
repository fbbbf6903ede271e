"""The keys of the published HDFS sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from copycat_connect.config import BOOLEAN, HIGH, LONG, LOW, MEDIUM, STRING, ConfigKey, one_of
from copycat_connect.config.key import NO_DEFAULT, NoDefault
from copycat_connect.errors import ConfigError

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.objects.choices import DEFAULT_PARTITIONER
from copycat_plugins.connectors.objects.published_keys import UNUSED_BY_ALL, WithoutEffect, not_offered
from copycat_plugins.connectors.stores import keys as stores

HIVE: Final = "hive.integration"
_NO_HIVE: Final = "there are no tables in Hive; make an external table over the folders of the files"
_NO_KERBEROS: Final = "a login by Kerberos is not supported"
_STORAGE: Final = "io.confluent.connect.hdfs.storage.HdfsStorage"

UNUSED: Final = (
    WithoutEffect("storage.class", STRING, _STORAGE, "the address says which store"),
    WithoutEffect("shutdown.timeout.ms", LONG, 3000, "a task that stops drops what is not complete at once"),
    WithoutEffect("hadoop.home", STRING, "", "nothing of Hadoop is installed here"),
    WithoutEffect(HIVE, BOOLEAN, False, _NO_HIVE),
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


def hdfs_keys(
    default_format: str = "io.confluent.connect.hdfs.avro.AvroFormat",
    flush_size: int | NoDefault = NO_DEFAULT,
    interval: int = -1,
) -> Sequence[ConfigKey]:
    """Return the keys, with defaults of the format, of `flush.size` and of `rotate.interval.ms`."""
    return (
        ConfigKey(
            stores.HDFS_URL, STRING, HIGH, default=None,
            doc="Address of HDFS, hdfs://host:port/folder; that of store.url where this is not set.",
        ),
        ConfigKey(
            stores.STORE_URL, STRING, HIGH, default=None,
            doc="Another key for the address, which comes before hdfs.url; also file:///folder.",
        ),
        *keys.writing_keys(default_format, flush_size),
        *keys.rotation_keys(interval),
        ConfigKey(
            keys.LOGS_DIR, STRING, HIGH, default="logs",
            doc="Folder of the commit logs, below the address; ${topic} in it stands for the topic.",
        ),
        ConfigKey(keys.FILE_DELIMITER, STRING, MEDIUM, default="+", doc="Between the parts of a name."),
        ConfigKey(
            keys.FOLDER_DELIMITER, STRING, MEDIUM, default="/", validator=one_of("/"),
            doc="Between the names of folders; only /.",
        ),
        ConfigKey(
            keys.COMPRESSION, STRING, LOW, default="none", validator=one_of("none", "gzip"),
            doc="Compression of files of JSON lines and text.",
        ),
        *keys.partitioner_keys(DEFAULT_PARTITIONER),
        stores.WEBHDFS_URL_KEY,
        stores.HDFS_USER_KEY,
        stores.HADOOP_CONF_KEY,
        not_offered("hdfs.authentication.kerberos", _NO_KERBEROS),
        *(each.key() for each in UNUSED),
    )  # fmt: skip


def address_of(parsed: Mapping[str, Any]) -> tuple[str, str]:
    """Return the key that holds the address, and the address.

    Raises:
        ConfigError: Neither key is set.
    """
    for key in (stores.STORE_URL, stores.HDFS_URL):
        if parsed[key]:
            return key, parsed[key]
    message = f'Missing required configuration "{stores.HDFS_URL}" which has no default value.'
    raise ConfigError(message, key=stores.HDFS_URL)


def check_hive(parsed: Mapping[str, Any]) -> None:
    """Check what the published connector asks of those who want tables in Hive.

    Raises:
        ConfigError: Their schemas may change in any way.
    """
    if parsed[HIVE] and parsed[keys.COMPATIBILITY] == "NONE":
        message = "Hive Integration requires schema compatibility to be BACKWARD, FORWARD or FULL"
        raise ConfigError(message, key=keys.COMPATIBILITY)
