"""A value with its schema: what a converter returns."""

from __future__ import annotations

from typing import NamedTuple

from copycat_connect.data.schema import Schema
from copycat_connect.data.value import ConnectValue


class SchemaAndValue(NamedTuple):
    """A value and its schema."""

    schema: Schema | None
    """The schema; None for schemaless data."""
    value: ConnectValue
    """The value."""


NULL = SchemaAndValue(None, None)
