"""JsonSchemaConverter: records of a registry's JSON Schemas."""

from __future__ import annotations

from copycat_plugins.converters.jsonschema.format import JsonSchemaFormat
from copycat_plugins.converters.jsonschema.options import JsonSchemaOptions
from copycat_plugins.converters.registry.converter import RegistryConverter


class JsonSchemaConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: JsonSchemaFormat(JsonSchemaOptions.parse(config)))
