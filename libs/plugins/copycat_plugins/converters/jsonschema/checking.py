"""Payloads checked against their JSON Schema, for `json.fail.invalid.schema`."""

from __future__ import annotations

from collections.abc import Callable

from copycat_connect.errors import DataError
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from copycat_plugins.converters.json_node import Node
from copycat_plugins.converters.jsonschema.pointers import Pointers


def checker(pointers: Pointers) -> Callable[[Node], None]:
    """Return what checks a parsed payload; it raises DataError for one that is not valid."""
    resources = [
        (name, Resource.from_contents(document, default_specification=DRAFT7))
        for name, document in pointers.documents.items()
        if name
    ]
    schema = pointers.documents[""]
    validator = validator_for(schema)(schema, registry=Registry().with_resources(resources))

    def check(node: Node) -> None:
        error = next(validator.iter_errors(node), None)
        if error is not None:
            # The value itself is not shown: it may be a secret.
            message = (
                f"The payload is not valid at {error.json_path}, where its JSON Schema says "
                f"{error.validator}: correct the record, or set json.fail.invalid.schema=false."
            )
            raise DataError(message)

    return check
