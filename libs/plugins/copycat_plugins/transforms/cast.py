"""Cast: changes the types of fields, or of a whole key or value, with Java's narrowing."""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal

from copycat_connect.bounded_cache import BoundedCache
from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, LIST
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigSetting
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import (
    ConnectRecord,
    ConnectValue,
    FarDate,
    FarTimestamp,
    MapColumn,
    MapColumns,
    Schema,
    SchemaBuilder,
    SchemaType,
    Struct,
    logical,
    validate_value,
)
from copycat_connect.data.java import class_text, float_text, round_to_float32, to_text
from copycat_connect.data.narrow import narrowed
from copycat_connect.errors import ConfigError, DataError
from copycat_connect.plugin.transformations import Values
from copycat_connect.values.text import date_text

from copycat_plugins.transforms.fields import (
    REPLACE_NULL_KEY,
    are_maps,
    copy_metadata,
    in_hash_order,
    paired,
    read_field,
    require_map,
    require_struct,
    rows_of,
    split_pair,
    start_like,
    structs_of,
)
from copycat_plugins.transforms.sides import Side, SidedTransformation, sided_plugins

_PURPOSE = "cast types"
_INTEGER = re.compile(r"[+-]?[0-9]+")
_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32, SchemaType.INT64: 64}
_JAVA_FLOAT = re.compile(
    r"[+-]?(NaN|Infinity|(([0-9]++\.?[0-9]*+|\.[0-9]++)([eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F.]+[pP][+-]?[0-9]+)[fFdD]?)"
)
TARGETS = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
    SchemaType.BOOLEAN,
    SchemaType.STRING,
)
DIRECT: Mapping[SchemaType, Mapping[type, Callable[[ConnectValue], ConnectValue]]] = {
    SchemaType.STRING: {str: str, int: str},
    SchemaType.FLOAT64: {int: float, float: float},
    SchemaType.BOOLEAN: {bool: bool, int: bool},
}
"""Casts that need no check, by target and class of the schemaless value."""
_TEMPORALS: dict[str, Callable[[ConnectValue], int]] = {
    logical.DATE: logical.date_to_days,
    logical.TIME: logical.time_to_millis,
    logical.TIMESTAMP: logical.timestamp_to_millis,
}


def parse_casts(mappings: Sequence[str]) -> tuple[dict[str, SchemaType], SchemaType | None]:
    """Return the types by field, and the type of the whole, of which one is empty.

    Raises:
        ConfigError: A mapping is no mapping, or a type no type.
    """
    casts: dict[str, SchemaType] = {}
    whole: SchemaType | None = None
    for mapping in mappings:
        parts = split_pair(mapping)
        if len(parts) not in (1, 2):
            raise invalid_value("renames", list(mappings), f"Invalid rename mapping: {mapping}")
        if len(parts) == 2:
            casts[parts[0].strip()] = _parse_type(parts[1])
        else:
            whole = _parse_type(parts[0])
    if whole is not None and (casts or len(mappings) > 1):
        raise ConfigError(
            "Cast transformations that specify a type to cast the entire value to may only specify a single "
            "cast in their spec"
        )
    # Of several fields that fail Kafka Connect names the first of its hash map.
    return {name: casts[name] for name in in_hash_order(casts)}, whole


def _parse_type(text: str) -> SchemaType:
    name = text.strip().upper()
    if name not in SchemaType.__members__:
        raise ConfigError(
            "Invalid value java.lang.IllegalArgumentException: No enum constant "
            f"org.apache.kafka.connect.data.Schema.Type.{name} for configuration "
            f"Invalid type found in casting spec: {text.strip()}"
        )
    if SchemaType[name] not in TARGETS:
        supported = ", ".join(map(str, TARGETS))
        raise ConfigError(
            f"Cast transformation does not support casting to {name}; supported types are [{supported}]"
        )
    return SchemaType[name]


def _check_spec(name: str, value: ConfigSetting) -> None:
    if not value:
        raise ConfigError("Must specify at least one field to cast.", key=name)
    parse_casts(value)


