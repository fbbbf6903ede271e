"""What an operation takes and answers, beyond the view it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from copycat_connect.cluster import INITIAL_STATES
from copycat_connect.log_levels import LEVELS
from litestar.openapi.spec import (
    Link,
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    Reference,
    RequestBody,
    Responses,
    Schema,
)
from litestar.openapi.spec.enums import OpenAPIType

from copycat_gateway.edge.answers import JSON


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


CREATED: Final = 201
FAILED: Final = "The request failed or took too long."
UNREADABLE: Final = f"{FAILED} Also the answer to a body that cannot be read, as Kafka Connect has it."
REFUSED: Final = {
    406: "The caller takes no JSON.",
    415: "The request says of its body that it is not JSON.",
}
UNKNOWN: Final = {404: "The connector does not exist."}
INVALID: Final = "The configuration is invalid; the text lists every error."
#: What can be done with a connector that was just created.
FOLLOWING: Final = ("get_connector", "get_config", "get_status", "list_tasks", "pause", "delete_connector")


def documented(
    *,
    body: str = "",
    optional: bool = False,
    shown: Mapping[int, str] | None = None,
    empty: Mapping[int, str] | None = None,
    refused: Mapping[int, str] | None = None,
    local: bool = False,
    succeeds: bool = True,
) -> type[Operation]:
    """Return the operation class of a route.

    Args:
        body: Name of the body's schema.
        optional: There may be no body.
        shown: Further statuses with the same body as the first one.
        empty: Statuses without a body.
        refused: Statuses with an error for a body that are this operation's own.
        local: The gateway answers alone: no service can be away.
        succeeds: Something other than a refusal may come.
    """

    @dataclass
    class Documented(Operation):
        """An operation with all its answers."""

        def __post_init__(self) -> None:
            answers = _successes(self.responses or {}, shown or {}, empty or {}) if succeeds else {}
            refusals = _refusals(body, refused or {}, local=local)
            self.responses = {**{status: _error(text) for status, text in refusals.items()}, **answers}
            if body:
                media = OpenAPIMediaType(schema=named(body))
                self.request_body = RequestBody(content={JSON: media}, required=not optional)

    return Documented


def _successes(
    known: Responses, shown: Mapping[int, str], empty: Mapping[int, str]
) -> Mapping[str, OpenAPIResponse]:
    """Return the handler's own answer and those like it; what the framework says of errors is never sent."""
    own = next(iter(known))
    first = known[own]
    content = first.content if isinstance(first, OpenAPIResponse) else None
    texts = {int(own): first.description or "", **shown}
    return {
        **{str(status): _answer(status, text, content) for status, text in texts.items()},
        **{str(status): OpenAPIResponse(description=text) for status, text in empty.items()},
    }


def _refusals(body: str, refused: Mapping[int, str], *, local: bool) -> Mapping[str, str]:
    texts = {**REFUSED, 500: FAILED}
    if body:
        texts |= {413: "The body is too large.", 500: UNREADABLE}
    if not local:
        texts[503] = "A service or a worker that the request needs is away."
    return {str(status): text for status, text in {**texts, **refused}.items()}


def _answer(status: int, description: str, content: dict[str, OpenAPIMediaType] | None) -> OpenAPIResponse:
    answer = OpenAPIResponse(description=description, content=content)
    if status == CREATED:
        answer.headers = {
            "Location": OpenAPIHeader(
                schema=Schema(type=OpenAPIType.STRING), description="URL of the connector.", required=True
            )
        }
        answer.links = {
            following: Link(operation_id=following, parameters={"name": "$response.body#/name"})
            for following in FOLLOWING
        }
    return answer


def _error(description: str) -> OpenAPIResponse:
    return OpenAPIResponse(description=description, content={JSON: OpenAPIMediaType(schema=named("Error"))})
