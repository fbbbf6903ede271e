"""Fields: from their description in JSON to the structs of a block."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

from copycat_connect.config.setting import ConfigSetting
from copycat_connect.data import ConnectValue, Schema, SchemaBuilder, Struct
from copycat_connect.errors import ConfigError

from copycat_plugins.connectors.datagen_source.kinds import KINDS, Column, Columns, FieldError, FieldKind

_STRUCT = "struct"
_KEY = "fields"


def check_fields(name: str, value: ConfigSetting) -> None:
    """Accept a description that records can be made of.

    Raises:
        ConfigError: It is malformed; the text names the field.
    """
    del name
    Fields.parse(value).block(0, 0)


class Fields:
    """The fields of a struct, in order."""

    def __init__(self, kinds: Mapping[str, FieldKind]) -> None:
        """Use the fields by name."""
        self._kinds = kinds
        builder = SchemaBuilder.struct()
        for name, kind in kinds.items():
            builder.field(name, kind.schema)
        self.schema: Schema = builder.build()

    @classmethod
    def parse(cls, text: str | None) -> Fields:
        """Read a description: a JSON list of objects with `name`, `type` and what the type needs.

        Raises:
            ConfigError: It is wrong; the text names the key, the field and what would do.
        """
        try:
            described = json.loads(text or "")
        except ValueError as error:
            raise ConfigError(
                f"Invalid value for configuration {_KEY}: it is no JSON ({error}); {_example()}", key=_KEY
            ) from error
        return cls(_kinds(described, ""))

    def columns(self, seed: int, block: int, path: str = "") -> Columns:
        """Return the values of each field for a block."""
        made: dict[str, Column] = {}
        for name, kind in self._kinds.items():
            try:
                made[name] = kind.make(seed, f"{path}{name}", block, made)
            except FieldError as error:
                raise _wrong(f"{path}{name}", str(error)) from error
            except OverflowError as error:
                raise _wrong(f"{path}{name}", "it leaves the years 1 to 9999") from error
        return made

    def block(self, seed: int, block: int, path: str = "") -> list[Struct]:
        """Return the records of a block."""
        return self.structs(self.columns(seed, block, path))

    def structs(self, columns: Columns) -> list[Struct]:
        """Return a struct for each row of the columns."""
        make, schema = Struct.of_valid, self.schema
        return [make(schema, list(row)) for row in zip(*columns.values(), strict=True)]

    def schema_of(self, name: str) -> Schema | None:
        """Return the schema of a field; None where there is no such field."""
        return self._kinds[name].schema if name in self._kinds else None


def _kinds(described: ConnectValue, path: str) -> dict[str, FieldKind]:
    if not isinstance(described, list) or not described:
        raise _wrong(path, f"the fields must be a list of at least one; {_example()}")
    found: dict[str, FieldKind] = {}
    for place, field in enumerate(described, 1):
        name = field.get("name") if isinstance(field, dict) else None
        if not isinstance(name, str) or not name:
            raise _wrong(path, f"field {place} must be an object with a name and a type; {_example()}")
        if name in found:
            raise _wrong(f"{path}{name}", "there are two fields of this name")
        more = {key: value for key, value in field.items() if key not in ("name", "type")}
        found[name] = _kind(f"{path}{name}", field.get("type"), more)
    return found


def _kind(path: str, type_name: ConnectValue, settings: dict[str, Any]) -> FieldKind:
    if type_name == _STRUCT:
        _check_settings(path, _STRUCT, settings, [_KEY], [_KEY])
        inner = Fields(_kinds(settings[_KEY], f"{path}."))
        return FieldKind(inner.schema, lambda seed, own, block, _: inner.block(seed, block, f"{own}."))
    make = KINDS.get(type_name) if isinstance(type_name, str) else None
    if make is None:
        raise _wrong(path, f"type must be one of {', '.join((*KINDS, _STRUCT))}; got {type_name!r}")
    parameters = signature(make).parameters.values()
    known = [each.name.replace("_", ".") for each in parameters]
    needed = [each.name for each in parameters if each.default is each.empty]
    _check_settings(path, type_name, settings, known, needed)
    try:
        return make(**{key.replace(".", "_"): value for key, value in settings.items()})
    except FieldError as error:
        raise _wrong(path, str(error)) from error


def _check_settings(
    path: str, type_name: str, settings: Mapping[str, Any], known: Sequence[str], needed: Sequence[str]
) -> None:
    unknown = [key for key in settings if key not in known]
    if unknown:
        takes = ", ".join(known) or "nothing more"
        raise _wrong(path, f"{type_name} takes {takes}, not {', '.join(unknown)}")
    missing = [key for key in needed if key not in settings]
    if missing:
        raise _wrong(path, f"{type_name} needs {', '.join(missing)}")


def _wrong(path: str, text: str) -> ConfigError:
    where = f" (field {path.rstrip('.')})" if path else ""
    return ConfigError(f"Invalid value for configuration {_KEY}{where}: {text}", key=_KEY)


def _example() -> str:
    return 'write for example [{"name": "id", "type": "sequence"}]'
