"""The keys of the published S3 sink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LONG,
    LOW,
    MEDIUM,
    PASSWORD,
    STRING,
    ConfigKey,
    at_least,
    between,
    one_of,
)
from copycat_connect.errors import ConfigError

from copycat_plugins.connectors.objects import keys
from copycat_plugins.connectors.objects.choices import DEFAULT_PARTITIONER
from copycat_plugins.connectors.objects.published_keys import UNUSED_BY_ALL, WithoutEffect, not_offered
from copycat_plugins.connectors.stores import keys as stores

COMPRESSION: Final = "s3.compression.type"
ROTATE_ON_CHANGE: Final = "rotate.file.on.partition.change"
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


def s3_keys() -> Sequence[ConfigKey]:
    """Return the keys."""
    return (
        ConfigKey(stores.BUCKET, STRING, HIGH, doc="The bucket."),
        stores.REGION_KEY,
        stores.PART_SIZE_KEY,
        stores.PART_RETRIES_KEY,
        ConfigKey(
            stores.STORE_URL, STRING, HIGH, default=None,
            doc="Address of another server that speaks S3, http://host:port; without it AWS.",
        ),
        stores.ACCESS_KEY_KEY,
        stores.SECRET_KEY_KEY,
        stores.PATH_STYLE_KEY,
        ConfigKey(
            stores.ENCRYPTION, STRING, LOW, default="",
            doc="How S3 encrypts objects: AES256, aws:kms or empty.",
        ),
        ConfigKey(stores.KMS_KEY, STRING, LOW, default="", doc="Key of AWS's KMS, for aws:kms."),
        ConfigKey(stores.ACL, STRING, LOW, default=None, doc="Canned ACL of objects, such as private."),
        ConfigKey(
            "s3.sse.customer.key", PASSWORD, LOW, default=None, validator=_no_customer_key,
            doc="Not supported: let S3 encrypt with s3.ssea.name.",
        ),
        ConfigKey(
            COMPRESSION, STRING, LOW, default="none", validator=one_of("none", "gzip"),
            doc="Compression of objects of JSON lines and bytes.",
        ),
        ConfigKey(
            keys.COMPRESSION_LEVEL, INT, LOW, default=-1, validator=between(-1, 9),
            doc="Level of that compression; -1 is zlib's own.",
        ),
        *keys.writing_keys("io.confluent.connect.s3.format.avro.AvroFormat"),
        ConfigKey(
            keys.ROTATE_INTERVAL, LONG, HIGH, default=-1, validator=at_least(-1),
            doc="How far apart in time, as timestamp.extractor says, the records of an object may be, in ms. "
            "With Wallclock objects are complete after as long by the clock, otherwise when a later record "
            "comes. -1 turns it off.",
        ),
        ConfigKey(
            ROTATE_ON_CHANGE, BOOLEAN, LOW, default=True,
            doc="Whether a record of another folder ends the open objects, where rotate.interval.ms is set.",
        ),
        ConfigKey(keys.FILE_DELIMITER, STRING, MEDIUM, default="+", doc="Between the parts of a name."),
        ConfigKey(
            keys.FOLDER_DELIMITER, STRING, MEDIUM, default="/", validator=one_of("/"),
            doc="Between the names of folders; only /.",
        ),
        ConfigKey(
            keys.DECIMALS, STRING, LOW, default="BASE64", validator=one_of("BASE64", "NUMERIC"),
            doc="How JSON lines have decimals.",
        ),
        ConfigKey(
            keys.BYTES_EXTENSION, STRING, LOW, default=".bin",
            doc="End of the names of objects of bytes.",
        ),
        ConfigKey(
            keys.BYTES_SEPARATOR, STRING, LOW, default=None,
            doc="Between values in objects of bytes; by default the end of a line.",
        ),
        *keys.partitioner_keys(DEFAULT_PARTITIONER),
        not_offered("store.kafka.keys", f"keys are {_NOT_STORED}"),
        not_offered("store.kafka.headers", f"headers are {_NOT_STORED}"),
        *(each.key() for each in UNUSED),
    )  # fmt: skip


def _no_customer_key(name: str, value: object) -> None:
    if value is not None:
        message = (
            f"Invalid value for configuration {name}: keys of one's own are not supported; see s3.ssea.name"
        )
        raise ConfigError(message, key=name)
