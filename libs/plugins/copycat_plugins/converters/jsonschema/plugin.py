"""JsonSchemaConverter as a plugin; its libraries are loaded where one is made, not in a listing."""

from __future__ import annotations

from copycat_connect.plugin import Converter, PluginKind, PluginSpec

from copycat_plugins.converters.jsonschema.options import CONFIG, EXAMPLES
from copycat_plugins.version import VERSION

CLASS_NAME = "io.confluent.connect.json.JsonSchemaConverter"


def _make() -> Converter:
    from copycat_plugins.converters.jsonschema.converter import JsonSchemaConverter  # 230 ms, see above

    return JsonSchemaConverter()


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.CONVERTER,
    version=VERSION,
    summary="JSON, with its JSON Schemas in a schema registry.",
    config=CONFIG,
    factory=_make,
    guarantees="A schema is registered or looked up once, when its first record comes.",
    examples=EXAMPLES,
)
