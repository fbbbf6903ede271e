"""Schemas of request bodies and of errors. Routes parse bodies themselves, as Kafka Connect reads them."""

from __future__ import annotations

from typing import Final

from copycat_connect.cluster import INITIAL_STATES
from copycat_connect.log_levels import LEVELS
from litestar.openapi.spec import Reference, Schema
from litestar.openapi.spec.enums import OpenAPIType


def named(schema: str) -> Reference:
    """Return a reference to one of `SCHEMAS`."""
    return Reference(ref=f"#/components/schemas/{schema}")


EXAMPLE: Final = {
    "connector.class": "FileStreamSource",
    "tasks.max": "1",
    "file": "/tmp/in.txt",  # noqa: S108 - for readers
    "topic": "lines",
}
#: Kafka Connect takes a number or a boolean where it wants text.
_TEXT: Final = Schema(
    type=[OpenAPIType.STRING, OpenAPIType.NUMBER, OpenAPIType.BOOLEAN, OpenAPIType.NULL],
    description="Text; a number or a boolean is taken as it is written.",
)
_MAP: Final = Schema(type=OpenAPIType.OBJECT, description="The connector's own map.")
_CONFIG: Final = Schema(
    type=OpenAPIType.OBJECT,
    required=["connector.class"],
    properties={"connector.class": Schema(type=OpenAPIType.STRING, min_length=1)},
    additional_properties=_TEXT,
    description="A connector configuration, complete.",
    examples=[EXAMPLE],
)
_OFFSET: Final = Schema(
    type=OpenAPIType.OBJECT,
    required=["partition"],
    additional_properties=False,
    properties={
        "partition": _MAP,
        "offset": Schema(
            type=[OpenAPIType.OBJECT, OpenAPIType.NULL],
            description="The connector's own map; null or nothing forgets the partition.",
        ),
    },
)
#: Every schema by its name among the document's components.
SCHEMAS: Final = {
    "Config": _CONFIG,
    "ConfigPatch": Schema(
        type=OpenAPIType.OBJECT,
        additional_properties=_TEXT,
        description="Keys of a configuration; null removes one.",
        examples=[{"topic": "others"}],
    ),
    "CreateConnectorRequest": Schema(
        type=OpenAPIType.OBJECT,
        required=["name", "config"],
        additional_properties=False,
        properties={
            "name": Schema(
                type=[OpenAPIType.STRING, OpenAPIType.NUMBER, OpenAPIType.BOOLEAN],
                min_length=1,
                description="Blanks at both ends are left out.",
            ),
            "config": named("Config"),
            "initial_state": Schema(
                type=[OpenAPIType.STRING, OpenAPIType.NULL], enum=[*INITIAL_STATES, None]
            ),
        },
        examples=[{"name": "lines", "config": EXAMPLE}],
    ),
    "ChangedOffsets": Schema(
        type=OpenAPIType.OBJECT,
        required=["offsets"],
        additional_properties=False,
        properties={"offsets": Schema(type=OpenAPIType.ARRAY, min_items=1, items=_OFFSET)},
    ),
    "LoggerLevel": Schema(
        type=OpenAPIType.OBJECT,
        required=["level"],
        properties={
            "level": Schema(
                type=OpenAPIType.STRING,
                examples=["DEBUG"],
                description=f"{', '.join(LEVELS)}; in any case.",
            )
        },
        additional_properties=_TEXT,
    ),
    "Error": Schema(
        type=OpenAPIType.OBJECT,
        required=["error_code", "message"],
        properties={
            "error_code": Schema(type=OpenAPIType.INTEGER, description="The HTTP status."),
            "message": Schema(type=OpenAPIType.STRING),
        },
    ),
}
