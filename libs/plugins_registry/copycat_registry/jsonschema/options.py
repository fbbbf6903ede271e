"""JsonSchemaOptions: how schemas and values are mapped to JSON Schema."""

from __future__ import annotations

from copycat_avro.mapping_keys import (
    FLATTEN_SINGLETONS,
    IGNORE_DEFAULT,
    MAPPING,
    SUM_TYPES,
)
from copycat_connect.config import LOW, MEDIUM, STRING, one_of_ignoring_case
from copycat_connect.config.settings import Settings, key, shared_key


class JsonSchemaOptions(Settings):
    """The keys of the mapping."""

    numeric_decimals: bool = key(
        LOW,
        name="decimal.format",
        type=STRING,
        default="BASE64",
        check=one_of_ignoring_case("NUMERIC", "BASE64"),
        read=lambda form: form.upper() == "NUMERIC",
        group=MAPPING,
        doc="How decimals are written: BASE64 for their bytes, NUMERIC for a number. Both are read.",
    )
    additional_properties: bool = key(
        MEDIUM,
        name="object.additional.properties",
        default=True,
        group=MAPPING,
        doc="Let objects have properties that their schema does not name.",
    )
    optional_unless_required: bool = key(
        MEDIUM,
        name="use.optional.for.nonrequired",
        default=False,
        group=MAPPING,
        doc="Read properties that are not required as optional fields.",
    )
    flatten_singletons: bool = shared_key(FLATTEN_SINGLETONS)
    fail_invalid: bool = key(
        MEDIUM,
        name="json.fail.invalid.schema",
        default=False,
        group=MAPPING,
        doc="Check every payload against its JSON Schema, and refuse what is not valid.",
    )
    ignore_default: bool = shared_key(IGNORE_DEFAULT)
    sum_types: bool = shared_key(SUM_TYPES)
