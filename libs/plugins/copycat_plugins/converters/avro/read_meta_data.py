"""The properties of an Avro schema that carry Connect's metadata, put back on the Connect schema."""

from __future__ import annotations

from dataclasses import replace

from copycat_connect.data import Schema
from copycat_connect.data.logical import DECIMAL
from copycat_connect.errors import DataError

from copycat_plugins.converters.avro import names
from copycat_plugins.converters.avro.anything import Json

_DEFAULT_NAME = f"{names.NAMESPACE}.{names.DEFAULT_NAME}"


def with_meta_data(avro: Json, schema: Schema, version: int | None, *, meta_data: bool) -> Schema:
    """Return a schema with what its Avro schema says about it.

    Args:
        avro: The Avro schema, an object.
        schema: The Connect schema so far.
        version: Version of the schema within its subject.
        meta_data: False to leave docs and parameters alone.

    Raises:
        DataError: A property is of a wrong type, or contradicts the logical type.
    """
    parameters = dict(schema.parameters or {})
    if meta_data:
        given = avro.get(names.CONNECT_PARAMETERS, {})
        if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
            message = f"Expected JSON object of strings for schema parameters but found: {given}"
            raise DataError(message)
        parameters |= given
    parameters |= {name: str(text) for name, text in avro.items() if name.startswith(names.AVRO_PREFIX)}
    return replace(
        schema,
        name=_name(avro, schema),
        version=_version(avro, schema, version),
        doc=avro.get(names.CONNECT_DOC) if meta_data else None,
        parameters=parameters or None,
    )


def _name(avro: Json, schema: Schema) -> str | None:
    given = avro.get(names.CONNECT_NAME)
    # A decimal in a fixed type has two names: the logical type's wins.
    if given is None and avro["type"] in ("record", "error", "enum", "fixed") and schema.name != DECIMAL:
        given = avro["name"]
    if given is None or given.startswith(_DEFAULT_NAME):
        return schema.name
    if schema.name not in (None, given):
        message = (
            f"Mismatched names: {schema.name} by its logical type differs from {given} in the source schema"
        )
        raise DataError(message)
    return str(given)


def _version(avro: Json, schema: Schema, version: int | None) -> int | None:
    given = avro.get(names.CONNECT_VERSION, version)
    if given is None:
        return schema.version
    if not isinstance(given, int):
        message = f"Invalid Connect version found: {given}"
        raise DataError(message)
    if schema.version not in (None, given):
        message = (
            f"Mismatched versions: {schema.version} by its logical type differs from {given} in the source "
            "schema"
        )
        raise DataError(message)
    return given
