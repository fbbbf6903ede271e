"""AvroConverter: its keys, and what the mapping needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycat_connect.config import BOOLEAN, LOW, MEDIUM, ConfigDef, ConfigKey

from copycat_plugins.converters.registry.keys import KEYS, URL
from copycat_plugins.converters.registry.mapping_keys import (
    FLATTEN_SINGLETONS,
    GROUP,
    IGNORE_DEFAULT,
    SUM_TYPES,
)

ENHANCED = "enhanced.avro.schema.support"
SCRUB = "scrub.invalid.names"
META_DATA = "connect.meta.data"
OPTIONAL_MAP_KEYS = "allow.optional.map.keys"

CONFIG = ConfigDef(
    *KEYS,
    ConfigKey(ENHANCED, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Write strings that were enums as enums, and name union members with their namespace."),
    ConfigKey(SCRUB, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Replace characters that names in Avro may not have by underscores."),
    ConfigKey(META_DATA, BOOLEAN, LOW, default=True, group=GROUP,
              doc="Keep in the Avro schema what only Connect knows: names, versions, docs, parameters, "
                  "defaults."),
    ConfigKey(OPTIONAL_MAP_KEYS, BOOLEAN, LOW, default=False, group=GROUP,
              doc="Write maps whose keys are optional strings as Avro maps."),
    FLATTEN_SINGLETONS,
    IGNORE_DEFAULT,
    SUM_TYPES,
)  # fmt: skip
EXAMPLES = {
    "A registry on this machine": {URL: "http://127.0.0.1:8081"},
    "Names as databases have them": {URL: "http://127.0.0.1:8081", SCRUB: "true", ENHANCED: "true"},
}


@dataclass(frozen=True, slots=True)
class AvroOptions:
    """How schemas and values are mapped."""

    enhanced: bool = False
    """True when enums are written as enums."""
    scrub: bool = False
    """True when invalid names are replaced."""
    meta_data: bool = True
    """True when `connect.*` properties are written and read."""
    optional_map_keys: bool = False
    """True when maps of optional string keys are Avro maps."""
    flatten_singletons: bool = True
    """True when a union of one type is read as that type."""
    ignore_default: bool = False
    """True when a null field is written as null although its schema has a default."""
    sum_types: bool = False
    """True when enums and unions carry the marks all formats share."""

    @classmethod
    def of(cls, parsed: Mapping[str, Any]) -> AvroOptions:
        """Read them out of a parsed configuration."""
        return cls(
            enhanced=parsed[ENHANCED],
            scrub=parsed[SCRUB],
            meta_data=parsed[META_DATA],
            optional_map_keys=parsed[OPTIONAL_MAP_KEYS],
            flatten_singletons=parsed[FLATTEN_SINGLETONS.name],
            ignore_default=parsed[IGNORE_DEFAULT.name],
            sum_types=parsed[SUM_TYPES.name],
        )
