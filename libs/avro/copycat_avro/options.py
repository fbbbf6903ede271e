"""AvroOptions: how schemas and values are mapped to Avro."""

from __future__ import annotations

from copycat_connect.config import LOW, MEDIUM
from copycat_connect.config.settings import Settings, key, shared_key

from copycat_avro.mapping_keys import (
    FLATTEN_SINGLETONS,
    IGNORE_DEFAULT,
    MAPPING,
    SUM_TYPES,
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
