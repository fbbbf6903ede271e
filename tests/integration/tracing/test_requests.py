"""One REST request, followed through every service to the task host that it starts a task in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import httpx2
import pytest
from copycat_testkit.kafka import unique, wait_until
from copycat_testkit.spans import OtlpReceiver, ReceivedSpan
from copycat_testkit.system import CopycatUp

from tests.integration.tracing.creating import create, file_source

pytestmark = [pytest.mark.timeout(1200), pytest.mark.long]

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
EXPECTED = {
    ("copycat-gateway", "PUT /connectors/{name}/config"),
    ("copycat-executor", "copycat.executor.v1.ExecutorService/ValidateConnector"),
    ("copycat-config", "copycat.config.v1.ConfigService/PutConnector"),
    ("copycat-scheduler", "assign"),
    ("copycat-executor", "start connector"),
    ("copycat-executor", "publish tasks"),
    ("copycat-config", "copycat.config.v1.ConfigService/PutTaskConfigs"),
    ("copycat-executor", "start task"),
    ("copycat-host", "assemble task"),
    ("copycat-host", "start task in its host"),
}


def by_part(spans: Sequence[ReceivedSpan]) -> dict[tuple[str, str], ReceivedSpan]:
    """Return spans by their service and name."""
    return {(each.service, each.name): each for each in spans}


def test_a_request_is_followed_through_the_services_to_the_host_of_its_task(
    system: CopycatUp, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    name = unique("followed")
    (tmp_path / "in.txt").write_text("one\n")
    caller = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
    create(system, name, file_source(tmp_path / "in.txt", name), caller)

    wait_until(lambda: by_part(receiver.spans(trace=TRACE)).keys() >= EXPECTED, 90, "a span of every part")
    spans = receiver.spans(trace=TRACE)
    first = by_part(spans)["copycat-gateway", "PUT /connectors/{name}/config"]
    assert first.parent == CALLER
    assert first.attributes["http.response.status_code"] == 201
    assert first.attributes["copycat.connector"] == name
    assert {each.parent for each in spans} <= {each.span for each in spans} | {CALLER}
    assert [each for each in spans if each.failed] == []


def test_a_request_of_a_caller_without_a_trace_begins_one_and_questions_about_health_do_not(
    system: CopycatUp, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    name = unique("fresh")
    for path in ("/health", "/metrics", "/"):
        httpx2.get(f"{system.url}{path}", timeout=90).raise_for_status()
    create(system, name, file_source(tmp_path / "in.txt", name))

    def about() -> list[ReceivedSpan]:
        return [each for each in receiver.spans(connector=name) if each.service == "copycat-host"]

    wait_until(about, 90, "a span of the task's host")
    [trace] = {each.trace for each in receiver.spans(connector=name)}

    def beginning() -> list[ReceivedSpan]:
        return [each for each in receiver.spans(trace=trace) if not each.parent]

    [first] = wait_until(beginning, 90, "the span of the request")
    assert (first.service, first.name) == ("copycat-gateway", "PUT /connectors/{name}/config")
    beginnings = {each.name for each in receiver.spans() if not each.parent}
    assert not beginnings & {"GET /health", "GET /metrics", "GET /"}


def test_no_value_of_a_configuration_is_in_a_span(
    system: CopycatUp, receiver: OtlpReceiver, tmp_path: Path
) -> None:
    name, secret = unique("secretive"), unique("hidden")
    config = {**file_source(tmp_path / "in.txt", name), "producer.override.sasl.jaas.config": secret}
    reply = httpx2.put(f"{system.url}/connectors/{name}/config?note={secret}", json=config, timeout=90)
    assert reply.status_code in {201, 400}

    wait_until(lambda: receiver.spans(connector=name), 90, "the request's span")
    texts = [text for each in receiver.spans() for text in (each.name, *map(str, each.attributes.values()))]
    assert [text for text in texts if secret in text or str(tmp_path) in text] == []
