"""AvroConverter: records of a registry's Avro schemas."""

from __future__ import annotations

from copycat_avro.options import AvroOptions

from copycat_registry.avro.format import AvroFormat
from copycat_registry.converter import RegistryConverter


class AvroConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: AvroFormat(AvroOptions.parse(config)))