class CastSettings(Settings):
    """What is cast, and to which types."""

    spec: tuple[dict[str, SchemaType], SchemaType | None] = key(
        HIGH,
        type=LIST,
        check=_check_spec,
        read=parse_casts,
        doc="Pairs of a field and its new type, as in id:int64,price:string; or one type for the whole.",
    )
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


class Cast(SidedTransformation):
    """Casts fields of the top level."""

    def __init__(self, side: Side) -> None:
        super().__init__(side)
        self._schemas = BoundedCache(16, self._cast_schema)

    def configure(self, config: Config) -> None:
        """Parse `spec`: one type for the whole side, or a type for each named field."""
        settings = CastSettings.parse(config)
        self._casts, self._whole = settings.spec
        self._replace_null = settings.replace_null

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the cast side; null stays untouched."""
        del record
        if value is None:
            return schema, None
        if schema is None:
            return None, self._schemaless(value, owned=owned)
        updated = self._schemas.get(schema)
        if self._whole is not None:
            changed = cast(schema, value, self._whole)
            # A schema that keeps the name of a logical type does not say what the value is now.
            return updated, changed if updated.name is None else narrowed(changed, self._whole)
        source, result = require_struct(value, _PURPOSE, schema), Struct(updated)
        for field, target in paired(source, schema, updated):
            item = read_field(source, field, replace_null=self._replace_null)
            wanted = self._casts.get(field.name)
            result.put(target, item if wanted is None else cast(field.schema, item, wanted))
        return updated, result

    def change_all(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Cast the fields of many values at once; None when they must be cast one by one."""
        if self._whole is not None:
            return None
        if schema is not None:
            return self._change_structs(schema, values)
        if not are_maps(values):
            return None
        for name, wanted in self._casts.items():
            direct = DIRECT.get(wanted, {})
            for fields in values:
                item = fields.get(name)
                quick = direct.get(type(item))
                fields[name] = quick(item) if quick else narrowed(cast(None, item, wanted), wanted)
        return None, values

    def change_columns(self, columns: MapColumns) -> dict[ConnectValue, MapColumn] | None:
        """Cast columns; a field that is not there becomes null."""
        if self._whole is not None:
            return None
        changed = dict(columns.columns)
        for name, wanted in self._casts.items():
            column = changed.get(name, [None] * len(columns))
            kinds = set(map(type, column))
            quick = DIRECT.get(wanted, {}).get(kinds.pop()) if len(kinds) == 1 else None
            if quick is not None:
                changed[name] = list(map(quick, column))
            else:
                changed[name] = [narrowed(cast(None, item, wanted), wanted) for item in column]
        return changed

    def _change_structs(self, schema: Schema, values: list[ConnectValue]) -> Values | None:
        rows = rows_of(schema, values)
        if rows is None:
            return None
        updated = self._schemas.get(schema)
        for field in schema.field_list:
            chosen = self._casts.get(field.name)
            if chosen is not None:
                place, item_schema = field.index, field.schema
                for row in rows:
                    row[place] = cast(item_schema, row[place], chosen)
        return updated, structs_of(updated, rows)

    def _schemaless(self, value: ConnectValue, *, owned: bool) -> ConnectValue:
        if self._whole is not None:
            return narrowed(cast(None, value, self._whole), self._whole)
        fields = require_map(value, _PURPOSE) if owned else dict(require_map(value, _PURPOSE))
        for name, wanted in self._casts.items():
            fields[name] = narrowed(cast(None, fields.get(name), wanted), wanted)
        return fields

    def _cast_schema(self, schema: Schema) -> Schema:
        if self._whole is not None:
            builder = copy_metadata(schema, SchemaBuilder(self._whole))
        else:
            builder = start_like(schema)
            for field in schema.fields:
                builder.field(field.name, self._cast_field(field.name, field.schema))
        if schema.optional:
            builder.optional()
        if schema.default is not None and self._whole is not None:
            builder.default_value(cast(schema, schema.default, self._whole))
        return builder.build()

    def _cast_field(self, name: str, schema: Schema) -> Schema:
        wanted = self._casts.get(name)
        if wanted is None:
            return schema
        builder = SchemaBuilder(wanted)
        if schema.optional:
            builder.optional()
        if schema.default is not None:
            builder.default_value(cast(schema, schema.default, wanted))
        return builder.build()


