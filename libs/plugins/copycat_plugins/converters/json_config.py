"""JsonConverter: how it is configured."""

from __future__ import annotations

from copycat_connect.config import (
    BOOLEAN,
    HIGH,
    INT,
    LOW,
    STRING,
    ConfigDef,
    ConfigKey,
    Width,
    one_of_ignoring_case,
)
from copycat_connect.plugin.converters import CONVERTER_TYPE_KEY

SCHEMAS_ENABLE = "schemas.enable"
CACHE_SIZE = "schemas.cache.size"
SCHEMA_CONTENT = "schema.content"
DECIMAL_FORMAT = "decimal.format"
REPLACE_NULL = "replace.null.with.default"

CONFIG = ConfigDef(
    CONVERTER_TYPE_KEY,
    ConfigKey(
        SCHEMAS_ENABLE,
        BOOLEAN,
        HIGH,
        default=True,
        doc="Each message is an object with the fields schema and payload; false leaves the payload alone.",
        group="Schemas",
        order=0,
        width=Width.MEDIUM,
        display_name="Enable Schemas",
    ),
    ConfigKey(
        CACHE_SIZE,
        INT,
        HIGH,
        default=1000,
        doc="The most schemas kept ready in each direction.",
        group="Schemas",
        order=1,
        width=Width.MEDIUM,
        display_name="Schema Cache Size",
    ),
    ConfigKey(
        SCHEMA_CONTENT,
        STRING,
        HIGH,
        default=None,
        doc="A schema as JSON: what is read is then a payload of this schema, without an envelope.",
        group="Schemas",
        order=2,
        width=Width.MEDIUM,
        display_name="Schema Content",
    ),
    ConfigKey(
        DECIMAL_FORMAT,
        STRING,
        LOW,
        default="BASE64",
        validator=one_of_ignoring_case("NUMERIC", "BASE64"),
        doc="How decimals are written: BASE64 for their bytes, NUMERIC for a number. Both are read.",
        group="Serialization",
        order=0,
        width=Width.MEDIUM,
        display_name="Decimal Format",
    ),
    ConfigKey(
        REPLACE_NULL,
        BOOLEAN,
        LOW,
        default=True,
        doc="A null becomes the default of its schema when there is one; false keeps the null.",
        group="Serialization",
        order=1,
        width=Width.MEDIUM,
        display_name="Replace null with default",
    ),
)
EXAMPLES = {"Plain JSON": {SCHEMAS_ENABLE: "false"}, "Readable decimals": {DECIMAL_FORMAT: "NUMERIC"}}
