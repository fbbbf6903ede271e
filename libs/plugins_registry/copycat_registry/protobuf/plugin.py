"""ProtobufConverter as a plugin; its libraries are loaded where one is made, not in a listing."""

from __future__ import annotations

from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_registry.protobuf.options import ProtobufOptions
from copycat_registry.settings import URL, RegistrySettings
from copycat_registry.version import VERSION

CLASS_NAME = "io.confluent.connect.protobuf.ProtobufConverter"
_LOCAL = "http://127.0.0.1:8081"


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.CONVERTER,
    version=VERSION,
    summary="Protobuf, with its schemas in a schema registry.",
    config=RegistrySettings.config_def().extended(*ProtobufOptions.config_def().keys.values()),
    factory="copycat_registry.protobuf.converter:ProtobufConverter",
    guarantees="A schema is registered or looked up once, when its first record comes.",
    examples={
        "A registry on this machine": {URL: _LOCAL},
        "Nulls told from zeros": {URL: _LOCAL, "optional.for.nullables": "true"},
    },
)
