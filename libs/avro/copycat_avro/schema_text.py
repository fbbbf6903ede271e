"""A schema as text, with those it refers to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema as text, with those it refers to."""

    text: str
    """The schema in its own language."""
    references: tuple[tuple[str, SchemaText], ...] = ()
    """Name to schema, for each name the text uses and does not define."""
