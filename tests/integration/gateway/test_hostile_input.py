"""Names and bodies meant to harm, and requests made from the OpenAPI document: each is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx2
import psutil
import pytest
import schemathesis
from confluent_kafka import Producer
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.system import SERVICES, CopycatUp
from schemathesis.core.result import Ok
from schemathesis.engine import events, from_schema
from schemathesis.engine.recorder import Interaction, ScenarioRecorder
from schemathesis.schemas import BaseSchema

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

PATIENCE: Final = 60.0
MIB: Final = 1024 * 1024
LARGE: Final = 5 * MIB
#: More than a body may need on its way through, far less than all bodies together.
GROWTH: Final = 150 * MIB
VALIDATE: Final = "/connector-plugins/FileStreamSource/config/validate"
SOURCE: Final = {"connector.class": "FileStreamSource", "file": "/none", "topic": "t"}

NAMES: Final = {
    "spaces": " two  words",
    "slashes": "../a/b//c",
    "unicode": "ünïcode-名前-🐈-\u202e-e\u0301",
    "percent": "100%-%2F-%00-%s",
    "quotes": "a\"b'c`d\\e",
    "query": "a?b=c#d&e;f",
    "long": "x" * 1000,
    "placeholder": "${env:PATH}",
}
REFUSED: Final = {
    "line ends": "a\r\nSet-Cookie: b",
    "nul": "a\0b",
    "escape": "a\x1b[2J",
    "blank": " \t ",
    "too long": "é" * 1000,
}
BODIES: Final = {
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep arrays": b"[" * 1_000_000,
    "deep in a value": b'{"name":"a","config":{"k":' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "a number of a million digits": b'{"name":' + b"9" * 1_000_000 + b',"config":{"k":{}}}',
    "a huge exponent": b'{"name":1e999999999,"config":{"k":{}}}',
    "invalid UTF-8": b'{"name":"\xc3\x28","config":{}}',
    "UTF-16": '{"name":"a","config":{}}'.encode("utf-16"),
    "not JSON": b"<xml/>",
    "a name of a wrong type": b'{"name":{},"config":{}}',
    "a configuration of a wrong type": b'{"name":"a","config":"b"}',
    "a configuration that is null": b'{"name":"a","config":null}',
    "a list in a configuration": b'{"name":"a","config":{"k":[]}}',
    "null": b"null",
}


@pytest.fixture
def rest(system: CopycatUp) -> Iterator[httpx2.Client]:
    """Talk to the system; afterwards it must still be healthy and list its connectors."""
    with httpx2.Client(base_url=system.url, timeout=PATIENCE) as client:
        yield client
        assert client.get("/health").json()["status"] == "healthy"
        assert client.get("/connectors").status_code == 200


def post(rest: httpx2.Client, body: bytes, path: str = "/connectors") -> httpx2.Response:
    method = "POST" if path == "/connectors" else "PUT"
    return rest.request(method, path, content=body, headers={"content-type": "application/json"})


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_connector_with_a_strange_name_lives_like_any_other(
    rest: httpx2.Client, name: str, tmp_path: Path
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("one\n")
    topic = unique("strange")
    config = {**SOURCE, "file": str(lines), "topic": topic}
    path = f"/connectors/{quote(name.strip(), safe='')}"

    made = rest.post("/connectors", json={"name": name, "config": config})

    assert made.status_code == 201, made.text
    assert made.json()["name"] == name.strip()
    assert rest.get(f"{path}/config").json() == {**config, "name": name.strip()}
    wait_until(
        lambda: rest.get(f"{path}/topics").json()[name.strip()]["topics"] == [topic], PATIENCE, "it runs"
    )
    assert rest.delete(path).status_code == 204
    assert rest.get(path).status_code == 404


@pytest.mark.parametrize("name", REFUSED.values(), ids=REFUSED)
def test_a_name_that_cannot_be_is_refused(rest: httpx2.Client, name: str) -> None:
    by_post = rest.post("/connectors", json={"name": name, "config": SOURCE})
    by_put = rest.put(f"/connectors/{quote(name, safe='')}/config", json=SOURCE)

    assert (by_post.status_code, by_put.status_code) == (400, 400), (by_post.text, by_put.text)
    assert "set-cookie" not in by_post.headers
    assert "Invalid value" in by_put.json()["message"]


def test_what_kafka_or_a_file_system_would_refuse_is_refused_at_once(rest: httpx2.Client) -> None:
    for name in (".", ".."):
        refused = rest.post("/connectors", json={"name": name, "config": SOURCE})
        assert refused.status_code == 400
        assert "another place" in refused.json()["message"]
    for wrong in (
        {"topic": "../../x y"},
        {"topic": "x" * 250},
        {"file": "/no\0ne"},
        {"tasks.max": "9" * 5_000},
        {"errors.deadletterqueue.topic.name": "a b"},
    ):
        refused = rest.put("/connectors/wrong/config", json={**SOURCE, **wrong})
        assert refused.status_code == 400, wrong
        assert f"for configuration {next(iter(wrong))}: " in refused.json()["message"]
    assert rest.get("/connectors").json() == []


def test_a_connector_that_a_topic_names_in_a_way_nobody_could_is_deleted(
    system: CopycatUp, rest: httpx2.Client
) -> None:
    told = ("", ".", "..", "a\0b")
    properties = system.properties
    producer = Producer({**system.kafka_client(), "enable.idempotence": True})
    for name in told:
        record = json.dumps({"properties": {**SOURCE, "name": name}}).encode()
        producer.produce(properties["config.storage.topic"], key=f"connector-{name}".encode(), value=record)
    assert producer.flush(PATIENCE) == 0
    wait_until(lambda: rest.get("/connectors").json() == sorted(told), PATIENCE, "all are there")

    for name in told[:3]:
        assert rest.delete("/connectors", params={"name": name}).status_code == 204
    assert rest.delete(f"/connectors/{quote(told[3], safe='')}").status_code == 204

    assert rest.get("/connectors").json() == []


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_body_that_cannot_be_read_is_answered_as_kafka_connect_does(
    rest: httpx2.Client, body: bytes
) -> None:
    for path in ("/connectors", VALIDATE):
        reply = post(rest, body, path)

        assert reply.status_code == 500, reply.text[:500]
        assert len(reply.content) < 2000


def test_large_bodies_are_answered_and_not_kept(system: CopycatUp, rest: httpx2.Client) -> None:
    frame = len(json.dumps({**SOURCE, "k": ""}))
    body = json.dumps({**SOURCE, "k": "x" * (LARGE - frame)}).encode()
    before = memory(system)

    for _ in range(10):
        assert len(body) == LARGE
        assert post(rest, body, VALIDATE).json()["error_count"] == 1, "the name is missing"
        too_large = rest.put(
            "/connectors/large/config", content=body, headers={"content-type": "application/json"}
        )
        assert too_large.status_code == 400, too_large.text[:500]
        assert post(rest, body + b" ", VALIDATE).status_code == 413

    grown = {role: used - before[role] for role, used in memory(system).items()}
    assert max(grown.values()) < GROWTH, grown


def test_more_keys_or_entries_than_a_connector_can_have_are_refused_by_name(rest: httpx2.Client) -> None:
    keys = {f"k{number}": "" for number in range(330_000)}
    names = [f"t{number}" for number in range(20_000)]
    listed = {**SOURCE, "name": "listed", "transforms": ",".join(names)}

    assert post(rest, json.dumps({**SOURCE, **keys}).encode(), VALIDATE).status_code == 413
    refused = rest.post("/connectors", json={"name": "listed", "config": listed})

    assert refused.status_code == 400
    assert "transforms: it has 20000 entries, and at most 1000 are accepted" in refused.json()["message"]
    assert len(refused.content) < 2000


def memory(system: CopycatUp) -> dict[str, int]:
    """Return the bytes each service of the request path holds."""
    roles = ("gateway", SERVICES, "executor")
    return {role: sum(_held(process) for process in system.processes(role)) for role in roles}


def _held(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0


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
