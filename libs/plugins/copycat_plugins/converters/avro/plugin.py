"""AvroConverter as a plugin; Avro's libraries are loaded where one is made, not where plugins are listed."""

from __future__ import annotations

from copycat_connect.plugin import Converter, PluginKind, PluginSpec

from copycat_plugins.converters.avro.options import CONFIG, EXAMPLES
from copycat_plugins.version import VERSION

CLASS_NAME = "io.confluent.connect.avro.AvroConverter"


def _make() -> Converter:
    from copycat_plugins.converters.avro.converter import AvroConverter  # 180 ms, see above

    return AvroConverter()


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.CONVERTER,
    version=VERSION,
    summary="Avro, with its schemas in a schema registry.",
    config=CONFIG,
    factory=_make,
    guarantees="A schema is registered or looked up once, when its first record comes.",
    examples=EXAMPLES,
)
