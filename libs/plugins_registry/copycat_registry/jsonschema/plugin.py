"""JsonSchemaConverter: its keys, and how the engine finds it; its libraries are loaded where one is made."""

from __future__ import annotations

from copycat_avro.options import (
    FLATTEN_SINGLETONS,
    IGNORE_DEFAULT,
    MAPPING,
    SUM_TYPES,
)
from copycat_connect.config import LOW, MEDIUM, STRING, one_of_ignoring_case
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_registry.settings import URL, RegistrySettings
from copycat_registry.version import VERSION

CLASS_NAME = "io.confluent.connect.json.JsonSchemaConverter"
_LOCAL = "http://127.0.0.1:8081"


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


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.CONVERTER,
    version=VERSION,
    summary="JSON, with its JSON Schemas in a schema registry.",
    config=RegistrySettings.config_def().extended(*JsonSchemaOptions.config_def().keys.values()),
    factory="copycat_registry.jsonschema.converter:JsonSchemaConverter",
    guarantees="A schema is registered or looked up once, when its first record comes.",
    examples={
        "A registry on this machine": {URL: _LOCAL},
        "Checked payloads with readable decimals": {
            URL: _LOCAL,
            "json.fail.invalid.schema": "true",
            "decimal.format": "NUMERIC",
        },
    },
)
