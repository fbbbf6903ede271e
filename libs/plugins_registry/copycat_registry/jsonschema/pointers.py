"""Pointers: what `$ref` in a JSON Schema stands for, within it or in a schema it refers to."""

from __future__ import annotations

import json
from urllib.parse import unquote

from copycat_avro.schema_text import SchemaText
from copycat_connect.errors import DataError

from copycat_registry.jsonschema.to_json_schema import Json


def load(text: SchemaText) -> Json:
    """Parse a registered schema.

    Raises:
        DataError: It is no JSON.
    """
    try:
        return json.loads(text.text)
    except ValueError as error:
        raise DataError(f"The JSON Schema is not valid: {error}. Look at it in the registry.") from error


class Pointers:
    """Finds parts of one registered schema and of those it refers to."""

    def __init__(self, text: SchemaText) -> None:
        self._documents: dict[str, Json] = {"": load(text)}
        self._add(text)

    @property
    def documents(self) -> dict[str, Json]:
        """The schemas by the names they are referred to by; the schema itself has the empty name."""
        return self._documents

    def find(self, pointer: str) -> Json:
        """Return what a pointer stands for.

        Raises:
            DataError: There is nothing.
        """
        document, _, path = pointer.partition("#")
        found = self._documents.get(document)
        for step in filter(None, path.split("/")):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        if found is None:
            raise DataError(
                f"The JSON Schema refers to {pointer}, which is not there: register it with its references."
            )
        return found

    def _add(self, text: SchemaText) -> None:
        for name, reference in text.references:
            self._documents[name] = load(reference)
            self._add(reference)
