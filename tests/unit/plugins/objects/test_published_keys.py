"""The keys of the published HDFS and S3 sinks: what is refused and with which text, and what does nothing."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import pytest
from copycat_connect.config import ConfigValue
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import CONNECTORS, SinkConnector, load_plugins
from copycat_objects.stores.opening import web_address

HDFS = "io.confluent.connect.hdfs.HdfsSinkConnector"
S3 = "io.confluent.connect.s3.S3SinkConnector"
KERBEROS = "hdfs.authentication.kerberos"
ORC = "io.confluent.connect.hdfs.orc.OrcFormat"
VALID: Mapping[str, Mapping[str, str]] = {
    HDFS: {"hdfs.url": "hdfs://namenode:9000", "flush.size": "3"},
    S3: {"s3.bucket.name": "warehouse", "flush.size": "3"},
}
_NO_SCHEMAS = "Hive Integration requires schema compatibility to be BACKWARD, FORWARD or FULL"


def connector(sink: str) -> SinkConnector:
    """Return a connector that was not started."""
    made: SinkConnector = load_plugins().find(sink, CONNECTORS).make()
    return made


def wrong(sink: str, change: Mapping[str, str]) -> list[ConfigValue]:
    """Return what is wrong with a configuration."""
    config = {"name": "export", "topics": "orders", **VALID[sink], **change}
    found = connector(sink).validate({key: value for key, value in config.items() if value}) or []
    return [value for value in found if value.errors]


@pytest.mark.parametrize("sink", VALID)
def test_what_the_published_one_needs_is_enough(sink: str) -> None:
    assert not wrong(sink, {})


@pytest.mark.parametrize(
    ("sink", "change", "key", "text"),
    [
        (
            HDFS,
            {"hdfs.url": ""},
            "hdfs.url",
            'Missing required configuration "hdfs.url"',
        ),
        (HDFS, {"flush.size": ""}, "flush.size", 'Missing required configuration "flush.size"'),
        (HDFS, {"hive.integration": "true"}, "schema.compatibility", _NO_SCHEMAS),
        (
            HDFS,
            {"hdfs.authentication.kerberos": "true"},
            "hdfs.authentication.kerberos",
            "Invalid value true",
        ),
        (
            HDFS,
            {"format.class": "io.confluent.connect.hdfs.orc.OrcFormat"},
            "format.class",
            "Invalid value io.",
        ),
        (S3, {"s3.bucket.name": ""}, "s3.bucket.name", 'Missing required configuration "s3.bucket.name"'),
        (
            S3,
            {"s3.part.size": "1"},
            "s3.part.size",
            "Invalid value 1 for configuration s3.part.size: Value",
        ),
        (S3, {"store.url": "hdfs://namenode"}, "store.url", "Invalid value for configuration store.url"),
        (S3, {"store.kafka.keys": "true"}, "store.kafka.keys", "Invalid value true for configuration store."),
        (S3, {"s3.sse.customer.key": "k"}, "s3.sse.customer.key", "Invalid value for configuration s3.sse."),
    ],
    ids=lambda part: part if isinstance(part, str) and "." in part and " " not in part else "",
)
def test_what_is_wrong_is_told_at_its_key(sink: str, change: Mapping[str, str], key: str, text: str) -> None:
    (found,) = wrong(sink, change)
    assert found.name == key
    assert found.errors[0].startswith(text)


def test_a_secret_that_is_refused_is_not_shown() -> None:
    (found,) = wrong(S3, {"s3.sse.customer.key": "s3cret"})
    assert "s3cret" not in str(found.errors)


@pytest.mark.parametrize(
    ("sink", "key", "value"), [(HDFS, "hive.database", "sales"), (S3, "s3.wan.mode", "true")]
)
def test_keys_that_do_nothing_are_taken_and_told(
    sink: str, key: str, value: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        connector(sink).start({"name": "export", "topics": "orders", **VALID[sink], key: value})
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == ["export"]
    assert f"'{key}' has no effect" in caplog.text


def test_keys_of_nobody_are_taken() -> None:
    assert not wrong(HDFS, {"confluent.license": "none"})


def test_hadoops_own_files_tell_where_the_web_interface_is(tmp_path: Path) -> None:
    assert web_address(str(tmp_path)) is None
    (tmp_path / "hdfs-site.xml").write_text(
        "<configuration><property><name>dfs.namenode.http-address</name><value> namenode:9871 </value>"
        "</property></configuration>"
    )
    assert web_address(str(tmp_path)) == "http://namenode:9871"
    (tmp_path / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(ConfigError, match=r"hadoop\.conf\.dir: .*hdfs-site\.xml cannot be read"):
        web_address(str(tmp_path))
