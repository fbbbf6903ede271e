"""The OpenAPI document is true: requests made from it are answered as it says, never by a fault of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
import schemathesis
from copycat_testkit.system import CopycatUp
from schemathesis.core.result import Ok
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import Interaction, ScenarioRecorder
from schemathesis.schemas import BaseSchema

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

CONFIG: Final[dict[str, Any]] = {
    "seed": 1,
    "generation": {"deterministic": True, "max-examples": 10, "database": "none"},
    "checks": {
        # no schema knows which classes, plugins and connectors there are
        "positive_data_acceptance": {"enabled": False},
        # `excused` is asked instead
        "not_a_server_error": {"enabled": False},
    },
}


BODY: Final = (
    r"POST /connectors|(PUT|PATCH) /connectors/\{name\}/config|PATCH /connectors/\{name\}/offsets"
    r"|PUT /connector-plugins/\{plugin\}/config/validate|PUT /admin/loggers/\{logger\}"
)


@dataclass(frozen=True, slots=True)
class Excuse:
    """A cause of 500 that clients of Kafka Connect know."""

    reason: str
    operations: str
    """A regular expression that the operation, `METHOD path`, matches as a whole."""
    text: str
    """A regular expression that the message begins with."""

    def covers(self, operation: str, status: int, message: str) -> bool:
        """Return whether this is the cause."""
        known = re.fullmatch(self.operations, operation) and re.match(self.text, message)
        return status == 500 and known is not None


EXCUSES: Final = (
    Excuse(
        "Kafka Connect answers 500, not 400, to a body that its JSON library cannot read as what is wanted.",
        BODY,
        r"The request has no body|The request body is (not valid JSON|not UTF-8 text|nested too deeply)"
        r"|Cannot (deserialize value|construct instance) of|Unrecognized field ",
    ),
    Excuse(
        "Kafka Connect does not unwrap its own refusal of the connector class where it validates.",
        r"PUT /connector-plugins/\{plugin\}/config/validate",
        r"org\.apache\.kafka\.connect\.runtime\.rest\.errors\.BadRequestException: "
        r"(Connector config contains no connector type|Failed to find any class that implements)",
    ),
    Excuse(
        "A connector that refuses a change of its offsets fails in Kafka Connect; so does our file source.",
        r"(PATCH|DELETE) /connectors/\{name\}/offsets",
        r"Offset objects should either be null or contain the key 'position'"
        r"|The value for the 'position' key in the offset (is expected to be|should be) "
        r"|Partition objects should contain the key 'filename'"
        r"|Offsets cannot be modified if the 'file' configuration is unspecified",
    ),
)


def excused(operation: str, status: int, message: str) -> bool:
    """Return whether an answer is one of Kafka Connect's own server errors."""
    return any(excuse.covers(operation, status, message) for excuse in EXCUSES)


def test_every_answer_is_one_that_the_document_names(system: CopycatUp) -> None:
    config = schemathesis.Config.from_dict(CONFIG)
    schema = schemathesis.openapi.from_url(f"{system.url}/openapi/openapi.json", config=config)

    tried, broken = played(schema)

    assert not broken, "\n\n".join(broken)
    assert tried == set(operations(schema))


def operations(schema: BaseSchema) -> Iterator[str]:
    """Yield the names of all that the document describes."""
    for found in schema.get_all_operations():
        assert isinstance(found, Ok), found
        yield found.ok().label


def played(schema: BaseSchema) -> tuple[set[str], list[str]]:
    """Send what can be made from the document; returns the operations tried and each promise broken."""
    tried: set[str] = set()
    broken: list[str] = []
    for event in from_schema(schema).execute():
        match event:
            case events.ScenarioFinished():
                tried |= {node.value.operation.label for node in event.recorder.cases.values()}
                broken.extend(_broken(event.recorder))
            case events.NonFatalError() | events.FatalError():
                broken.append(f"{event}")
    return tried, broken


def _broken(recorder: ScenarioRecorder) -> Iterator[str]:
    for case_id, interaction in recorder.interactions.items():
        operation = recorder.cases[case_id].value.operation.label
        if _is_fault(operation, interaction):
            yield f"{operation} failed\n{_shown(interaction)}"
        for check in recorder.checks.get(case_id, ()):
            if check.failure_info is not None:
                yield f"{operation}: {check.failure_info.failure}\n{_shown(interaction)}"


def _is_fault(operation: str, interaction: Interaction) -> bool:
    answer = interaction.response
    if answer is None:
        return True
    return answer.status_code >= 500 and not excused(
        operation, answer.status_code, json.loads(answer.content)["message"]
    )


def _shown(interaction: Interaction) -> str:
    request, answer = interaction.request, interaction.response
    said = "no answer" if answer is None else f"{answer.status_code} {answer.content[:500]!r}"
    return f"  {request.method} {request.uri} {(request.body or b'')[:500]!r}\n  {said}"
