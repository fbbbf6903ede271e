"""JsonSchemaConverter: its keys, and what the mapping needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from copycat_connect.config import (
    BOOLEAN,
    LOW,
    MEDIUM,
    STRING,
    ConfigDef,
    ConfigKey,
    one_of_ignoring_case,
)

from copycat_plugins.converters.registry.keys import KEYS, URL
from copycat_plugins.converters.registry.mapping_keys import (
    FLATTEN_SINGLETONS,
    GROUP,
    IGNORE_DEFAULT,
    SUM_TYPES,
)

DECIMAL_FORMAT = "decimal.format"
ADDITIONAL_PROPERTIES = "object.additional.properties"
OPTIONAL_UNLESS_REQUIRED = "use.optional.for.nonrequired"
FAIL_INVALID = "json.fail.invalid.schema"

CONFIG = ConfigDef(
    *KEYS,
    ConfigKey(DECIMAL_FORMAT, STRING, LOW, default="BASE64", group=GROUP,
              validator=one_of_ignoring_case("NUMERIC", "BASE64"),
              doc="How decimals are written: BASE64 for their bytes, NUMERIC for a number. Both are read."),
    ConfigKey(ADDITIONAL_PROPERTIES, BOOLEAN, MEDIUM, default=True, group=GROUP,
              doc="Let objects have properties that their schema does not name."),
    ConfigKey(OPTIONAL_UNLESS_REQUIRED, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Read properties that are not required as optional fields."),
    FLATTEN_SINGLETONS,
    ConfigKey(FAIL_INVALID, BOOLEAN, MEDIUM, default=False, group=GROUP,
              doc="Check every payload against its JSON Schema, and refuse what is not valid."),
    IGNORE_DEFAULT,
    SUM_TYPES,
)  # fmt: skip
EXAMPLES = {
    "A registry on this machine": {URL: "http://127.0.0.1:8081"},
    "Checked payloads with readable decimals": {
        URL: "http://127.0.0.1:8081",
        FAIL_INVALID: "true",
        DECIMAL_FORMAT: "NUMERIC",
    },
}


@dataclass(frozen=True, slots=True)
class JsonSchemaOptions:
    """How schemas and values are mapped."""

    numeric_decimals: bool = False
    """True when decimals are numbers."""
    additional_properties: bool = True
    """True when objects may have properties their schema does not name."""
    optional_unless_required: bool = False
    """True when properties that are not required are optional fields."""
    flatten_singletons: bool = True
    """True when a union of one type is read as that type."""
    fail_invalid: bool = False
    """True when payloads are checked against their schema."""
    ignore_default: bool = False
    """True when a null field is written as null although its schema has a default."""
    sum_types: bool = False
    """True when enums and unions carry the marks all formats share."""

    @classmethod
    def of(cls, parsed: Mapping[str, Any]) -> JsonSchemaOptions:
        """Read them out of a parsed configuration."""
        return cls(
            numeric_decimals=parsed[DECIMAL_FORMAT].upper() == "NUMERIC",
            additional_properties=parsed[ADDITIONAL_PROPERTIES],
            optional_unless_required=parsed[OPTIONAL_UNLESS_REQUIRED],
            flatten_singletons=parsed[FLATTEN_SINGLETONS.name],
            fail_invalid=parsed[FAIL_INVALID],
            ignore_default=parsed[IGNORE_DEFAULT.name],
            sum_types=parsed[SUM_TYPES.name],
        )
