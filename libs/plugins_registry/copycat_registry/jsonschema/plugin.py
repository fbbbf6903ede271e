"""JsonSchemaConverter as a plugin; its libraries are loaded where one is made, not in a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_registry.jsonschema.options import JsonSchemaOptions
from copycat_registry.settings import URL, RegistrySettings
from copycat_registry.version import VERSION

CLASS_NAME = "io.confluent.connect.json.JsonSchemaConverter"
_LOCAL = "http://127.0.0.1:8081"


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
