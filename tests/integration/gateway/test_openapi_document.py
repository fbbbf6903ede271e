"""The OpenAPI document is true: requests made from it are answered as it says, never by a fault of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
import schemathesis
from copycat_testkit.system import CopycatUp
from schemathesis.core.result import Ok
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import Interaction, ScenarioRecorder
from schemathesis.schemas import BaseSchema

from tests.integration.gateway.excused import excused

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
