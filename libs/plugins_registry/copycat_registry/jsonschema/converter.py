"""JsonSchemaConverter: records of a registry's JSON Schemas.

orjson reads and writes, by plans made once for each schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from copycat_avro.schema_text import SchemaText
from copycat_connect.data import ConnectValue, Schema
from copycat_connect.errors import DataError
from copycat_json import decoding as json_decoding
from copycat_json import encoding as json_encoding
from copycat_json.node import Node
from copycat_json.reader import reads_decimals
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from copycat_registry.converter import RegistryConverter
from copycat_registry.jsonschema.from_json_schema import ConnectSchemas, Pointers, load
from copycat_registry.jsonschema.plugin import JsonSchemaOptions
from copycat_registry.jsonschema.to_json_schema import JsonSchemas
from copycat_registry.jsonschema.values import JsonSchemaReader, JsonSchemaWriter
from copycat_registry.schema_text import Decode, Encode, Written


class JsonSchemaFormat:
    """The two-way mapping between Connect's data model and JSON with a JSON Schema."""

    name = "JSON"

    def __init__(self, options: JsonSchemaOptions) -> None:
        self._options = options
        self._schemas = JsonSchemas(options)
        self._writers = JsonSchemaWriter(
            numeric_decimals=options.numeric_decimals, replace_nulls=not options.ignore_default
        )
        self._readers = JsonSchemaReader(replace_nulls=True)

    def describe(self, schema: Schema | None) -> Written:
        """Write a Connect schema down as a JSON Schema.

        Raises:
            DataError: No schema can be written down.
        """
        if schema is None:
            raise DataError(
                "JsonSchemaConverter writes values that have a schema: give the records one, or set "
                "JsonConverter with schemas.enable=false."
            )
        found = self._schemas.of(schema)
        return Written(SchemaText(json.dumps(found, separators=(",", ":"), ensure_ascii=False)), schema.name)

    def record_name(self, text: SchemaText) -> str | None:
        """Return the title of a schema; None when it has none."""
        title = load(text).get("title")
        return None if title is None else str(title)

    def null_payload(self, schema: Schema | None) -> bool:
        """Return whether null is written as a payload: with a schema that allows for it, it is."""
        return schema is not None and (schema.optional or schema.default is not None)

    def encoder(self, schema: Schema | None, target: SchemaText | None) -> Encode:
        """Return how values of a Connect schema are written; another target changes nothing in them."""
        write = self._writers.writer(schema)
        check = self._checker(target or self.describe(schema).text)

        def encode(value: ConnectValue) -> bytes:
            payload = json_encoding.write(write(value))
            if check is not None:
                check(json.loads(payload))
            return payload

        return encode

    def head_length(self, data: bytes) -> int:
        """Return 0: the payload stands right behind the schema's id."""
        del data
        return 0

    def decoder(
        self, text: SchemaText, wanted: SchemaText | None, version: int | None, head: bytes = b""
    ) -> tuple[Schema | None, Decode]:
        """Return the Connect schema of a JSON Schema, and how what it wrote is read."""
        del head
        chosen = wanted or text
        pointers = Pointers(chosen)
        schema = ConnectSchemas(self._options, pointers).of(pointers.documents[""], version=version)
        read, check, exactly = self._readers.reader(schema), self._checker(chosen), reads_decimals(schema)

        def decode(data: bytes) -> ConnectValue:
            node = json_decoding.read_for_schema(data, digits_as_written=exactly)
            if check is not None:
                check(node)
            return read(node)

        return schema, decode

    def misfit(self, schema: SchemaText, latest: SchemaText) -> str | None:
        """Return None: a payload names its properties, and json.fail.invalid.schema checks what it holds."""
        del schema, latest
        return None

    def _checker(self, text: SchemaText) -> Callable[[Node], None] | None:
        return _checker(Pointers(text)) if self._options.fail_invalid else None


class JsonSchemaConverter(RegistryConverter):
    """Writes and reads what Confluent's converter of this name does."""

    def __init__(self) -> None:
        """Nothing is connected yet."""
        super().__init__(lambda config: JsonSchemaFormat(JsonSchemaOptions.parse(config)))


def _checker(pointers: Pointers) -> Callable[[Node], None]:
    """Return what checks a parsed payload; it raises DataError for one that is not valid."""
    resources = [
        (name, Resource.from_contents(document, default_specification=DRAFT7))
        for name, document in pointers.documents.items()
        if name
    ]
    schema = pointers.documents[""]
    validator = validator_for(schema)(schema, registry=Registry().with_resources(resources))

    def check(node: Node) -> None:
        error = next(validator.iter_errors(node), None)
        if error is not None:
            # The value itself is not shown: it may be a secret.
            raise DataError(
                f"The payload is not valid at {error.json_path}, where its JSON Schema says "
                f"{error.validator}: correct the record, or set json.fail.invalid.schema=false."
            )

    return check
