"""MaskField: puts an empty value, or a chosen one, in place of what is not to be seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation

from copycat_connect.cluster import Config
from copycat_connect.config import HIGH, LOW, non_empty
from copycat_connect.config.settings import Settings, key, shared_key
from copycat_connect.data import (
    ConnectRecord,
    ConnectValue,
    FarDate,
    FarTimestamp,
    MapColumn,
    MapColumns,
    Schema,
    SchemaType,
    Struct,
    validate_value,
)
from copycat_connect.data.java import class_text, round_to_float32
from copycat_connect.data.narrow import Float32, Int8, Int16, Int32
from copycat_connect.errors import DataError
from copycat_connect.plugin.transformations import Values

from copycat_plugins.transforms.fields import (
    REPLACE_NULL_KEY,
    are_maps,
    in_hash_order,
    read_field,
    require_map,
    require_struct,
    rows_of,
    set_slots,
    some_names,
    structs_of,
)
from copycat_plugins.transforms.sides import SidedTransformation, sided_plugins

_PURPOSE = "mask fields"
_TEXTS = frozenset({str})
_BITS = {SchemaType.INT8: 8, SchemaType.INT16: 16, SchemaType.INT32: 32}
_NARROW_BITS = {Int8: 8, Int16: 16, Int32: 32}


class MaskFieldSettings(Settings):
    """What is masked, and by what."""

    fields: tuple[str, ...] = key(HIGH, check=some_names, doc="The fields to mask.")
    replacement: str | None = key(
        LOW,
        default=None,
        check=non_empty,
        doc="Takes the place of numbers and text; by default zero, nothing, the epoch and the like.",
    )
    replace_null: bool = shared_key(REPLACE_NULL_KEY)


class MaskField(SidedTransformation):
    """Masks fields of the top level."""

    def configure(self, config: Config) -> None:
        """Use the fields and the replacement."""
        settings = MaskFieldSettings.parse(config)
        # Of several that cannot be masked Kafka Connect names the first of its hash set.
        names = settings.fields
        self._fields = dict.fromkeys(in_hash_order(names, set_slots(len(names))))
        self._replacement = settings.replacement
        self._replace_null = settings.replace_null

    def change(
        self, record: ConnectRecord, schema: Schema | None, value: ConnectValue, *, owned: bool = False
    ) -> tuple[Schema | None, ConnectValue]:
        """Return the side with its fields masked, or replaced by the given text."""
        del record
        if schema is None:
            fields = require_map(value, _PURPOSE) if owned else dict(require_map(value, _PURPOSE))
            for name in self._fields:
                fields[name] = self._mask(None, fields.get(name))
            return None, fields
        struct = require_struct(value, _PURPOSE, schema)
        result = Struct(struct.schema)
        for field in struct.schema.fields:
            item = read_field(struct, field, replace_null=self._replace_null)
            result.put(field, self._mask(field.schema, item) if field.name in self._fields else item)
        return schema, result

    def change_all(self, schema: Schema | None, values: list[ConnectValue]) -> Values | None:
        """Mask many values at once; None when they must be masked one by one."""
        if schema is not None:
            return self._change_structs(schema, values)
        if not are_maps(values):
            return None
        text, mask = self._replacement or "", self._mask
        for name in self._fields:
            for fields in values:
                item = fields.get(name)
                fields[name] = text if type(item) is str else mask(None, item)
        return None, values

    def change_columns(self, columns: MapColumns) -> dict[ConnectValue, MapColumn] | None:
        """Mask columns; a field that is not there becomes null."""
        text, mask, count = self._replacement or "", self._mask, len(columns)
        changed = dict(columns.columns)
        for name in self._fields:
            column = changed.get(name, [None] * count)
            if _TEXTS.issuperset(map(type, column)):
                changed[name] = [text] * count
            else:
                changed[name] = [text if type(item) is str else mask(None, item) for item in column]
        return changed

    def _change_structs(self, schema: Schema, values: list[ConnectValue]) -> Values | None:
        rows = rows_of(schema, values)
        if rows is None:
            return None
        for field in schema.field_list:
            if field.name not in self._fields:
                continue
            place, item_schema = field.index, field.schema
            for row in rows:
                row[place] = masked = self._mask(item_schema, row[place])
                validate_value(item_schema, masked, f'field: "{field.name}"')
        return schema, structs_of(schema, rows)

    def _mask(self, schema: Schema | None, value: ConnectValue) -> ConnectValue:
        if value is None:
            return None
        if self._replacement is not None:
            return _replace(schema, value, self._replacement)
        blank = _BLANKS.get(type(value))
        return blank() if blank is not None else _blank(value)


_BLANKS: Mapping[type, Callable[[], ConnectValue]] = {
    kind: kind for kind in (bool, int, float, str, list, dict, Decimal)
}


def _blank(value: ConnectValue) -> ConnectValue:
    match value:
        case int() | float() | str():
            blank: ConnectValue = type(value)()
        case datetime() | FarTimestamp():
            blank = datetime(1970, 1, 1, tzinfo=UTC)
        case date() | FarDate():
            blank = date(1970, 1, 1)
        case time():
            blank = time()
        case _:
            raise DataError(f"Cannot mask value of type: {class_text(value)}")
    return blank


def _replace(schema: Schema | None, value: ConnectValue, replacement: str) -> ConnectValue:
    if isinstance(value, str):
        return replacement
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise DataError(f"Cannot mask value of type {class_text(value)} with custom replacement.")
    try:
        number = Decimal(replacement)
    except InvalidOperation as error:
        article = "" if isinstance(value, Decimal) else "a "
        raise DataError(
            f"Unable to convert {replacement} (class java.lang.String) to {article}number"
        ) from error
    if isinstance(value, Decimal):
        return number
    if isinstance(value, float):
        single = type(value) is Float32 or (schema is not None and schema.type is SchemaType.FLOAT32)
        masked: ConnectValue = round_to_float32(float(number)) if single else float(number)
    else:
        narrow = _NARROW_BITS.get(type(value), 64)
        masked = _cut(int(number), narrow if schema is None else _BITS.get(schema.type, 64))
    # What had its width by itself still has.
    return masked if type(value) in (int, float) else type(value)(masked)


def _cut(number: int, bits: int) -> int:
    low = number & (1 << bits) - 1
    return low - (1 << bits) if low >> bits - 1 else low


PLUGINS = sided_plugins(
    MaskField,
    "MaskField",
    "Puts an empty or chosen value in place of fields that are not to be seen.",
    MaskFieldSettings.config_def(),
    {"Nothing": {"fields": "password"}, "Stars": {"fields": "password,token", "replacement": "***"}},
)
