"""AvroOptions: how schemas and values are mapped to Avro, by keys that other formats share."""

from __future__ import annotations

from typing import Final

from copycat_connect.config import BOOLEAN, LOW, MEDIUM, ConfigKey
from copycat_connect.config.settings import Settings, key, shared_key

MAPPING: Final = "Mapping"
"""The heading of the keys of a format."""
FLATTEN_SINGLETONS: Final = ConfigKey(
    "flatten.singleton.unions",
    BOOLEAN,
    LOW,
    default=True,
    group=MAPPING,
    doc="Read a union of one type as that type.",
)
IGNORE_DEFAULT: Final = ConfigKey(
    "ignore.default.for.nullables",
    BOOLEAN,
    MEDIUM,
    default=False,
    group=MAPPING,
    doc="Write a field that is null as null, even when its schema has a default.",
)
SUM_TYPES: Final = ConfigKey(
    "generalized.sum.type.support",
    BOOLEAN,
    MEDIUM,
    default=False,
    group=MAPPING,
    doc="Mark enums and unions in the way that all formats of the registry share.",
)


class AvroOptions(Settings):
    """The keys of the mapping; files of records in Avro have their defaults."""

    enhanced: bool = key(
        MEDIUM,
        name="enhanced.avro.schema.support",
        default=False,
        group=MAPPING,
        doc="Write strings that were enums as enums, and name union members with their namespace.",
    )
    scrub: bool = key(
        MEDIUM,
        name="scrub.invalid.names",
        default=False,
        group=MAPPING,
        doc="Replace characters that names in Avro may not have by underscores.",
    )
    meta_data: bool = key(
        LOW,
        name="connect.meta.data",
        default=True,
        group=MAPPING,
        doc="Keep in the Avro schema what only Connect knows: names, versions, docs, parameters, defaults.",
    )
    optional_map_keys: bool = key(
        LOW,
        name="allow.optional.map.keys",
        default=False,
        group=MAPPING,
        doc="Write maps whose keys are optional strings as Avro maps.",
    )
    flatten_singletons: bool = shared_key(FLATTEN_SINGLETONS)
    ignore_default: bool = shared_key(IGNORE_DEFAULT)
    sum_types: bool = shared_key(SUM_TYPES)
