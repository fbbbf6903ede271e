"""KIP-558: who may see topics, what else shows them, and other versions on the same status topic."""

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
from copycat_testkit.kafka import unique, wait_until

from tests.integration.emitting.system import System
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
