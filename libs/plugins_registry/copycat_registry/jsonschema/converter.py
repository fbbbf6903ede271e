"""JsonSchemaConverter: records of a registry's JSON Schemas."""

from __future__ import annotations

from copycat_registry.converter import RegistryConverter
from copycat_registry.jsonschema.format import JsonSchemaFormat
from copycat_registry.jsonschema.options import JsonSchemaOptions


class JsonSchemaConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: JsonSchemaFormat(JsonSchemaOptions.parse(config)))
