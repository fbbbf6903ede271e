"""Field paths: the way to a field inside of structs or maps (KIP-821)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from copycat_connect.config import HIGH, STRING, ConfigKey, one_of_ignoring_case
from copycat_connect.data import ConnectValue, Field, Schema, Struct
from copycat_connect.errors import ConfigError

from copycat_plugins.transforms.fields import read_field, require_map, require_struct

_PURPOSE = "nested field access"
SYNTAX_KEY = ConfigKey(
    "field.syntax.version",
    STRING,
    HIGH,
    default="V1",
    validator=one_of_ignoring_case("V1", "V2"),
    doc="V1 takes a field for one name, V2 for a path whose steps are separated by dots.",
)
# A closing backtick is followed by a dot or the end, and not escaped.
_CLOSING = re.compile(r"(?<!\\)`(?=\.|\Z)")


def says_nested(version: str) -> bool:
    """Return whether a value of `SYNTAX_KEY` wants paths."""
    return version.upper() == "V2"


def split_path(path: str, *, nested: bool) -> tuple[str, ...]:
    """Return the steps of a path.

    Args:
        path: As configured.
        nested: Dots separate steps and backticks quote them (version V2); else the path is one name.

    Raises:
        ConfigError: A backtick is not closed.
    """
    if not nested:
        return (path,)
    steps, place = [], 0
    while place <= len(path):
        if path[place : place + 1] == "`":
            closing = _CLOSING.search(path, place + 1)
            if closing is None:
                raise ConfigError(
                    f"Incomplete backtick pair in path: [{path}], consider adding a backslash before "
                    f"backtick at position {place} to escape it"
                )
            step, end = path[place + 1 : closing.start()], closing.end()
        else:
            dot = path.find(".", place)
            end = len(path) if dot < 0 else dot
            step = path[place:end]
        steps.append(step.replace("\\`", "`"))
        place = end + 1
    return tuple(steps)


def field_at(schema: Schema, steps: tuple[str, ...]) -> Field | None:
    """Return the field at the end of the path; None without one.

    Raises:
        DataError: A step leads through something that has no fields.
    """
    field: Field | None = None
    for step in steps:
        field = schema.field(step)
        if field is None:
            return None
        schema = field.schema
    return field


def value_in_struct(struct: Struct, steps: tuple[str, ...], *, replace_null: bool) -> ConnectValue:
    """Return the value at the end of the path; None when a struct on the way is null."""
    value: ConnectValue = struct
    for step in steps:
        if value is None:
            return None
        current = require_struct(value, _PURPOSE)
        field = current.schema.field(step)
        value = None if field is None else read_field(current, field, replace_null=replace_null)
    return value


def value_in_map(fields: Mapping[ConnectValue, ConnectValue], steps: tuple[str, ...]) -> ConnectValue:
    """Return the value at the end of the path; None without one."""
    value: ConnectValue = fields
    for step in steps:
        if value is None:
            return None
        value = require_map(value, _PURPOSE).get(step)
    return value
