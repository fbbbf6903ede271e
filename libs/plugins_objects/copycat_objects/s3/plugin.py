"""S3Sink: its keys, and how the engine finds it; Arrow and Avro are loaded where one is made."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LONG,
    LOW,
    STRING,
    ConfigDef,
    Password,
    at_least,
    between,
    one_of,
)
from copycat_connect.config.settings import Settings, key, nested, shared_key
from copycat_connect.errors import ConfigError
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_objects.keys import (
    UNUSED_BY_ALL,
    DelimiterSettings,
    PublishedPartitioning,
    WithoutEffect,
    WritingSettings,
    format_key,
    not_offered,
)
from copycat_objects.stores import keys as stores
from copycat_objects.stores.errors import FAILURES
from copycat_objects.version import VERSION

_CLASS_NAME = "io.confluent.connect.s3.S3SinkConnector"
_TASK_CLASS_NAME = "io.confluent.connect.s3.S3SinkTask"

_SUMMARY = (
    "Writes records to objects in S3 as Avro, Parquet, JSON lines, text or bytes, with the keys and names "
    "of the published connector."
)
_GUARANTEES = (
    "At least once, and exactly once into objects as long as the records alone say where an object ends: "
    "with the default or the field partitioner and `flush.size`, or with a time partitioner, the extractor "
    "Record or RecordField and `rotate.interval.ms`, while the keys about folders and schemas stay as they "
    "are. An object appears whole, as `<topics.dir>/<topic>/<folder of the "
    "partitioner>/<topic>+<partition>+<first offset><extension>`; then the group's offset is committed. "
    "After a crash in between, the same records replace the same objects. By the clock (Wallclock, "
    "`rotate.schedule.interval.ms`) objects may end elsewhere the second time, and records be in two. "
    "Whoever alters the group's offsets has records written again. A topic that is deleted and made anew "
    "fails a running task where objects of the former one are, with what to do; after a stop meanwhile new "
    "records replace them. ObjectSinkConnector offers `delivery.guarantee=exactly_once`."
)


_NOT_STORED: Final = "not stored; put them into the value by a transformation"
_STORAGE: Final = "io.confluent.connect.s3.storage.S3Storage"
_LOGIN: Final = "com.amazonaws.auth.DefaultAWSCredentialsProviderChain"
_AWS_FINDS: Final = "without the keys of a login, AWS's usual places are looked at"

UNUSED: Final = (
    WithoutEffect("storage.class", STRING, _STORAGE, "it is S3"),
    WithoutEffect("s3.credentials.provider.class", STRING, _LOGIN, _AWS_FINDS),
    WithoutEffect("s3.retry.backoff.ms", LONG, 200, "calls are repeated after the waits of AWS's own client"),
    WithoutEffect("s3.wan.mode", BOOLEAN, False, "name an accelerated address in store.url"),
    WithoutEffect("s3.http.send.expect.continue", BOOLEAN, True, "AWS's own client decides"),
    WithoutEffect("s3.object.tagging", BOOLEAN, False, "objects get no tags; their names tell the offsets"),
    WithoutEffect("enable.conditional.writes", BOOLEAN, True, "the same records replace the same objects"),
    WithoutEffect("partitioner.max.open.files", INT, -1, "flush.size ends files"),
    WithoutEffect("s3.elastic.buffer.enable", BOOLEAN, False, "a part grows as it is filled"),
    WithoutEffect("keys.format.class", STRING, "", "keys are not stored"),
    WithoutEffect("headers.format.class", STRING, "", "headers are not stored"),
    *UNUSED_BY_ALL,
)


def _no_customer_key(name: str, value: object) -> None:
    if value is not None:
        raise ConfigError(
            f"Invalid value for configuration {name}: keys of one's own are not supported; see s3.ssea.name",
            key=name,
        )


class _S3Writing(WritingSettings):
    """Writes as the published connector does by default."""

    format: str = format_key("io.confluent.connect.s3.format.avro.AvroFormat")


class S3SinkSettings(Settings):
    """The keys of the published connector."""

    s3_bucket_name: str = key(HIGH, doc="The bucket.")
    s3_region: str = shared_key(stores.REGION_KEY)
    s3_part_size: int = shared_key(stores.PART_SIZE_KEY)
    s3_part_retries: int = shared_key(stores.PART_RETRIES_KEY)
    store_url: str | None = key(
        HIGH,
        default=None,
        doc="Address of another server that speaks S3, http://host:port; without it AWS.",
    )
    aws_access_key_id: str = shared_key(stores.ACCESS_KEY_KEY)
    aws_secret_access_key: Password = shared_key(stores.SECRET_KEY_KEY)
    s3_path_style_access_enabled: bool = shared_key(stores.PATH_STYLE_KEY)
    s3_ssea_name: str = key(LOW, default="", doc="How S3 encrypts objects: AES256, aws:kms or empty.")
    s3_sse_kms_key_id: str = key(LOW, default="", doc="Key of AWS's KMS, for aws:kms.")
    s3_acl_canned: str | None = key(LOW, default=None, doc="Canned ACL of objects, such as private.")
    s3_sse_customer_key: Password | None = key(
        LOW, default=None, check=_no_customer_key, doc="Not supported: let S3 encrypt with s3.ssea.name."
    )
    s3_compression_type: str = key(
        LOW,
        default="none",
        check=one_of("none", "gzip"),
        doc="Compression of objects of JSON lines and bytes.",
    )
    s3_compression_level: int = key(
        LOW, default=-1, check=between(-1, 9), doc="Level of that compression; -1 is zlib's own."
    )
    writing: _S3Writing = nested()
    rotate_interval_ms: int = key(
        HIGH,
        type=LONG,
        default=-1,
        check=at_least(-1),
        doc="How far apart in time, as timestamp.extractor says, the records of an object may be, in ms. "
        "With Wallclock objects are complete after as long by the clock, otherwise when a later record "
        "comes. -1 turns it off.",
    )
    rotate_file_on_partition_change: bool = key(
        LOW,
        default=True,
        doc="Whether a record of another folder ends the open objects, where rotate.interval.ms is set.",
    )
    delimiters: DelimiterSettings = nested()
    json_decimal_format: str = key(
        LOW, default="BASE64", check=one_of("BASE64", "NUMERIC"), doc="How JSON lines have decimals."
    )
    format_bytearray_extension: str = key(LOW, default=".bin", doc="End of the names of objects of bytes.")
    format_bytearray_separator: str | None = key(
        LOW, default=None, doc="Between values in objects of bytes; by default the end of a line."
    )
    partitioning: PublishedPartitioning = nested()
    store_kafka_keys: bool = shared_key(not_offered("store.kafka.keys", f"keys are {_NOT_STORED}"))
    store_kafka_headers: bool = shared_key(not_offered("store.kafka.headers", f"headers are {_NOT_STORED}"))

    @classmethod
    def config_def(cls) -> ConfigDef:
        """Return the definition, with the keys that do nothing behind the others."""
        return super().config_def().extended(*(each.key() for each in UNUSED))


_EXAMPLES = {
    "Avro, a thousand records an object": {
        "topics": "orders",
        "s3.bucket.name": "warehouse",
        "s3.region": "eu-central-1",
        "flush.size": "1000",
    },
    "Parquet by the hour of the records, on a server of one's own": {
        "topics": "orders",
        "store.url": "http://minio:9000",
        "s3.bucket.name": "warehouse",
        "aws.access.key.id": "writer",
        "aws.secret.access.key": "${env:S3_SECRET}",
        "storage.class": "io.confluent.connect.s3.storage.S3Storage",
        "format.class": "io.confluent.connect.s3.format.parquet.ParquetFormat",
        "flush.size": "1000000",
        "rotate.interval.ms": "600000",
        "partitioner.class": "io.confluent.connect.storage.partitioner.HourlyPartitioner",
        "locale": "en",
        "timezone": "UTC",
        "timestamp.extractor": "Record",
    },
}

PLUGIN = PluginSpec(
    class_name=_CLASS_NAME,
    kind=PluginKind.SINK,
    version=VERSION,
    summary=_SUMMARY,
    config=S3SinkSettings.config_def(),
    factory="copycat_objects.s3.connector:S3SinkConnector",
    task_class_name=_TASK_CLASS_NAME,
    task_factory="copycat_objects.s3.connector:new_task",
    guarantees=_GUARANTEES,
    tested_with="S3 as moto simulates it",
    examples=_EXAMPLES,
    failures=FAILURES,
)
