"""Records as structs: the named groups of an expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.data import ConnectValue, SchemaBuilder, Struct
from copycat_connect.errors import ConfigError, DataError

from copycat_plugins.connectors.log_source import spec
from copycat_plugins.connectors.log_source.field_types import FIELD_TYPES, Read


class LineFields:
    """Makes structs of records."""

    def __init__(self, parsed: Mapping[str, Any]) -> None:
        """Use the parsed configuration.

        Raises:
            ConfigError: A group that has a type is not one of the expression's.
        """
        expression = compile_user_pattern(spec.LINE_REGEX, parsed[spec.LINE_REGEX])
        names = sorted(expression.groupindex, key=expression.groupindex.__getitem__)
        types = dict(each.rpartition(":")[::2] for each in parsed[spec.FIELDS])
        for name in types:
            if name not in names:
                message = (
                    f"Invalid value {name} for configuration {spec.FIELDS}: {spec.LINE_REGEX} has no such "
                    f"group, but {', '.join(names)}"
                )
                raise ConfigError(message, key=spec.FIELDS)
        builder = SchemaBuilder.struct()
        reads: list[Read | None] = []
        for name in names:
            schema, read = FIELD_TYPES[types.get(name, "string")]
            builder = builder.field(name, schema)
            reads.append(read)
        self.schema = builder.build()
        self._match = expression.fullmatch
        self._groups = [expression.groupindex[name] for name in names]
        self._plain = self._groups == list(range(1, expression.groups + 1))
        self._reads = [(place, read) for place, read in enumerate(reads) if read is not None]
        self._names = names
        self._max_chars: int = parsed[spec.LINE_REGEX_MAX]

    def struct(self, text: str) -> Struct:
        """Return the fields of a record.

        Raises:
            DataError: It does not fit the expression, or a field not its type; the text is not repeated.
        """
        if len(text) > self._max_chars:
            message = f"it has {len(text)} characters, more than {spec.LINE_REGEX_MAX}={self._max_chars}"
            raise DataError(message)
        found = self._match(text)
        if found is None:
            message = f"it does not match {spec.LINE_REGEX}"
            raise DataError(message)
        values: list[ConnectValue] = (
            list(found.groups()) if self._plain else [found[group] for group in self._groups]
        )
        if self._reads:
            self._convert(values)
        return Struct.of_valid(self.schema, values)

    def structs(self, texts: Sequence[str]) -> tuple[list[ConnectValue], dict[int, DataError]]:
        """Return what records become, and by place what is wrong with those that become nothing."""
        values: list[ConnectValue] = []
        wrong: dict[int, DataError] = {}
        for place, text in enumerate(texts):
            try:
                values.append(self.struct(text))
            except DataError as error:
                wrong[place] = error
                values.append(text)
        return values, wrong

    def _convert(self, values: list[ConnectValue]) -> None:
        for place, read in self._reads:
            text = values[place]
            if text in (None, "", "-"):
                values[place] = None
                continue
            try:
                values[place] = read(text)
            except ValueError as error:
                message = f"its group {self._names[place]} is not of the type it has in {spec.FIELDS}"
                raise DataError(message) from error
