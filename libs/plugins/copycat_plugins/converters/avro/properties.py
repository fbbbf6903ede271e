"""The properties of an Avro schema that only Connect understands, in the order Connect's users have them."""

from __future__ import annotations

from copycat_connect.data import Schema, SchemaType
from copycat_connect.data.logical import DECIMAL, decimal_scale

from copycat_plugins.converters.avro import names
from copycat_plugins.converters.avro.anything import Json
from copycat_plugins.converters.avro.logical_types import AVRO_NAMES
from copycat_plugins.converters.avro.options import AvroOptions
from copycat_plugins.converters.avro.written_defaults import default_json

_NARROW = {SchemaType.INT8: "int8", SchemaType.INT16: "int16"}


def properties(schema: Schema, options: AvroOptions) -> dict[str, Json]:
    """Return the properties of the Avro schema that stands for a Connect schema."""
    found: dict[str, Json] = {}
    parameters = schema.parameters or {}
    if schema.name == DECIMAL:
        found["scale"] = decimal_scale(schema)
        found["precision"] = int(parameters.get(names.PRECISION, names.DEFAULT_PRECISION))
    if options.meta_data:
        found |= _meta_data(schema, options)
    logical = AVRO_NAMES.get(schema.name or "")
    if logical is not None:
        found["logicalType"] = logical
    return found | {name: text for name, text in parameters.items() if name.startswith(names.AVRO_PREFIX)}


def _meta_data(schema: Schema, options: AvroOptions) -> dict[str, Json]:
    parameters = dict(schema.parameters or {})
    from_field = parameters.pop(names.FIELD_DEFAULT, None) is not None
    default = None
    if schema.default is not None and not from_field:
        default = default_json(schema, schema.default, options)
    candidates = {
        names.CONNECT_DOC: schema.doc,
        names.CONNECT_VERSION: schema.version,
        names.CONNECT_PARAMETERS: parameters or None,
        names.CONNECT_DEFAULT: default,
        names.CONNECT_NAME: schema.name,
        names.CONNECT_TYPE: _NARROW.get(schema.type),
    }
    return {name: value for name, value in candidates.items() if value is not None}
