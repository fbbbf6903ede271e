"""ProtobufConverter as a plugin; its libraries are loaded where one is made, not in a listing."""

from __future__ import annotations

from copycat_connect.plugin import Converter, PluginKind, PluginSpec

from copycat_plugins.converters.protobuf.options import CONFIG, EXAMPLES
from copycat_plugins.version import VERSION

CLASS_NAME = "io.confluent.connect.protobuf.ProtobufConverter"


def _make() -> Converter:
    from copycat_plugins.converters.protobuf.converter import ProtobufConverter  # 230 ms, see above

    return ProtobufConverter()


PLUGIN = PluginSpec(
    class_name=CLASS_NAME,
    kind=PluginKind.CONVERTER,
    version=VERSION,
    summary="Protobuf, with its schemas in a schema registry.",
    config=CONFIG,
    factory=_make,
    guarantees="A schema is registered or looked up once, when its first record comes.",
    examples=EXAMPLES,
)
