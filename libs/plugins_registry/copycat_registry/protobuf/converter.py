"""ProtobufConverter: records of a registry's Protobuf schemas."""

from __future__ import annotations

from copycat_registry.converter import RegistryConverter
from copycat_registry.protobuf.format import ProtobufFormat
from copycat_registry.protobuf.options import ProtobufOptions


class ProtobufConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: ProtobufFormat(ProtobufOptions.parse(config)))
