"""ProtobufConverter: records of a registry's Protobuf schemas."""

from __future__ import annotations

from copycat_plugins.converters.protobuf.format import ProtobufFormat
from copycat_plugins.converters.protobuf.options import ProtobufOptions
from copycat_plugins.converters.registry.converter import RegistryConverter


class ProtobufConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: ProtobufFormat(ProtobufOptions.parse(config)))