def cast(schema: Schema | None, value: ConnectValue, target: SchemaType) -> ConnectValue:
    """Return a value as one of another type; null stays null.

    Raises:
        DataError: The value is not of a type that can be cast, or does not fit.
    """
    if value is None:
        return None
    _check_source(schema, value)
    if schema is not None and schema.name in _TEMPORALS and target is not SchemaType.STRING:
        validate_value(schema, value, "what is cast")
        value = _TEMPORALS[schema.name](value)
    if target is SchemaType.STRING:
        return _to_string(schema, value)
    if not isinstance(value, (bool, int, float, Decimal, str)):
        raise DataError(f"Unexpected type in Cast transformation: {class_text(value)}")
    try:
        if target is SchemaType.BOOLEAN:
            return _to_boolean(value)
        return _to_integer(value, _BITS[target]) if target in _BITS else _to_float(value, target)
    except ValueError as error:
        raise DataError(f"Value ({to_text(value)}) was out of range for requested data type") from error


def _check_source(schema: Schema | None, value: ConnectValue) -> None:
    if schema is not None:
        if schema.type in TARGETS or schema.type is SchemaType.BYTES:
            return
        found = str(schema.type)
    elif isinstance(value, (bool, int, float, str, bytes, bytearray, memoryview)):
        return
    elif isinstance(value, (list, dict)):
        found = "ARRAY" if isinstance(value, list) else "MAP"
    else:
        raise DataError(
            f"Cast transformation was passed a value of type {class_text(value)} "
            "which is not supported by Connect's data API"
        )
    supported = ", ".join([*map(str, TARGETS), "BYTES"])
    raise DataError(
        f"Cast transformation does not support casting from {found}; supported types are [{supported}]"
    )


def _wrap(number: int, bits: int) -> int:
    low = number & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


def _to_integer(value: ConnectValue, bits: int) -> int:
    if isinstance(value, str):
        if not _INTEGER.fullmatch(value) or not -(1 << bits - 1) <= int(value) < 1 << bits - 1:
            raise ValueError(value)
        return int(value)
    if isinstance(value, float):
        # Java first saturates to int or long, and only then cuts to the width.
        wide = 64 if bits == 64 else 32
        if math.isnan(value):
            return 0
        high = (1 << wide - 1) - 1
        clipped = (
            max(-high - 1, min(high, int(value)))
            if math.isfinite(value)
            else (high if value > 0 else -high - 1)
        )
        return _wrap(clipped, bits)
    return _wrap(int(value), bits)


def _to_float(value: ConnectValue, target: SchemaType) -> float:
    if isinstance(value, str):
        text = value.strip()
        if not _JAVA_FLOAT.fullmatch(text):
            raise ValueError(value)
        number = _parse_float(text)
    else:
        number = float(value)
    return round_to_float32(number) if target is SchemaType.FLOAT32 else number


def _parse_float(text: str) -> float:
    if "x" in text or "X" in text:
        return float.fromhex(text.rstrip("fFdD") if "p" in text.lower() else text)
    return float(text if text.endswith(("NaN", "Infinity")) else text.rstrip("fFdD"))


def _to_boolean(value: ConnectValue) -> bool:
    if isinstance(value, str):
        return value.lower() == "true"
    if isinstance(value, float) and not math.isfinite(value):
        return not math.isnan(value)
    return int(value) != 0


def _to_string(schema: Schema | None, value: ConnectValue) -> str:
    if isinstance(value, (datetime, date, time, FarDate, FarTimestamp)):
        return date_text(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return b64encode(value).decode()
    single = isinstance(value, float) and schema is not None and schema.type is SchemaType.FLOAT32
    return float_text(value) if single else to_text(value)


PLUGINS = sided_plugins(
    Cast,
    "Cast",
    "Changes the types of fields, or of the whole key or value.",
    CastSettings.config_def(),
    {"Numbers from text": {"spec": "id:int64,price:float64"}, "Everything to text": {"spec": "string"}},
)
