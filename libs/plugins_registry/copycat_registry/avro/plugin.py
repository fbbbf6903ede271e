"""AvroConverter as a plugin; Avro's libraries are loaded where one is made, not where plugins are listed."""

from __future__ import annotations

from copycat_avro.options import AvroOptions
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_registry.settings import URL, RegistrySettings
from copycat_registry.version import VERSION

CLASS_NAME = "io.confluent.connect.avro.AvroConverter"
_LOCAL = "http://127.0.0.1:8081"


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.CONVERTER,
    version=VERSION,
    summary="Avro, with its schemas in a schema registry.",
    config=RegistrySettings.config_def().extended(*AvroOptions.config_def().keys.values()),
    factory="copycat_registry.avro.converter:AvroConverter",
    guarantees="A schema is registered or looked up once, when its first record comes.",
    examples={
        "A registry on this machine": {URL: _LOCAL},
        "Names as databases have them": {
            URL: _LOCAL,
            "scrub.invalid.names": "true",
            "enhanced.avro.schema.support": "true",
        },
    },
)
