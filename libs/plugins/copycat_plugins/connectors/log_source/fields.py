"""Records as structs: the named groups of an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from copycat_connect.config.user_pattern import compile_user_pattern
from copycat_connect.data import (
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT8_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    ConnectValue,
    Schema,
    SchemaBuilder,
    Struct,
)
from copycat_connect.errors import ConfigError, DataError

LINE_REGEX, LINE_REGEX_TYPES, LINE_REGEX_MAX = "line.regex", "line.regex.types", "line.regex.max.chars"

Read = Callable[[str], ConnectValue]


def _whole(bits: int) -> Read:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1

    def read(text: str) -> int:
        number = int(text)
        if not low <= number <= high:
            raise ValueError(f"{number} has more than {bits} bits")
        return number

    return read


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError("it is neither true nor false")
    return text.lower() == "true"


FIELD_TYPES: Final[Mapping[str, tuple[Schema, Read | None]]] = {
    "string": (OPTIONAL_STRING_SCHEMA, None),
    "int8": (OPTIONAL_INT8_SCHEMA, _whole(8)),
    "int16": (OPTIONAL_INT16_SCHEMA, _whole(16)),
    "int32": (OPTIONAL_INT32_SCHEMA, _whole(32)),
    "int64": (OPTIONAL_INT64_SCHEMA, _whole(64)),
    "float32": (OPTIONAL_FLOAT32_SCHEMA, float),
    "float64": (OPTIONAL_FLOAT64_SCHEMA, float),
    "boolean": (OPTIONAL_BOOLEAN_SCHEMA, _boolean),
}
"""A type's schema, and what reads its texts; strings are taken as they are."""


class LineFields:
    """Makes structs of records."""

    def __init__(self, line_regex: str, pairs: Sequence[str], max_chars: int) -> None:
        """Use an expression, the types of its groups as group:type, and how long a record may be.

        Raises:
            ConfigError: A group that has a type is not one of the expression's.
        """
        expression = compile_user_pattern(LINE_REGEX, line_regex)
        names = sorted(expression.groupindex, key=expression.groupindex.__getitem__)
        types = dict(each.rpartition(":")[::2] for each in pairs)
        for name in types:
            if name not in names:
                raise ConfigError(
                    f"Invalid value {name} for configuration {LINE_REGEX_TYPES}: {LINE_REGEX} has no such "
                    f"group, but {', '.join(names)}",
                    key=LINE_REGEX_TYPES,
                )
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
        self._max_chars = max_chars

    def struct(self, text: str) -> Struct:
        """Return the fields of a record.

        Raises:
            DataError: It does not fit the expression, or a field not its type; the text is not repeated.
        """
        if len(text) > self._max_chars:
            raise DataError(f"it has {len(text)} characters, more than {LINE_REGEX_MAX}={self._max_chars}")
        found = self._match(text)
        if found is None:
            raise DataError(f"it does not match {LINE_REGEX}")
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
                raise DataError(
                    f"its group {self._names[place]} is not of the type it has in {LINE_REGEX_TYPES}"
                ) from error
