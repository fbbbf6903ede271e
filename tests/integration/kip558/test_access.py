"""KIP-558: who may see and reset active topics, and how they live with connectors and other versions."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.kafka import create_topic, produce, unique, wait_until

from tests.integration.emitting.bench import System, reset
from tests.integration.scenarios.rest import PATIENCE, Rest

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]

CREDENTIALS = ("operator", "word")
_WANTED = "Basic " + b64encode(":".join(CREDENTIALS).encode()).decode()


@contextmanager
def guarded(url: str, path: str) -> Iterator[str]:
    """Guard everything below a path of an interface, as operators do; gives the address to use instead."""

    class Guard(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._pass("GET")

        def do_PUT(self) -> None:
            self._pass("PUT")

        def _pass(self, method: str) -> None:
            if self.path.startswith(path) and self.headers["Authorization"] != _WANTED:
                self._answer(401, b"")
                return
            reply = httpx2.request(method, url + self.path, timeout=90)
            self._answer(reply.status_code, reply.content)

        def _answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Guard)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_k558_31_what_guards_a_connectors_status_guards_its_topics_too(on: System) -> None:
    topic = unique("k558-31")
    name = on.emitter("", topic)
    on.has_topics(name, topic)
    ways = [("GET", "status", 200), ("GET", "topics", 200), ("PUT", "topics/reset", 202)]

    with guarded(on.cluster.up.url, "/connectors") as url, httpx2.Client(base_url=url, timeout=90) as client:
        for method, what, answer in ways:
            path = f"/connectors/{name}/{what}"
            assert client.request(method, path).status_code == 401
            assert client.request(method, path, auth=CREDENTIALS).status_code == answer


def test_k558_31_topics_are_shown_nowhere_but_with_their_connector(on: System) -> None:
    paths = [path for path in on.rest.get("/openapi/openapi.json")["paths"] if "topic" in path]

    assert sorted(paths) == ["/connectors/{name}/topics", "/connectors/{name}/topics/reset"]


def test_k558_32_apache_kafka_connect_reads_our_records_and_we_read_its(on: System, tmp_path: Path) -> None:
    live, idle = unique("live"), unique("idle")
    name = on.emitter("", live, idle)
    on.has_topics(name, live, idle)
    shared = {"status.storage.topic": on.cluster.topic("status")}

    with ConnectPeer(on.cluster.bootstrap, tmp_path, group=unique("peer"), properties=shared) as peer:
        other = Rest(peer.url)
        assert set(other.get(f"/connectors/{name}/topics")[name]["topics"]) == {live, idle}
        other.ok("PUT", f"/connectors/{name}/topics/reset")
        on.has_topics(name)
        on.emit(name, live)
        on.has_topics(name, live)
        wait_until(
            lambda: other.get(f"/connectors/{name}/topics")[name]["topics"] == [live], PATIENCE, "the topic"
        )
        assert [line for line in peer.log.read_text().splitlines() if live in line and "WARN" in line] == []


def test_k558_x2_topics_are_no_metric(on: System) -> None:
    topic = unique("k558-x2")
    name = on.emitter("", topic)
    on.has_topics(name, topic)

    def told() -> str | None:
        page = httpx2.get(f"{on.cluster.up.url}/metrics", timeout=90).text
        return page if f'connector="{name}",service="executor",task="0"' in page else None

    page = wait_until(told, PATIENCE, "metrics of the connector")
    assert topic not in page
    assert not [field.name for field in pb.TaskMetrics.DESCRIPTOR.fields if "topic" in field.name]


@pytest.mark.parametrize("row", ["k558_16", "k558_17"])
def test_topics_are_shown_under_the_connectors_name(on: System, row: str) -> None:
    one, two = unique(row), unique(row)
    name = on.emitter("", one, two)
    on.has_topics(name, one, two)

    reply = on.rest.call("GET", f"/connectors/{name}/topics")

    ways = [f'{{"{name}":{{"topics":["{a}","{b}"]}}}}'.encode() for a, b in ((one, two), (two, one))]
    assert (reply.status_code, reply.content in ways) == (200, True)


def test_k558_18_a_name_never_used_has_no_topics(on: System) -> None:
    reply = on.rest.call("GET", "/connectors/never-used/topics")

    assert (reply.status_code, reply.content) == (200, b'{"never-used":{"topics":[]}}')


def test_k558_19_a_reset_is_accepted_without_a_word(on: System) -> None:
    assert reset(on.rest, "never-used") == (202, b"")


def test_k558_19_strictly_a_reset_is_ok_without_a_word(on: System) -> None:
    with on.cluster.gateway({"kip.strict": "true"}) as strict:
        assert reset(strict, "never-used") == (200, b"")


def test_k558_20_a_reset_writes_a_tombstone_for_each_topic(on: System) -> None:
    topics = [unique("k558-20") for _ in range(3)]
    name = on.emitter("", *topics)
    on.has_topics(name, *topics)

    reset(on.rest, name)

    on.has_topics(name)
    assert [on.records_of(topic, name)[-1] for topic in topics] == [None] * 3


def test_k558_21_after_a_reset_topics_in_use_come_back_and_others_do_not(on: System) -> None:
    live, idle = unique("live"), unique("idle")
    name = on.emitter("", live, idle)
    on.has_topics(name, live, idle)

    reset(on.rest, name)
    on.emit(name, live)

    on.has_topics(name, live)


def test_k558_21_a_sinks_topic_in_use_comes_back_after_a_reset(on: System) -> None:
    live, idle = create_topic(on.cluster.bootstrap), create_topic(on.cluster.bootstrap)
    for topic in (live, idle):
        produce(on.cluster.bootstrap, topic, [b"v"])
    name = on.sink(unique("sink"), topics=f"{live},{idle}")
    on.has_topics(name, live, idle)

    reset(on.rest, name)
    produce(on.cluster.bootstrap, live, [b"v"])

    on.has_topics(name, live)


def test_k558_22_a_stopped_and_a_deleted_connector_can_be_reset(on: System) -> None:
    topic = unique("k558-22")
    name = on.emitter("", topic)
    on.has_topics(name, topic)
    on.rest.ok("PUT", f"/connectors/{name}/stop")
    on.rest.wait(name, "STOPPED")
    on.has_topics(name, topic)

    assert reset(on.rest, name) == (202, b"")
    on.has_topics(name)
    on.rest.delete(name)

    assert reset(on.rest, name) == (202, b"")


def test_k558_27_a_restart_changes_nothing(on: System) -> None:
    topic = unique("k558-27")
    name = on.emitter("", topic)
    on.has_topics(name, topic)
    written = on.records_of(topic, name)

    on.rest.ok("POST", f"/connectors/{name}/restart")
    on.rest.ok("POST", f"/connectors/{name}/restart?includeTasks=true")
    on.rest.runs(name)

    assert on.topics(name) == {topic}
    assert on.records_of(topic, name) == written


def test_k558_28_another_configuration_changes_nothing_until_a_reset(on: System) -> None:
    former, present = create_topic(on.cluster.bootstrap), create_topic(on.cluster.bootstrap)
    produce(on.cluster.bootstrap, former, [b"v"])
    name = on.sink(unique("sink"), topics=former)
    on.has_topics(name, former)

    on.sink(name, topics=present)
    produce(on.cluster.bootstrap, present, [b"v"])
    on.has_topics(name, former, present)
    reset(on.rest, name)
    produce(on.cluster.bootstrap, present, [b"v"])

    on.has_topics(name, present)


def test_k558_30_what_an_interrupted_deletion_left_another_reset_removes(on: System) -> None:
    name, left = unique("deleted"), unique("left")
    value = f'{{"topic":{{"name":"{left}","connector":"{name}","task":0,"discoverTimestamp":1}}}}'
    key = f"status-topic-{left}:connector-{name}"
    produce(on.cluster.bootstrap, on.cluster.topic("status"), [value.encode()], key.encode())
    on.has_topics(name, left)

    reset(on.rest, name)

    on.has_topics(name)


def test_a_connector_deleted_while_it_writes_leaves_no_topic_behind(on: System) -> None:
    topic = unique("busy")
    name = on.emitter("", *[topic] * 1000)
    on.has_topics(name, topic)

    on.emit(name, *[topic] * 1000)
    on.rest.delete(name)

    on.has_topics(name)
