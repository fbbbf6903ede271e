"""ProtobufConverter: its keys, and how the engine finds it; its libraries are loaded where one is made."""

from __future__ import annotations

from copycat_avro.options import MAPPING
from copycat_connect.config import LOW, MEDIUM
from copycat_connect.config.settings import Settings, key
from copycat_connect.plugin import PluginKind, PluginSpec

from copycat_registry.settings import URL, RegistrySettings
from copycat_registry.version import VERSION

CLASS_NAME = "io.confluent.connect.protobuf.ProtobufConverter"
_LOCAL = "http://127.0.0.1:8081"


class ProtobufOptions(Settings):
    """The keys of the mapping."""

    enhanced: bool = key(
        MEDIUM,
        name="enhanced.protobuf.schema.support",
        default=False,
        group=MAPPING,
        doc="Keep packages in the names of schemas that are read.",
    )
    scrub: bool = key(
        MEDIUM,
        name="scrub.invalid.names",
        default=False,
        group=MAPPING,
        doc="Replace characters that names in Protobuf may not have by underscores.",
    )
    int_for_enums: bool = key(MEDIUM, default=False, group=MAPPING, doc="Read enums as their numbers.")
    optional_for_nullables: bool = key(
        MEDIUM,
        default=False,
        group=MAPPING,
        doc="Mark optional fields with the word optional, so that null is told from zero.",
    )
    wrapper_for_nullables: bool = key(
        MEDIUM,
        default=False,
        group=MAPPING,
        doc="Write optional plain fields as wrapper messages, so that null is told from zero.",
    )
    wrapper_for_primitives: bool = key(
        MEDIUM,
        name="wrapper.for.raw.primitives",
        default=True,
        group=MAPPING,
        doc="Read a record that is a wrapper message as the plain value in it.",
    )
    index_for_unions: bool = key(
        LOW,
        name="generate.index.for.unions",
        default=True,
        group=MAPPING,
        doc="Add the number of a oneof to the name of its field.",
    )
    flatten_unions: bool = key(
        LOW, default=False, group=MAPPING, doc="Read the members of a oneof as fields beside the others."
    )
    ignore_default: bool = key(
        MEDIUM,
        name="ignore.default.for.nullables",
        default=False,
        group=MAPPING,
        doc="Leave out a field that is null, even when its schema has a default.",
    )


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
