"""How a registry is spoken to: credentials, retries, what refusals become. The server here only pretends."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from copycat_connect.data import STRING_SCHEMA
from copycat_connect.errors import ConfigError, DataError, RetriableError
from copycat_connect.plugin import Converter, PluginKind, load_plugins

Answer = tuple[int, object]
Serve = Callable[[Callable[[str | None], Answer]], str]


@pytest.fixture
def pretend() -> Iterator[Serve]:
    """Serve answers made from the Authorization header, on loopback."""
    running: list[ThreadingHTTPServer] = []

    def serve(answer: Callable[[str | None], Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                status, body = answer(self.headers["Authorization"])
                encoded = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(encoded)))
                self.end_headers()
                self.wfile.write(encoded)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        running.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"127.0.0.1:{server.server_address[1]}"

    yield serve
    for server in running:
        server.shutdown()
        server.server_close()


def writer(url: str, **config: str) -> Converter:
    made: Converter = load_plugins().find("Avro", (PluginKind.CONVERTER,)).make()
    made.configure({"schema.registry.url": url, "retries.wait.ms": "1", **config})
    return made


def protected(header: str | None) -> Answer:
    allowed = {f"Basic {b64encode(b'me:geheim').decode()}", "Bearer geheim"}
    return (200, {"id": 5}) if header in allowed else (401, {"error_code": 40101, "message": "Unauthorized"})


def test_credentials_come_from_the_setting_the_address_or_a_token(pretend: Serve) -> None:
    address = pretend(protected)
    for made in (
        writer(
            f"http://{address}",
            **{"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "me:geheim"},
        ),
        writer(f"http://me:geheim@{address}"),
        writer(
            f"http://{address}",
            **{"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "geheim"},
        ),
    ):
        assert made.from_connect("t", None, STRING_SCHEMA, "x") == b"\0\0\0\0\x05\x02x"


def test_refused_credentials_name_the_settings_and_not_the_secret(pretend: Serve) -> None:
    made = writer(f"http://me:wrong@{pretend(protected)}")
    with pytest.raises(ConfigError, match=r"answered 401.*basic\.auth\.user\.info") as caught:
        made.from_connect("t", None, STRING_SCHEMA, "x")
    assert "wrong" not in caught.value.message


def test_a_busy_registry_is_asked_again_before_the_task_is(pretend: Serve) -> None:
    answers: list[Answer] = [(503, {}), (200, {"id": 5})]
    made = writer(f"http://{pretend(lambda _: answers.pop(0))}")
    assert made.from_connect("t", None, STRING_SCHEMA, "x") is not None
    busy = writer(f"http://{pretend(lambda _: (503, {'error_code': 50301, 'message': 'busy'}))}")
    with pytest.raises(RetriableError, match=r"answered 503, 'busy'\. It may answer later"):
        busy.from_connect("t", None, STRING_SCHEMA, "x")


def test_one_schema_costs_one_request(pretend: Serve) -> None:
    asked: list[str | None] = []

    def count(header: str | None) -> Answer:
        asked.append(header)
        return 200, {"id": 5}

    made = writer(f"http://{pretend(count)}")
    made.from_connect_batch("t", STRING_SCHEMA, ["a", "b"])
    made.from_connect("t", None, STRING_SCHEMA, "c")
    assert len(asked) == 1


def test_an_address_of_something_else_is_told(pretend: Serve) -> None:
    refusing = writer(f"http://{pretend(lambda _: (400, {'message': 'what?'}))}")
    with pytest.raises(DataError, match=r"schema\.registry\.url is the address of a schema registry"):
        refusing.from_connect("t", None, STRING_SCHEMA, "x")
    page = writer(f"http://{pretend(lambda _: (200, '<html>'))}")
    with pytest.raises(DataError, match="is no schema registry"):
        page.from_connect("t", None, STRING_SCHEMA, "x")
